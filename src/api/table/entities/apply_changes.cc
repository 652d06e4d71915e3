// See apply_changes.h.
#include "api/table/entities/apply_changes.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/table/query/key_ranges.h"
#include "base/await.h"

namespace orrery::table {
namespace {

// How often an insert-or-merge looks again after the entity came or went in between.
constexpr int kTriesMax = 10;

struct Attempt {
  const HandlerContext& context;
  CallPtr call;
  cluster::RoutingPtr routing;
  std::vector<EntityChange> changes;
  AppliedAnswer answer;
  int tries = 0;

  void finish(Applied applied) {
    applied.changes = std::move(changes);
    auto give = std::move(answer);
    give(std::move(call), std::move(applied));
  }
  void refuse_at(size_t index, TableError error) {
    Applied refused;
    refused.error = std::move(error);
    refused.failed = index;
    finish(std::move(refused));
  }
};
using AttemptPtr = std::unique_ptr<Attempt>;

enum class Wait : uint8_t { no, yes };

void run(AttemptPtr attempt, Wait wait);

void run_later(AttemptPtr attempt) {
  const HandlerContext& context = attempt->context;
  const uint32_t share = attempt->routing->container->number;
  CallPtr call = std::move(attempt->call);
  later(context, std::move(call), face::Lane::reads, share,
        [attempt = std::move(attempt)](CallPtr running) mutable {
          attempt->call = std::move(running);
          run(std::move(attempt), Wait::yes);
        });
}

void take_reply(AttemptPtr attempt, cluster::WriteReply reply) {
  Applied applied;
  applied.receipt = reply.receipt;
  if (!reply.error) {
    applied.written = std::move(reply.written);
    return attempt->finish(std::move(applied));
  }
  const size_t index = reply.failed_write.value_or(0);
  const EntityChange& failed = attempt->changes[index];
  if (lost_race(failed, *reply.error) && ++attempt->tries < kTriesMax) {
    return run_later(std::move(attempt));
  }
  if (reply.failed_write || attempt->changes.size() == 1) {
    applied.error = change_error(failed, *reply.error, *attempt->call);
    applied.failed = index;
  } else {
    applied.error = attempt->call->engine_error(*reply.error);
  }
  attempt->finish(std::move(applied));
}

void run(AttemptPtr attempt, Wait wait) {
  const cluster::Routing& routing = *attempt->routing;
  cluster::Engine& engine = attempt->context.engine;
  // Writes that depend on what is read before may be made again: when it is not in memory, and when
  // it was changed meanwhile.
  const bool made_once = std::ranges::none_of(attempt->changes, &EntityChange::needs_current);
  std::vector<partition::Write> writes;
  writes.reserve(attempt->changes.size());
  for (size_t i = 0; i < attempt->changes.size(); ++i) {
    EntityChange& change = attempt->changes[i];
    std::optional<partition::Item> current;
    if (change.needs_current()) {
      std::string placement = place_partition(routing.container->spec.key, change.partition_key);
      auto read = engine.read_in_memory(routing, placement, change.row_key, {}, 1);
      if (!read) {
        if (wait == Wait::no) return run_later(std::move(attempt));
        auto waited = await<Result<cluster::ReadReply>>([&](auto done) {
          engine.read(attempt->routing, placement, change.row_key, {}, std::move(done));
        });
        read = waited ? std::move(*waited)
                      : Result<cluster::ReadReply>(std::unexpected(waited.error()));
      }
      if (!*read) {
        return attempt->refuse_at(i, attempt->call->engine_error(read->error()));
      }
      current = std::move((*read)->item);
    }
    auto write = make_write(change, made_once ? std::move(change.stored) : change.stored, routing,
                            attempt->context.timestamps, current ? &*current : nullptr);
    if (!write) return attempt->refuse_at(i, write.error());
    writes.push_back(std::move(*write));
  }
  cluster::RoutingPtr kept = attempt->routing;
  engine.write(std::move(kept), std::move(writes),
               [attempt = std::move(attempt)](cluster::WriteReply reply) mutable {
                 take_reply(std::move(attempt), std::move(reply));
               });
}

}  // namespace

void apply_changes(const HandlerContext& context, CallPtr call, cluster::RoutingPtr routing,
                   std::vector<EntityChange> changes, AppliedAnswer answer) {
  run(AttemptPtr(new Attempt{context, std::move(call), std::move(routing), std::move(changes),
                             std::move(answer)}),
      Wait::no);
}

}  // namespace orrery::table
