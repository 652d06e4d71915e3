// Pipelines from outside, as {"docs": […], "pipeline": […]} in Extended JSON: whatever parses runs
// to its end or to an error, within its steps and its memory, and what comes out is a document.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/mongo/bson/test_ejson.h"
#include "api/mongo/pipeline/pipeline.h"
#include "value/json.h"

namespace {

using namespace orrery;  // NOLINT: the names are the subject
using namespace orrery::mongo;

// Enough for every stage to do its work, and over in a moment.
constexpr uint64_t kSteps = 200'000;
constexpr uint64_t kBytes = uint64_t{32} << 20;
constexpr size_t kMaxResults = 10'000;

void require(bool condition) {
  if (!condition) std::abort();
}

class NoCollections : public Collections {
 public:
  explicit NoCollections(const std::vector<mongo::Value>& documents) : documents_(documents) {}
  Answer<std::unique_ptr<Source>> read(const std::string&, const std::string&,
                                       const Pipeline& pipeline, Run& run) override {
    return pipeline.open(make_source(documents_), run);
  }

 private:
  const std::vector<mongo::Value>& documents_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto text = value::JsonDocument::parse({reinterpret_cast<const char*>(data), size});
  if (!text) return 0;
  const mongo::Value input = from_ejson(mongo::Value::make_document(std::move(*text)));
  const auto pipeline = Pipeline::parse(input.find("pipeline"), {});
  if (!pipeline) {
    require(pipeline.error().code != 0 && !pipeline.error().message.empty());
    return 0;
  }
  std::vector<mongo::Value> documents;
  for (const mongo::Value& document : input.find("docs").elements()) {
    if (document.is_object()) documents.push_back(document);
  }
  Budget budget;
  budget.start({.bytes = kBytes, .steps = kSteps});
  Run run(budget);
  NoCollections collections(documents);
  run.collections = &collections;
  auto source = pipeline->open(make_source(documents), run);
  if (!source) return 0;
  for (size_t count = 0; count < kMaxResults; ++count) {
    const auto document = (*source)->next(run);
    if (!document) {
      require(!document.error().message.empty());
      return 0;
    }
    if (!*document) return 0;
    require((*document)->is_object());
  }
  return 0;
}
