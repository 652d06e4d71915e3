// A change stream: the events of a ChangeReader as documents, through the pipeline behind
// $changeStream. Its cursor stays open when there is nothing new, until what it watches is dropped.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/mongo/changes/change_reader.h"
#include "api/mongo/cursors/row_stream.h"
#include "api/mongo/documents/pipeline_stream.h"
#include "api/mongo/handler_context.h"
#include "api/mongo/pipeline/pipeline.h"
#include "value/value.h"

namespace orrery::mongo {

// What $changeStream says.
struct ChangeStreamOptions {
  enum class Image : uint8_t { none, lookup, when_available, required };
  Image after = Image::none;   // fullDocument
  Image before = Image::none;  // fullDocumentBeforeChange
  WatchStart start;
  bool is_of_everything = false;  // allChangesForCluster
};
Answer<ChangeStreamOptions> parse_change_stream(const value::Value& spec);

class ChangeStream final : public RowStream {
 public:
  // Null: the pipeline is none of a change stream.
  static Answer<std::unique_ptr<ChangeStream>> open(const HandlerContext& context,
                                                    const PipelineQuery& query, int64_t now_ms);
  ~ChangeStream() override;

  Answer<bool> next(std::string& bson) override;
  double end_batch(size_t /*bytes_returned*/) override { return reader_.take_charge(); }
  bool stays_open() const override { return !is_over_; }
  std::optional<value::Value> resume_token() const override;

 private:
  class Events;
  ChangeStream(const HandlerContext& context, const PipelineQuery& query, WatchScope scope,
               const ChangeStreamOptions& options);
  Answer<std::optional<value::Value>> next_event();
  Answer<value::Value> document_of(const ChangeEvent& change);
  Answer<value::Value> image_now(const ChangeEvent& change) const;

  const HandlerContext& context_;
  const WatchScope scope_;
  const ChangeStreamOptions options_;
  Run run_;
  std::unique_ptr<const Pipeline> pipeline_;
  ChangeReader reader_;
  bool is_dropped_ = false;  // an invalidation is to follow
  bool is_over_ = false;
  value::Value last_token_;  // of the event that is in the pipeline
  std::unique_ptr<Source> source_;
};

}  // namespace orrery::mongo
