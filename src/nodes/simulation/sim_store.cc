// See sim_store.h.
#include "nodes/simulation/sim_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "volume/objects/written_version.h"

namespace orrery::nodes::simulation {

using volume::Applied;
using volume::ObjectChange;
using volume::ObjectState;
using volume::Outcome;

namespace {

constexpr int64_t kTimeoutUs = 1'500'000;

std::unexpected<Error> no_answer() {
  return fail(Code::internal, "the store does not answer");
}

// A change with bytes of its own: it is applied when its sender may be gone.
struct OwnedChange {
  explicit OwnedChange(const ObjectChange& from) : change(from), bytes(from.bytes) {
    change.bytes = bytes;
  }
  ObjectChange change;
  std::string bytes;
};

}  // namespace

const Objects::Object* Objects::find(const std::string& name) const {
  const auto found = objects_.find(name);
  return found == objects_.end() ? nullptr : &found->second;
}

Outcome Objects::apply(const std::string& name, const ObjectChange& change) {
  const auto found = objects_.find(name);
  const bool there = found != objects_.end();
  if (change.presence == ObjectChange::Presence::must_be_new && there) {
    return {.applied = Applied::exists};
  }
  if (change.presence == ObjectChange::Presence::must_be_there && !there) {
    return {.applied = Applied::absent};
  }
  const auto is = [&](const auto& map, const std::string& key, const std::string& value) {
    const auto at = map.find(key);
    return at == map.end() ? value.empty() : at->second == value;
  };
  static const Object kNone;
  const Object& now = there ? found->second : kNone;
  for (const auto& [key, value] : change.attributes_equal) {
    if (!is(now.attributes, key, value)) return {.applied = Applied::differs};
  }
  for (const auto& [key, value] : change.entries_equal) {
    if (!is(now.entries, key, value)) return {.applied = Applied::differs};
  }
  const bool is_watched =
      on_change && (name.starts_with("lease.") || name.starts_with("root.") ||
                    name.starts_with("file.") || name == volume::kVersionObject);
  // Of a log only the name counts to who watches: its bytes are not copied.
  Object before;
  if (is_watched && there && !name.starts_with("file.")) before.attributes = now.attributes;
  if (change.remove) {
    if (there) objects_.erase(found);
  } else {
    Object& object = there ? found->second : objects_[name];
    for (const auto& [key, value] : change.set_attributes) object.attributes[key] = value;
    for (const auto& [key, value] : change.set_entries) object.entries[key] = value;
    for (const auto& key : change.erase_entries) object.entries.erase(key);
    if (change.data == ObjectChange::Data::append) object.bytes.append(change.bytes);
    if (change.data == ObjectChange::Data::replace) object.bytes = change.bytes;
  }
  if (is_watched) {
    const bool is_append = change.data == ObjectChange::Data::append;
    if (!name.starts_with("file.") || is_append) {
      on_change(name, there ? &before : nullptr, find(name));
    }
  }
  return {};
}

int64_t SimStore::delay_us() {
  if (world_.happens(world_.troubles.operation_slow)) {
    ++world_.counts.operations_slow;
    return world_.between(10'000, world_.happens(0.3) ? 2'500'000 : 300'000);
  }
  return world_.between(100, 2'000);
}

Outcome SimStore::apply(const std::string& object, const ObjectChange& change) {
  static const Outcome kSilent{.applied = Applied::unknown, .message = "no answer"};
  if (process_.dead) return {.applied = Applied::failed, .message = "the process is dead"};
  struct Sent {
    Sent(const ObjectChange& change_in) : owned(change_in) {}
    OwnedChange owned;
    Outcome outcome = kSilent;
    bool is_given_up = false;
  };
  const auto operation = std::make_shared<Sent>(change);
  const World::Waiting waiting = world_.begin_wait();
  const bool is_cut = process_.no_store_until_us > world_.now_us();
  if (!is_cut && world_.happens(world_.troubles.operation_failed)) {
    ++world_.counts.operations_failed;
    operation->outcome = {.applied = Applied::failed, .message = "refused by chance"};
    world_.wake(waiting, world_.now_us() + delay_us());
    world_.wait(waiting);
    return process_.dead ? kSilent : operation->outcome;
  }
  if (is_cut || world_.happens(world_.troubles.operation_unknown)) {
    ++world_.counts.operations_unknown;
    // Never, or soon, or after the sender has given up.
    if (const double fate = world_.chance(); fate < 0.7) {
      const bool is_late = is_cut || fate < 0.35;
      if (is_late) ++world_.counts.operations_late;
      int64_t after_us = is_late ? world_.between(kTimeoutUs, 4 * kTimeoutUs) : delay_us();
      if (world_.is_orderly) {
        after_us = std::max(after_us, process_.no_store_until_us - world_.now_us());
      }
      world_.at(world_.now_us() + after_us,
                [this, operation, object] { objects_.apply(object, operation->owned.change); });
    }
    world_.wake(waiting, world_.now_us() + kTimeoutUs);
    world_.wait(waiting);
    return kSilent;
  }
  world_.at(world_.now_us() + delay_us(), [this, operation, object, waiting] {
    operation->outcome = objects_.apply(object, operation->owned.change);
    if (!operation->is_given_up) world_.wake(waiting, world_.now_us() + delay_us());
  });
  world_.wait(waiting);
  operation->is_given_up = true;
  return process_.dead ? kSilent : operation->outcome;
}

bool SimStore::ask(std::move_only_function<void()> look) {
  if (process_.dead) return false;
  struct Question {
    std::move_only_function<void()> look;
    bool is_given_up = false;
    bool is_answered = false;
  };
  const auto question = std::make_shared<Question>();
  question->look = std::move(look);
  const World::Waiting waiting = world_.begin_wait();
  if (process_.no_store_until_us > world_.now_us() ||
      world_.happens(world_.troubles.operation_unknown)) {
    ++world_.counts.operations_unknown;
    world_.wake(waiting, world_.now_us() + kTimeoutUs);
  } else {
    world_.at(world_.now_us() + delay_us(), [this, question, waiting] {
      if (question->is_given_up) return;
      question->look();
      question->is_answered = true;
      world_.wake(waiting, world_.now_us() + delay_us());
    });
  }
  world_.wait(waiting);
  // What it looks at is on this fiber's stack.
  question->is_given_up = true;
  return question->is_answered && !process_.dead;
}

Result<ObjectState> SimStore::inspect(const std::string& object) {
  ObjectState state;
  bool there = false;
  const bool answered = ask([&] {
    const Objects::Object* found = objects_.find(object);
    there = found != nullptr;
    if (!there) return;
    state.size = found->bytes.size();
    state.attributes = found->attributes;
    state.entries = found->entries;
  });
  if (!answered) return no_answer();
  if (!there) return fail(Code::not_found, "no such object");
  return state;
}

Result<std::optional<std::string>> SimStore::entry(const std::string& object,
                                                   const std::string& name) {
  std::optional<std::string> value;
  const bool answered = ask([&] {
    const Objects::Object* found = objects_.find(object);
    if (!found) return;
    if (const auto at = found->entries.find(name); at != found->entries.end()) value = at->second;
  });
  if (!answered) return no_answer();
  return value;
}

Result<size_t> SimStore::read(const std::string& object, uint64_t offset, std::span<char> into) {
  size_t size = 0;
  bool there = false;
  const bool answered = ask([&] {
    const Objects::Object* found = objects_.find(object);
    there = found != nullptr;
    if (!there || offset >= found->bytes.size()) return;
    size = std::min(into.size(), found->bytes.size() - offset);
    std::memcpy(into.data(), found->bytes.data() + offset, size);
  });
  if (!answered) return no_answer();
  if (!there) return fail(Code::not_found, "no such object");
  return size;
}

Result<std::vector<std::string>> SimStore::list(std::string_view prefix) {
  std::vector<std::string> names;
  const bool answered = ask([&] {
    for (const auto& [name, object] : objects_.all()) {
      if (name.starts_with(prefix)) names.push_back(name);
    }
  });
  if (!answered) return no_answer();
  return names;
}

}  // namespace orrery::nodes::simulation
