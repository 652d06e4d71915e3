// See view_server.h.
#include "cluster/query/view_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <utility>
#include <vector>

#include "cluster/query/engine_space.h"

namespace orrery::cluster {
namespace {

// Of what one answer has; a message has room for a few times that.
constexpr size_t kBlockBytesMax = 4U << 20;
constexpr uint64_t kServedBlockMax = 4096;

uint64_t random_number() {
  std::random_device source;
  return std::uniform_int_distribution<uint64_t>(1, UINT64_MAX / 2)(source);
}

Result<EntriesRead> read_entries(query::ItemView& view, const ReadEntries& question) {
  query::ItemView::Place after;
  if (question.after) after = {question.after->first, question.after->second};
  auto cursor = view.entries({question.from, question.to}, question.descending,
                             question.after ? &after : nullptr);
  if (!cursor) return pass(cursor.error());
  EntriesRead read;
  const uint64_t most = std::clamp<uint64_t>(question.most, 1, kServedBlockMax);
  size_t bytes = 0;
  auto moved = question.seek ? (*cursor)->seek(*question.seek) : (*cursor)->next();
  for (;; moved = (*cursor)->next()) {
    if (!moved) return pass(moved.error());
    if (!*moved) return read;
    if (read.entries.size() >= most || bytes > kBlockBytesMax) break;
    bytes += (*cursor)->term().size() + (*cursor)->key().size();
    read.entries.emplace_back((*cursor)->term(), (*cursor)->key());
  }
  read.more = true;
  return read;
}

Result<ItemsRead> read_block(query::ItemCursor& cursor, uint64_t asked) {
  ItemsRead read;
  const uint64_t most = std::clamp<uint64_t>(asked, 1, kServedBlockMax);
  size_t bytes = 0;
  while (read.items.size() < most && bytes <= kBlockBytesMax) {
    auto moved = cursor.next();
    if (!moved) return pass(moved.error());
    if (!*moved) return read;
    bytes += cursor.key().size() + cursor.body().size();
    read.items.emplace_back(cursor.key(), cursor.body());
  }
  read.more = true;
  return read;
}

Result<ItemsRead> read_items(query::ItemView& view, const ReadItems& question) {
  auto cursor = view.items(question.after ? &*question.after : nullptr, question.inclusive);
  if (!cursor) return pass(cursor.error());
  return read_block(**cursor, question.most);
}

Result<ItemsRead> read_items_down(query::ItemView& view, const ReadItemsDown& question) {
  auto cursor = view.items_descending(question.before ? &*question.before : nullptr);
  if (!cursor) return pass(cursor.error());
  return read_block(**cursor, question.most);
}

Result<ItemsFetched> fetch_items(query::ItemView& view, const FetchItems& question) {
  ItemsFetched fetched;
  size_t bytes = 0;
  // In parts: all at once could be more than there is memory for.
  constexpr size_t kPart = 16;
  const std::span<const std::string> keys = question.keys;
  while (fetched.bodies.size() < keys.size() && bytes <= kBlockBytesMax) {
    const auto rest = keys.subspan(fetched.bodies.size());
    auto bodies = view.fetch(rest.first(std::min(kPart, rest.size())));
    if (!bodies) return pass(bodies.error());
    for (const std::string_view body : *bodies) {
      bytes += body.size();
      fetched.bodies.emplace_back(body);
    }
  }
  return fetched;
}

}  // namespace

struct ViewServer::Kept {
  Mutex mutex;  // who reads
  value::LevelFilter only;
  ReadAllowance allowance;
  std::unique_ptr<query::ItemView> view ORRERY_GUARDED_BY(mutex);
  std::atomic<int64_t> last_used_us{0};
};

ViewServer::ViewServer(Engine& engine, const Clock& clock)
    : engine_(engine), clock_(clock), last_id_(random_number()) {
  sweeper_.post([this] { drop_idle_until_stopped(); });
}

ViewServer::~ViewServer() {
  MutexLock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
}

void ViewServer::answer(std::string kind, std::string bytes, peer::Done done) {
  done(run(kind, bytes));
}

size_t ViewServer::open_views() const {
  MutexLock lock(mutex_);
  return views_.size();
}

template <class Question, class Read>
Result<std::string> ViewServer::within(std::string_view bytes, Read read) {
  auto question = decode_message<Question>(bytes);
  if (!question) return pass(question.error());
  auto kept = find(question->view);
  if (!kept) return pass(kept.error());
  MutexLock lock((*kept)->mutex);
  auto answer = read(*(*kept)->view, *question);
  if (!answer) return pass(answer.error());
  // Another node may have the partition by now: what was read is not the newest then.
  if (auto current = engine_.check_current(); !current) return pass(current.error());
  return encode_message(*answer);
}

Result<std::string> ViewServer::run(const std::string& kind, std::string_view bytes) {
  if (kind == OpenView::kKind) {
    auto question = decode_message<OpenView>(bytes);
    if (!question) return pass(question.error());
    auto opened = open(*question);
    if (!opened) return pass(opened.error());
    return encode_message(*opened);
  }
  if (kind == Estimate::kKind) {
    return within<Estimate>(bytes, [](query::ItemView& view, const Estimate& question) {
      return Result<Estimated>(Estimated{view.estimate({question.from, question.to})});
    });
  }
  if (kind == FindShapes::kKind) {
    return within<FindShapes>(bytes, [](query::ItemView& view, const FindShapes& question) {
      auto shapes = view.shapes_without(question.term_path);
      return Result<ShapesFound>(ShapesFound{std::move(shapes.lacking), std::move(shapes.others)});
    });
  }
  if (kind == ReadEntries::kKind) return within<ReadEntries>(bytes, read_entries);
  if (kind == ReadItems::kKind) return within<ReadItems>(bytes, read_items);
  if (kind == ReadItemsDown::kKind) return within<ReadItemsDown>(bytes, read_items_down);
  if (kind == FetchItems::kKind) return within<FetchItems>(bytes, fetch_items);
  if (kind == CloseView::kKind) {
    auto question = decode_message<CloseView>(bytes);
    if (!question) return pass(question.error());
    std::shared_ptr<Kept> closed;  // destroyed without the lock
    MutexLock lock(mutex_);
    if (const auto found = views_.find(question->view); found != views_.end()) {
      closed = std::move(found->second);
      views_.erase(found);
    }
    return std::string();
  }
  return fail(Code::unsupported, fmt::format("views know no call '{}'", kind));
}

Result<ViewOpened> ViewServer::open(const OpenView& question) {
  const RoutingPtr routing = engine_.find(static_cast<uint32_t>(question.container));
  if (!routing) {
    return fail(Code::moved, fmt::format("there is no container {}", question.container));
  }
  const LsnDemand demand([&](const catalog::PartitionRange&) { return question.lsn; });
  auto reply = engine_.open_view(routing, question.placement, question.min, question.max, demand);
  if (!reply) return pass(reply.error());
  auto kept = std::make_shared<Kept>();
  kept->only = {question.identity_at, question.levels};
  // Whoever reads stops at the end of its page's time; what it may never hear of, stops here.
  const int64_t until_us = clock_.steady_us() + std::chrono::microseconds(kViewIdle).count();
  kept->allowance.stop = [this, until_us] { return clock_.steady_us() > until_us; };
  kept->last_used_us = clock_.steady_us();
  ViewOpened opened;
  {
    MutexLock lock(kept->mutex);
    kept->view = view_for_queries(std::move(reply->view), kept->only, kept->allowance);
    opened.is_indexed = kept->view->is_indexed();
    opened.entries_are_items = kept->view->entries_are_items();
    opened.items_at_most = kept->view->items_at_most();
  }
  opened.max = std::move(reply->max);
  opened.range = reply->receipt.range;
  opened.lsn = reply->receipt.lsn;
  MutexLock lock(mutex_);
  if (views_.size() >= kViewsMax) {
    return fail(Code::overloaded,
                fmt::format("queries of other nodes have {} views open here, as many as there may "
                            "be",
                            kViewsMax));
  }
  opened.view = ++last_id_;
  views_.emplace(opened.view, std::move(kept));
  return opened;
}

Result<std::shared_ptr<ViewServer::Kept>> ViewServer::find(uint64_t view) {
  MutexLock lock(mutex_);
  const auto found = views_.find(view);
  if (found == views_.end()) {
    return fail(Code::not_found, "the view of a query was closed here: nobody read for too long");
  }
  found->second->last_used_us = clock_.steady_us();
  return found->second;
}

void ViewServer::drop_idle() {
  const int64_t before_us = clock_.steady_us() - std::chrono::microseconds(kViewIdle).count();
  std::vector<std::shared_ptr<Kept>> dropped;  // destroyed without the lock
  MutexLock lock(mutex_);
  std::erase_if(views_, [&](auto& one) {
    const bool is_idle = one.second->last_used_us.load(std::memory_order_relaxed) < before_us;
    if (is_idle) dropped.push_back(one.second);
    return is_idle;
  });
}

void ViewServer::drop_idle_until_stopped() {
  for (;;) {
    drop_idle();
    MutexLock lock(mutex_);
    if (!stopping_) wake_.wait_for(mutex_, std::chrono::seconds(1));
    if (stopping_) return;
  }
}

}  // namespace orrery::cluster
