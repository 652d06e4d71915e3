// Writes of documents: what is stored of one, in which transactions, and what a refusal is called.
//
// Threading: what blocks says so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/bson_writer.h"
#include "api/mongo/bson/error.h"
#include "api/mongo/handler_context.h"
#include "cluster/engine.h"
#include "partition/partition.h"
#include "value/document.h"
#include "value/value.h"

namespace orrery::mongo {

class Call;
class RetryableWrite;
struct IndexSpec;

// A document that is ready to be stored: its _id is there and first.
struct NewDocument {
  std::string bytes;
  value::Value document;
  value::Value id;  // of it
  partition::ItemKey key;
};
// Errors: 2 or 53 for its _id, 61 for its shard key, 10334 when it is too large. Of the first, the
// document and its id are views of `bytes`; of the second, they own what they are of.
Answer<NewDocument> prepare(const cluster::Routing& routing, std::string_view bytes,
                            int64_t now_ms);
Answer<NewDocument> prepare(const cluster::Routing& routing, const value::Value& document,
                            int64_t now_ms);

// What an update has made of the document that is there, which keeps its _id. 66 when it would be
// another document.
Answer<NewDocument> prepare_next(const cluster::Routing& routing, const partition::ItemKey& key,
                                 const value::Value& before, const value::Value& after);

// How long a document lives: from the date that the expiring index is of, or the earliest of
// several. Without one: for ever.
partition::Lifetime lifetime_of(const cluster::Routing& routing, std::string_view body);
partition::Write make_write(partition::Verb verb, const cluster::RoutingPtr& routing,
                            partition::ItemKey key, std::string body = {});
// The index terms of its document, made before a writer has to.
void prepare_terms(partition::Write& write, const cluster::Routing& routing);

// What went wrong with one write of a command.
struct WriteFailure {
  size_t index = 0;  // of the write in its command
  Error error;
  value::Value key_pattern = {};  // of a duplicate
  value::Value key_value = {};
};
// That the document has the same values as another, which is there.
WriteFailure duplicate_of(const cluster::Routing& routing, const IndexSpec& index,
                          const value::Value& document);
// What the engine's refusal of a document is called.
WriteFailure failure_of(const cluster::Routing& routing, const value::Value& document,
                        const orrery::Error& error);
// Fails a retryable write as a whole when it may be sent again because of one of its failures: what
// is done already is not done twice. Likewise a statement, when its transaction has to be run again
// or cannot have such a write.
Answer<void> ask_to_retry(const Call& call, const std::vector<WriteFailure>& failures);
void append_failures(BsonWriter& answer, const std::vector<WriteFailure>& failures);

// One write. Waits for throughput. Blocks.
cluster::WriteReply write_one(const HandlerContext& context, const cluster::RoutingPtr& routing,
                              const partition::Write& write);

// Writes in transactions of some hundred that have one placement key. Each write is done or not by
// itself, as if it were alone: when one is refused, those before it are done without it. Blocks.
class WriteBatch {
 public:
  struct Outcome {
    size_t done = 0;
    double charge = 0;
    // The number of each write that was refused, in the order of add().
    std::vector<std::pair<size_t, orrery::Error>> refused;
    bool is_stopped = false;  // at the first that was refused
  };
  // Makes a write again, by its statement. It was made before, so it can be.
  using Remake = std::function<partition::Write(size_t statement)>;
  // `stops`: nothing is done after a write that was refused. `retry`: the writes are inserts of it.
  // `remake`: writes are given away, and made again if they have to be; null: copies are.
  WriteBatch(const HandlerContext& context, cluster::RoutingPtr routing, bool stops,
             const RetryableWrite* retry = nullptr, Remake remake = nullptr)
      : context_(context),
        routing_(std::move(routing)),
        stops_(stops),
        retry_(retry),
        remake_(std::move(remake)) {}

  // `statement`: the number of the write in its command, for `retry` and `remake`.
  void add(partition::Write write, size_t statement = 0);
  // Writes what is left.
  Outcome& finish();
  const Outcome& outcome() const { return outcome_; }
  bool is_stopped() const { return outcome_.is_stopped; }

 private:
  void flush();
  // Those in [from, to) of `pending`, of which the statements are these.
  std::vector<partition::Write> take(std::vector<partition::Write>& pending,
                                     const std::vector<size_t>& statements, size_t from,
                                     size_t to) const;

  const HandlerContext& context_;
  const cluster::RoutingPtr routing_;
  const bool stops_;
  const RetryableWrite* const retry_;
  const Remake remake_;
  std::vector<partition::Write> pending_;
  std::vector<size_t> statements_;  // of the pending ones
  size_t first_ = 0;                // the number of the first that is pending
  size_t bytes_ = 0;
  int64_t wait_left_ms_ = 3'000;
  Outcome outcome_;
};

}  // namespace orrery::mongo
