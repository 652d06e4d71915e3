// A change of the one document that a filter names by its _id: an update, a replacement or a
// removal, done by the partition's writer. It reads the document, asks the filter, and writes what
// the update makes of it, all between the writes of others. So nothing is lost, nobody has to try
// twice, and changes that come together share a commit.
//
// The writer has others waiting. What may take long (a large document, an expression, a regular
// expression) is left to modify.h, and so is what inserts.
//
// Threading: made on one thread, used by the writer's, and then by the one that has its reply.
#pragma once

#include <expected>
#include <memory>
#include <optional>

#include "api/mongo/call.h"
#include "api/mongo/documents/modify.h"
#include "api/mongo/handler_context.h"
#include "api/mongo/match/match.h"
#include "api/mongo/update/update.h"
#include "cluster/routing.h"
#include "partition/partition.h"

namespace orrery::mongo {

class PointChange final : public partition::Editor {
 public:
  // Null: it is not of one document by its _id, may take long, or is malformed, which modify()
  // tells.
  static std::shared_ptr<const PointChange> plan(cluster::RoutingPtr routing,
                                                 const Modification& modification, int64_t now_ms);
  // The write that does it. It keeps `change`.
  static partition::Write write_of(const std::shared_ptr<const PointChange>& change);

  // What came of it, and nothing if modify() has to do it.
  std::optional<std::expected<Modified, WriteFailure>> outcome(
      const cluster::WriteReply& reply) const;

  Result<Edited> edit(const partition::Item& current) const override;

 private:
  enum class Refusal : uint8_t { none, no_match, unchanged, takes_long, invalid };

  PointChange(cluster::RoutingPtr routing, partition::ItemKey key, const Modification& modification,
              Matcher matcher, std::optional<Update> update, int64_t now_ms)
      : routing_(std::move(routing)),
        key_(std::move(key)),
        matcher_(std::move(matcher)),
        update_(std::move(update)),
        upserts_(modification.upserts),
        note_(modification.note),
        now_ms_(now_ms) {}
  std::unexpected<orrery::Error> refuse_edit(Refusal why) const;
  std::unexpected<orrery::Error> refuse_edit(Error error, const Budget& budget) const;

  const cluster::RoutingPtr routing_;
  const partition::ItemKey key_;
  const Matcher matcher_;
  const std::optional<Update> update_;  // nothing: the document is removed
  const bool upserts_;
  const std::function<NotePtr(const Modified&)> note_;
  const int64_t now_ms_;
  // Of the newest edit.
  mutable Refusal refusal_ = Refusal::none;
  mutable Error error_;  // of Refusal::invalid
  mutable Modified modified_;
};

}  // namespace orrery::mongo
