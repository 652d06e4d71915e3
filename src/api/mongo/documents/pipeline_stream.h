// What an aggregate gives: a pipeline over the documents of a collection. Its leading $match stages
// are the filter of the scan, so that keys and indexes are used, and a $sort behind them is left
// out where documents come in its order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/mongo/cursors/row_stream.h"
#include "api/mongo/documents/find_stream.h"
#include "api/mongo/handler_context.h"
#include "api/mongo/pipeline/pipeline.h"
#include "value/value.h"

namespace orrery::mongo {

struct PipelineQuery {
  std::string database;
  std::string collection;  // empty: of no collection ({aggregate: 1})
  value::Value stages;     // an array
  value::Value let;
  std::shared_ptr<const Collation> collation;
  value::Value hint = {};  // as FindQuery's
  std::shared_ptr<PinnedReads> pinned = {};
};

class PipelineStream final : public RowStream, private Collections {
 public:
  static Answer<std::unique_ptr<PipelineStream>> open(const HandlerContext& context,
                                                      const PipelineQuery& query, int64_t now_ms);
  ~PipelineStream() override;

  Answer<bool> next(std::string& bson) override;
  Answer<std::optional<value::Value>> next_document();
  Answer<void> begin_batch() override;
  double end_batch(size_t bytes_returned) override;
  size_t memory() const override;
  const Pipeline& pipeline() const { return *pipeline_; }
  uint64_t documents_read() const;
  uint64_t keys_read() const;
  // Of the collection that it is over: how its documents are found, and by which filter.
  const ReadPlan& reads() const { return reads_; }
  const value::Value& filter() const { return filter_; }

 private:
  class DocumentSource;
  PipelineStream(const HandlerContext& context, const PipelineQuery& query, int64_t now_ms);
  Answer<std::unique_ptr<Source>> read(const std::string& database, const std::string& collection,
                                       const Pipeline& pipeline, Run& run) override;
  // The documents of a collection that a pipeline is over, and how many of its first stages they
  // make up for.
  struct Input {
    std::unique_ptr<Source> documents;
    size_t stages = 0;
    value::Value filter;
  };
  Answer<Input> documents_of(const std::string& database, const std::string& collection,
                             const Pipeline& pipeline, const value::Value& hint);

  const HandlerContext& context_;
  const PipelineQuery query_;
  const int64_t now_ms_;
  Run run_;
  std::unique_ptr<const Pipeline> pipeline_;
  // What is open now; sources take themselves off.
  std::vector<MatchingDocuments*> opened_;
  uint64_t closed_read_ = 0;
  uint64_t closed_keys_ = 0;
  ReadPlan reads_;
  value::Value filter_ = value::Value::make_object({});
  double closed_charge_ = 0;
  bool has_learned_ = false;  // asked which collections there are, for one that is not known here
  std::unique_ptr<Source> source_;  // before what it uses
};

}  // namespace orrery::mongo
