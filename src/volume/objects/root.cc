// See root.h.
#include "volume/objects/root.h"

#include <fmt/format.h>

#include <utility>

#include "volume/objects/mutation.h"

namespace orrery::volume {

std::string root_object(std::string_view id) {
  return fmt::format("root.{}", id);
}

Root::Root(ObjectStore& store, std::string id, uint64_t epoch, ObjectState loaded, Entries entries)
    : store_(store),
      id_(std::move(id)),
      epoch_(epoch),
      held_(entries == Entries::held),
      entries_(loaded.entries.begin(), loaded.entries.end()) {}

void Root::refused(Applied applied) {
  if (applied == Applied::unknown) {
    Standing owner = Standing::owner;
    standing_.compare_exchange_strong(owner, Standing::in_doubt);
  } else if (applied == Applied::differs || applied == Applied::absent ||
             applied == Applied::exists) {
    standing_ = Standing::deposed;
  }
}

std::string Root::new_file() {
  return fmt::format("file.{}", new_token());
}

std::string Root::new_token() {
  return fmt::format("{}.{}.{}", id_, epoch_, sequence_.fetch_add(1));
}

std::optional<FileEntry> Root::find(const std::string& path) const {
  MutexLock lock(mutex_);
  const auto found = entries_.find(path);
  if (found == entries_.end() || path.ends_with('/')) return std::nullopt;
  return decode_file_entry(found->second);
}

bool Root::has_directory(const std::string& path) const {
  MutexLock lock(mutex_);
  return entries_.contains(path + "/");
}

std::vector<std::string> Root::children(const std::string& directory) const {
  const std::string prefix = directory + "/";
  std::vector<std::string> names;
  MutexLock lock(mutex_);
  for (auto it = entries_.upper_bound(prefix);
       it != entries_.end() && it->first.starts_with(prefix); ++it) {
    std::string name = it->first.substr(prefix.size());
    if (name.ends_with('/')) name.pop_back();
    if (!name.contains('/')) names.push_back(std::move(name));
  }
  return names;
}

std::map<std::string, FileEntry> Root::files() const {
  std::map<std::string, FileEntry> all;
  MutexLock lock(mutex_);
  for (const auto& [path, text] : entries_) {
    if (path.ends_with('/')) continue;
    if (auto entry = decode_file_entry(text)) all.emplace(path, std::move(*entry));
  }
  return all;
}

Outcome Root::put(const std::string& path, const FileEntry& entry) {
  MutexLock changing(change_mutex_);
  return change({{path, encode(entry)}});
}

Outcome Root::make_directory(const std::string& path) {
  MutexLock changing(change_mutex_);
  return change({{path + "/", "directory"}});
}

Outcome Root::erase(const std::string& path) {
  MutexLock changing(change_mutex_);
  return change({{path, std::nullopt}});
}

Outcome Root::erase_directory(const std::string& path) {
  MutexLock changing(change_mutex_);
  return change({{path + "/", std::nullopt}});
}

Outcome Root::rename(const std::string& from, const std::string& to) {
  MutexLock changing(change_mutex_);
  Changes changes;
  {
    MutexLock lock(mutex_);
    const std::string prefix = from + "/";
    for (const auto& [path, text] : entries_) {
      const bool below = path.starts_with(prefix);
      if (path != from && !below) continue;
      changes[path] = std::nullopt;
      changes[to + path.substr(from.size())] = text;
    }
  }
  return change(changes);
}

Outcome Root::set_attribute(const std::string& name, std::string value) {
  MutexLock changing(change_mutex_);
  if (standing() != Standing::owner) return {.applied = Applied::differs};
  Outcome outcome =
      store_.apply(root_object(id_), {.presence = ObjectChange::Presence::must_be_there,
                                      .attributes_equal = {{kEpoch, std::to_string(epoch_)}},
                                      .set_attributes = {{name, std::move(value)}}});
  if (!outcome.is_done()) refused(outcome.applied);
  return outcome;
}

Outcome Root::check() {
  return set_attribute(kState, std::string(kOpen));
}

Outcome Root::publish() {
  MutexLock changing(change_mutex_);
  Changes all;
  {
    MutexLock lock(mutex_);
    for (const auto& [path, text] : entries_) all.emplace(path, text);
  }
  Outcome written = write(all);
  if (written.is_done()) held_.store(false, std::memory_order_release);
  return written;
}

Outcome Root::change(const Changes& changes) {
  if (!holds_entries()) {
    if (Outcome written = write(changes); !written.is_done()) return written;
  }
  MutexLock lock(mutex_);
  for (const auto& [path, text] : changes) {
    if (text) {
      entries_[path] = *text;
    } else {
      entries_.erase(path);
    }
  }
  return {};
}

Outcome Root::write(const Changes& changes) {
  if (standing() != Standing::owner) return {.applied = Applied::differs};
  ObjectChange made{.presence = ObjectChange::Presence::must_be_there,
                    .attributes_equal = {{kEpoch, std::to_string(epoch_)}}};
  if (is_mutated(Mutation::unguarded_link)) made.attributes_equal.clear();
  for (const auto& [path, text] : changes) {
    if (text) {
      made.set_entries.emplace(path, *text);
    } else {
      made.erase_entries.push_back(path);
    }
  }
  Outcome outcome = store_.apply(root_object(id_), made);
  if (!outcome.is_done()) refused(outcome.applied);
  return outcome;
}

Status Root::reload() {
  auto state = store_.inspect(root_object(id_));
  if (!state) return pass(state.error());
  MutexLock lock(mutex_);
  entries_ = {state->entries.begin(), state->entries.end()};
  return {};
}

}  // namespace orrery::volume
