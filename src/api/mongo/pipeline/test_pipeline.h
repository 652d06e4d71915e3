// For tests: collections in memory, and pipelines over them in Extended JSON.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/test_ejson.h"
#include "api/mongo/pipeline/pipeline.h"

namespace orrery::mongo {

class TestCollections : public Collections {
 public:
  explicit TestCollections(const std::map<std::string, std::string>& collections) {
    for (const auto& [name, text] : collections) {
      const Value all = from_ejson(text);
      for (const Value& document : all.elements()) {
        documents_[name].push_back(document);
      }
    }
  }

  size_t memory_limit = kStageMemory;

  Answer<std::unique_ptr<Source>> read(const std::string&, const std::string& collection,
                                       const Pipeline& pipeline, Run& run) override {
    return pipeline.open(make_source(documents_[collection]), run);
  }

  // What comes out, a line each; or "error N".
  std::vector<std::string> run(const std::string& collection, std::string_view stages) {
    Budget budget;
    Run run(budget);
    run.collections = this;
    run.memory_limit = memory_limit;
    const auto error = [](const Error& one) {
      return std::vector<std::string>{"error " + std::to_string(one.code)};
    };
    const auto pipeline = Pipeline::parse(from_ejson(stages), {});
    if (!pipeline) return error(pipeline.error());
    auto source = pipeline->open(make_source(documents_[collection]), run);
    if (!source) return error(source.error());
    std::vector<std::string> lines;
    for (;;) {
      const auto document = (*source)->next(run);
      if (!document) return error(document.error());
      if (!*document) return lines;
      lines.push_back(to_ejson(**document));
    }
  }

 private:
  std::map<std::string, std::vector<Value>> documents_;
};

}  // namespace orrery::mongo
