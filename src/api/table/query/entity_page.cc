// See entity_page.h.
#include "api/table/query/entity_page.h"

#include <algorithm>
#include <utility>

#include "partition/format.h"
#include "partition/view.h"

namespace orrery::table {
namespace {

// Entities that may be read on a thread that must not wait.
constexpr size_t kShortReadMax = 128;
// How often the time is looked at.
constexpr size_t kStepsBetweenLooks = 64;
constexpr int kMovedTriesMax = 16;

Result<NextKeys> keys_of(std::string_view stored) {
  auto reader = EntityReader::open(stored);
  if (!reader) return orrery::pass(reader.error());
  Property partition_key, row_key;
  if (!reader->next(partition_key) || !reader->next(row_key)) {
    return fail(Code::corrupt, "a stored entity has no keys");
  }
  return NextKeys{std::string(partition_key.value.bytes), std::string(row_key.value.bytes), {}};
}

class PageReader {
 public:
  PageReader(cluster::Engine& engine, const Clock& clock, cluster::RoutingPtr routing,
             const PageRequest& request, partition::Reach reach, EntityPage begun)
      : engine_(engine),
        clock_(clock),
        routing_(std::move(routing)),
        request_(request),
        reach_(reach),
        page_(std::move(begun)) {
    page_.next.reset();
    page_.is_unfinished = false;
    is_begun_ = page_.entities_read > 0;
  }

  Result<EntityPage> read() {
    const value::KeyDefinition& key = routing_->container->spec.key;
    const std::vector<Stretch> stretches = stretches_of(request_.filter, request_.granted, key);
    std::string start;
    std::string start_placement;
    if (request_.from) {
      const NextKeys& from = *request_.from;
      start_placement =
          from.placement.empty() ? place_partition(key, from.partition_key) : from.placement;
      start = from.placement.empty() ? partition::item_key(start_placement, from.row_key)
                                     : partition::items_from(start_placement);
    }
    const std::string first =
        stretches.empty() ? start_placement : std::max(start_placement, stretches.front().min);
    auto admitted = engine_.admit_query(routing_, first);
    if (!admitted) return orrery::pass(admitted.error());
    page_.receipt.would_throttle_ms = *admitted;
    for (const Stretch& stretch : stretches) {
      if (request_.entities_max == 0) break;
      if (stretch.to <= start) continue;
      const bool is_inside = start > stretch.from;
      auto done = read_stretch(stretch, is_inside ? start : stretch.from,
                               is_inside ? start_placement : stretch.min);
      if (!done) return orrery::pass(done.error());
      if (!*done) break;
    }
    if (!page_.is_unfinished) pay(first);
    if (auto current = engine_.check_current(); !current) return orrery::pass(current.error());
    return std::move(page_);
  }

 private:
  // False: the page is full, and `next` says where to go on.
  Result<bool> read_stretch(const Stretch& stretch, std::string from, std::string placement) {
    int moved = 0;
    for (;;) {
      auto view = engine_.open_view(routing_, placement, stretch.min, stretch.max, {}, reach_);
      if (!view) {
        const Code code = view.error().code;
        if (code == Code::moved && ++moved < kMovedTriesMax) {
          // Split: the new map has it.
          cluster::RoutingPtr now = engine_.find(routing_->container->number);
          if (!now) return orrery::pass(view.error());
          routing_ = std::move(now);
          continue;
        }
        if (code == Code::elsewhere && is_begun_) {
          page_.next = NextKeys{.partition_key = {}, .row_key = {}, .placement = placement};
          return false;
        }
        return orrery::pass(view.error());
      }
      is_begun_ = true;
      page_.receipt.range = view->receipt.range;
      page_.receipt.lsn = view->receipt.lsn;
      auto done = read_view(*view->view, stretch, from);
      if (!done || !*done) return done;
      if (view->max >= stretch.max) return true;
      placement = view->max;
      from = partition::items_from(placement);
      if (from >= stretch.to) return true;
    }
  }

  Result<bool> read_view(const partition::View& view, const Stretch& stretch,
                         const std::string& from) {
    auto cursor = view.items(&from, true);
    if (!cursor) return orrery::pass(cursor.error());
    for (;;) {
      auto found = (*cursor)->next();
      if (!found) return orrery::pass(found.error());
      if (!*found || (*cursor)->key() >= stretch.to) return true;
      const std::string_view body = (*cursor)->body();
      if (body.empty()) continue;  // not to be seen
      const bool is_full = page_.count >= request_.entities_max ||
                           page_.entities.size() >= engine_.limits().response_bytes || is_over();
      page_.is_unfinished =
          !is_full && reach_ == partition::Reach::memory && page_.entities_read >= kShortReadMax;
      if (is_full || page_.is_unfinished) {
        auto next = keys_of(body);
        if (!next) return orrery::pass(next.error());
        page_.next = std::move(*next);
        return false;
      }
      if (auto taken = take(body); !taken) return orrery::pass(taken.error());
    }
  }

  Status take(std::string_view body) {
    ++page_.entities_read;
    page_.bytes_read += body.size();
    if (!matches_entity(request_.filter, body) || !is_granted(body)) return {};
    if (page_.count > 0) page_.entities += ',';
    ++page_.count;
    return append_entity_json(page_.entities, body, request_.shape, false);
  }

  // With hash placement a stretch has more than what may be seen.
  bool is_granted(std::string_view body) const {
    if (request_.granted.whole()) return true;
    auto keys = keys_of(body);
    return keys && request_.granted.holds(keys->partition_key, keys->row_key);
  }

  bool is_over() {
    if (page_.entities_read == 0 || ++steps_ % kStepsBetweenLooks != 0) return false;
    return clock_.steady_us() > request_.until_us || (request_.is_wanted && !request_.is_wanted());
  }

  void pay(const std::string& placement) {
    partition::Work work;
    work.kind = partition::WorkKind::query;
    work.items = page_.entities_read;
    work.bytes = page_.bytes_read;
    work.bytes_returned = page_.entities.size();
    page_.receipt.charge = routing_->prices->charge(work);
    engine_.pay_for_query(routing_, placement, page_.receipt.charge,
                          page_.receipt.would_throttle_ms);
  }

  cluster::Engine& engine_;
  const Clock& clock_;
  cluster::RoutingPtr routing_;
  const PageRequest& request_;
  const partition::Reach reach_;
  EntityPage page_;
  size_t steps_ = 0;
  bool is_begun_ = false;  // some partition was read
};

}  // namespace

Result<EntityPage> read_page(cluster::Engine& engine, const Clock& clock,
                             cluster::RoutingPtr routing, const PageRequest& request,
                             partition::Reach reach, EntityPage begun) {
  return PageReader(engine, clock, std::move(routing), request, reach, std::move(begun)).read();
}

}  // namespace orrery::table
