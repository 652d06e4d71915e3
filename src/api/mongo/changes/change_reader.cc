// See change_reader.h.
#include "api/mongo/changes/change_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/mongo/call.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/documents/document_view.h"

namespace orrery::mongo {
namespace {

constexpr int32_t kHistoryLost = 286;
constexpr size_t kChangesInPage = 256;

Error lost(const orrery::Error& error) {
  if (error.code == Code::invalid) {
    return {.code = kHistoryLost,
            .message = fmt::format("Resume of change stream was not possible, as the resume point "
                                   "may no longer be in the history: {}",
                                   error.message)};
  }
  return engine_error(error);
}

// Returns when every partition of the collection keeps its history, at whichever node: what a node
// is asked carries how new the catalog of the asking one is, and waits there until it is known.
Status begin_histories(const HandlerContext& context, const cluster::RoutingPtr& routing) {
  for (const auto& slot : routing->slots) {
    const catalog::PartitionRange& range = slot->range;
    auto told = context.items.patiently([&]() -> Status {
      auto page = context.items.history(routing, range.min, range.max, {.now = true}, 1);
      if (page || page.error().code == Code::throttled) return {};
      return orrery::pass(page.error());
    });
    if (!told) return told;
  }
  return {};
}

// Whether the collection kept no history until now.
Answer<bool> keep_history(const HandlerContext& context, cluster::RoutingPtr& routing) {
  if (routing->container->spec.history_s > 0) return false;
  catalog::ContainerSpec spec = routing->container->spec;
  spec.history_s = kHistoryS;
  auto replaced = context.engine.replace_container(routing->container->number, std::move(spec));
  if (!replaced) return pass(engine_error(replaced.error()));
  routing = std::move(*replaced);
  if (auto begun = begin_histories(context, routing); !begun)
    return pass(engine_error(begun.error()));
  return true;
}

}  // namespace

ChangeReader::ChangeReader(const HandlerContext& context, WatchScope scope)
    : context_(context), scope_(std::move(scope)) {}

Answer<void> ChangeReader::open(const WatchStart& start) {
  context_.watched.add(scope_.database, scope_.collection);
  if (start.after) {
    for (const StreamPosition::Part& at : start.after->parts) {
      Part part;
      part.at = at;
      part.read_lsn = at.lsn;
      const auto routing = context_.engine.find(at.container);
      if (routing && !is_in_scope(*routing)) {
        return refuse(kInvalidResumeToken, "the resume token is one of another change stream");
      }
      if (routing) {
        part.database = routing->database->name;
        part.collection = routing->container->spec.name;
      } else {
        part.database = scope_.database;
        part.collection = scope_.collection;
      }
      parts_.push_back(std::move(part));
    }
  }
  return follow_collections(true, start);
}

bool ChangeReader::is_in_scope(const cluster::Routing& routing) const {
  const catalog::Database& database = *routing.database;
  return database.face == kFaceName &&
         (scope_.database.empty() || database.name == scope_.database) &&
         (scope_.collection.empty() || routing.container->spec.name == scope_.collection);
}

// Collections that the stream does not know yet. At its first look it begins where it was asked to;
// what comes later is new, and is told from its first document on.
Answer<void> ChangeReader::follow_collections(bool is_first, const WatchStart& start) {
  if (!scope_.collection.empty()) {
    // One that was dropped ends the stream, whatever has its name now.
    if (!parts_.empty() || !drops_.empty()) return {};
    const auto routing = find_collection(context_, scope_.database, scope_.collection);
    return routing ? add_collection(routing, is_first, start) : Answer<void>();
  }
  for (const auto& database : context_.engine.catalog().databases(kFaceName)) {
    if (!scope_.database.empty() && database->name != scope_.database) continue;
    for (const auto& container : context_.engine.catalog().containers(database->number)) {
      const bool is_known = std::ranges::any_of(
          parts_, [&](const Part& part) { return part.at.container == container->number; });
      if (is_known) continue;
      const auto routing = context_.engine.find(container->number);
      if (!routing) continue;
      if (auto added = add_collection(routing, is_first, start); !added) return added;
    }
  }
  return {};
}

Answer<void> ChangeReader::add_collection(const cluster::RoutingPtr& routing, bool is_first,
                                          const WatchStart& start) {
  cluster::RoutingPtr now = routing;
  auto is_new = keep_history(context_, now);
  if (!is_new) return pass(std::move(is_new.error()));
  for (const auto& slot : now->slots) {
    Part part;
    part.database = now->database->name;
    part.collection = now->container->spec.name;
    part.at.container = now->container->number;
    part.at.min = slot->range.min;
    part.at.max = slot->range.max;
    if (is_first && start.since_s) part.since_s = start.since_s;
    // With a token, what it does not name came after it. Without one, the stream begins now.
    const bool begins_now = is_first && !start.after && !start.since_s;
    if (begins_now || *is_new) {
      cluster::RoutingPtr newest = now;
      auto view = open_view(context_, newest, part.at.min, part.at.min, part.at.max);
      if (!view) return pass(engine_error(view.error()));
      part.at.lsn = view->lsn;
    }
    part.read_lsn = part.at.lsn;
    parts_.push_back(std::move(part));
  }
  return {};
}

bool ChangeReader::divide(size_t number, const cluster::Routing& routing) {
  const Part whole = parts_[number];
  const auto [begin, end] = routing.slots_of(whole.at.min, whole.at.max);
  if (end <= begin + 1) return false;
  parts_.erase(parts_.begin() + static_cast<int64_t>(number));
  for (size_t i = begin; i < end; ++i) {
    Part part = whole;
    part.at.min = std::max(whole.at.min, std::string(routing.slots[i]->range.min));
    part.at.max = std::min(whole.at.max, std::string(routing.slots[i]->range.max));
    parts_.push_back(std::move(part));
  }
  return true;
}

Answer<void> ChangeReader::read(Part& part, const cluster::RoutingPtr& routing) {
  if (!part.since_s) {
    // Costs nothing, and mostly tells that there is nothing new.
    cluster::RoutingPtr newest = routing;
    auto view = open_view(context_, newest, part.at.min, part.at.min, part.at.max);
    if (view && view->lsn <= part.read_lsn) return {};
  }
  auto page =
      context_.items.history(routing, part.at.min, part.at.max,
                             {.position = part.read_lsn, .since_s = part.since_s}, kChangesInPage);
  if (!page) {
    const Code code = page.error().code;
    // Later: it is asked again.
    if (code == Code::throttled || code == Code::moved || code == Code::overloaded) return {};
    return pass(lost(page.error()));
  }
  charge_ += page->receipt.charge;
  part.since_s.reset();
  part.read_lsn = page->page.lsn;
  part.has_more = page->page.more;
  for (partition::Event& event : page->page.events) part.events.push_back(std::move(event));
  uint32_t told = part.at.begun_events;
  while (told > 0 && !part.events.empty() && part.events.front().lsn == part.at.begun_lsn) {
    part.events.pop_front();
    --told;
  }
  if (part.events.empty()) part.at.lsn = part.read_lsn;
  return {};
}

// What was not there when all parts were read came after what was: until that is told, only parts
// that had more are read.
Answer<void> ChangeReader::read_all(bool are_all_told) {
  for (size_t i = 0; i < parts_.size();) {
    Part& part = parts_[i];
    if (!part.events.empty() || (!are_all_told && !part.has_more)) {
      ++i;
      continue;
    }
    const auto routing = context_.engine.find(part.at.container);
    if (!routing) {
      const bool is_last = std::ranges::count_if(parts_, [&](const Part& other) {
                             return other.at.container == part.at.container;
                           }) == 1;
      if (is_last) {
        drops_.push_back({.kind = ChangeEvent::Kind::drop,
                          .database = part.database,
                          .collection = part.collection,
                          .routing = nullptr,
                          .event = {}});
      }
      parts_.erase(parts_.begin() + static_cast<int64_t>(i));
      continue;
    }
    if (divide(i, *routing)) continue;
    if (auto done = read(part, routing); !done) return done;
    if (note_rename(i, *routing) && parts_.empty()) return {};
    ++i;
  }
  return {};
}

bool ChangeReader::note_rename(size_t number, const cluster::Routing& routing) {
  const Part& part = parts_[number];
  const std::string& name = routing.container->spec.name;
  if (name == part.collection || !part.events.empty() || part.has_more) return false;
  // Of a collection with several partitions all are told first.
  const bool are_all_told = std::ranges::all_of(parts_, [&](const Part& other) {
    return other.at.container != part.at.container || (other.events.empty() && !other.has_more);
  });
  if (!are_all_told) return false;
  drops_.push_back({.kind = ChangeEvent::Kind::rename,
                    .database = part.database,
                    .collection = part.collection,
                    .routing = nullptr,
                    .event = {},
                    .new_name = name});
  if (!scope_.collection.empty()) {
    parts_.clear();
    return true;
  }
  const uint32_t container = part.at.container;
  for (Part& other : parts_) {
    if (other.at.container == container) other.collection = name;
  }
  return true;
}

std::optional<ChangeEvent> ChangeReader::dropped() {
  if (drops_.empty()) return std::nullopt;
  ChangeEvent event = std::move(drops_.front());
  drops_.pop_front();
  const bool is_database_gone = drops_.empty() && scope_.collection.empty() &&
                                !scope_.database.empty() &&
                                !context_.engine.catalog().database({kFaceName, scope_.database});
  if (is_database_gone) {
    drops_.push_back({.kind = ChangeEvent::Kind::drop_database,
                      .database = scope_.database,
                      .collection = {},
                      .routing = nullptr,
                      .event = {}});
  }
  return event;
}

ChangeEvent ChangeReader::take(Part& part) {
  ChangeEvent change{.kind = ChangeEvent::Kind::write,
                     .database = part.database,
                     .collection = part.collection,
                     .routing = context_.engine.find(part.at.container),
                     .event = std::move(part.events.front())};
  part.events.pop_front();
  const uint64_t lsn = change.event.lsn;
  part.at.begun_events = part.at.begun_lsn == lsn ? part.at.begun_events + 1 : 1;
  part.at.begun_lsn = lsn;
  // The events of one transaction have one LSN: it is told when another follows, or nothing.
  if (part.events.empty() || part.events.front().lsn != lsn) {
    part.at.lsn = part.events.empty() ? part.read_lsn : lsn;
    part.at.begun_events = 0;
  }
  return change;
}

Answer<std::optional<ChangeEvent>> ChangeReader::next() {
  const bool are_all_told =
      std::ranges::all_of(parts_, [](const Part& part) { return part.events.empty(); });
  if (are_all_told && drops_.empty()) {
    if (auto followed = follow_collections(false, {}); !followed) {
      return pass(std::move(followed.error()));
    }
  }
  if (auto done = read_all(are_all_told); !done) return pass(std::move(done.error()));
  Part* first = nullptr;
  for (Part& part : parts_) {
    if (part.events.empty()) continue;
    if (first == nullptr || part.events.front().time_s < first->events.front().time_s) {
      first = &part;
    }
  }
  if (first != nullptr) return take(*first);
  return dropped();
}

StreamPosition ChangeReader::position() const {
  StreamPosition position;
  for (const Part& part : parts_) position.parts.push_back(part.at);
  return position;
}

}  // namespace orrery::mongo
