// The owner of the catalog and the copies of it at other nodes. See catalog.h.
//
// News are the records that were committed since the LSN that a copy has, or, when that is too long
// ago, all of them. A copy that has applied them has what the owner had when it gave them.
//
// A change that a copy asks for travels as a number and its arguments; the answer has what came of
// it, and the news. So whoever asked has the change in its own copy before it goes on.
#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/pack.h"
#include "catalog/catalog.h"
#include "value/placement.h"

namespace orrery::catalog {
namespace {

// What the owner keeps of its newest commits. A copy that asks several times a second never needs
// more.
constexpr size_t kRecentMax = 1024;

enum class Change : uint8_t { opened, intend_split, publish_split, indexed, forget_removals };

Packer begin(Change change) {
  Packer packer;
  packer.number(static_cast<uint64_t>(change));
  return packer;
}

void pack(Packer& into, const Record& record) {
  into.text(record.kind).text(record.row).number(record.body ? 1 : 0);
  into.text(record.body ? *record.body : std::string_view());
}
constexpr uint64_t kPackedRecordLeast = 32;

Record unpack_record(Unpacker& from) {
  Record record;
  record.kind = from.text();
  record.row = from.text();
  const bool is_there = from.number() != 0;
  const std::string_view body = from.text();
  if (is_there) record.body = body;
  return record;
}

void pack(Packer& into, const IntendedClones& clones) {
  into.number(clones.left).number(clones.right).text(clones.left_name).text(clones.right_name);
}

IntendedClones unpack_clones(Unpacker& from) {
  IntendedClones clones;
  clones.left = static_cast<uint32_t>(from.number());
  clones.right = static_cast<uint32_t>(from.number());
  clones.left_name = from.text();
  clones.right_name = from.text();
  return clones;
}

std::unexpected<Error> unreadable(std::string_view what) {
  return fail(Code::invalid, fmt::format("cannot read {}: is another version of the program at "
                                         "work?",
                                         what));
}

}  // namespace

void Catalog::touch(const std::vector<Record>& records) {
  for (const Record& record : records) {
    if (record.kind != kDatabases && record.kind != kContainers) continue;
    auto& numbers = record.kind == kDatabases ? touched_.databases : touched_.containers;
    numbers.insert(static_cast<uint32_t>(std::strtoul(record.row.c_str(), nullptr, 10)));
  }
}

void Catalog::remember(Commit made) {
  if (owner_ == nullptr) return;  // there are no copies
  recent_.push_back(std::move(made));
  if (recent_.size() <= kRecentMax) return;
  recent_since_ = recent_.front().lsn;
  recent_.pop_front();
}

Result<std::string> Catalog::news(uint64_t since) {
  const MutexLock change(change_mutex_);
  return news_since(since);
}

Result<std::string> Catalog::news_since(uint64_t since) {
  if (auto checked = check_owner(); !checked) return pass(checked.error());
  const bool is_whole = since < recent_since_ || since > lsn();
  std::vector<Record> records;
  if (is_whole) {
    std::optional<partition::ItemKey> after;
    for (bool more = true; more;) {
      auto page = partition_->scan(value::placement_min(), value::placement_max(),
                                   after ? &*after : nullptr, 1000, SIZE_MAX, *schema_);
      if (!page) return pass(page.error());
      for (auto& [key, item] : page->items) {
        records.emplace_back(key.placement, key.row, std::string(item.body));
      }
      more = page->more;
      if (!page->items.empty()) after = page->items.back().first;
    }
  } else {
    for (const Commit& one : recent_) {
      if (one.lsn > since) records.insert(records.end(), one.records.begin(), one.records.end());
    }
  }
  Packer packer;
  packer.number(lsn()).number(is_whole ? 1 : 0).number(since).number(records.size());
  for (const Record& record : records) pack(packer, record);
  return packer.take();
}

Status Catalog::apply(std::string_view news) {
  Unpacker from(news);
  const uint64_t lsn = from.number();
  const bool is_whole = from.number() != 0;
  const uint64_t since = from.number();
  std::vector<Record> records(from.count(kPackedRecordLeast));
  for (Record& record : records) record = unpack_record(from);
  if (!from.is_good()) return unreadable("the news of the catalog");
  const MutexLock change(change_mutex_);
  if (partition_) return {};  // the owner has it from the source
  if (lsn <= this->lsn()) return {};
  if (is_whole) {
    Tables all;
    for (const Record& record : records) {
      if (auto entered = all.enter(record); !entered) return entered;
    }
    replace_tables(std::move(all));
  } else {
    // What came in between was not told here: the next news begin where this copy is.
    if (since > this->lsn()) return {};
    touch(records);
    if (auto entered = enter(records); !entered) return entered;
  }
  lsn_.store(lsn, std::memory_order_release);
  return {};
}

Catalog::Touched Catalog::take_touched() {
  const MutexLock change(change_mutex_);
  return std::exchange(touched_, {});
}

// --- changes that a copy asks for ---------------------------------------------------------------

Result<std::string> Catalog::perform(std::string_view request) {
  Unpacker from(request);
  const uint64_t since = from.number();
  const std::string_view change_asked = from.text();
  if (!from.is_good()) return unreadable("a change of the catalog");
  const MutexLock change(change_mutex_);
  if (auto checked = check_owner(); !checked) return pass(checked.error());
  auto outcome = perform_here(change_asked);
  if (!outcome) return outcome;
  auto news = news_since(since);
  if (!news) return news;
  return Packer().text(*outcome).text(*news).take();
}

Result<std::string> Catalog::perform_here(std::string_view request) {
  Unpacker from(request);
  const uint64_t kind = from.number();
  auto done = [](const auto& result) -> Result<std::string> {
    if (!result) return pass(result.error());
    return std::string();
  };
  switch (static_cast<Change>(kind)) {
    case Change::opened: {
      const auto container = static_cast<uint32_t>(from.number());
      PartitionRange range;
      range.id = static_cast<uint32_t>(from.number());
      range.volume_name = from.text();
      const uint64_t epoch = from.number();
      if (from.is_good()) return done(note_opened_here(container, range, epoch));
      break;
    }
    case Change::intend_split: {
      const auto container = static_cast<uint32_t>(from.number());
      const auto range = static_cast<uint32_t>(from.number());
      const uint64_t epoch = from.number();
      const uint64_t attempt = from.number();
      if (!from.is_good()) break;
      auto clones = intend_split_here(container, range, epoch, attempt);
      if (!clones) return pass(clones.error());
      Packer packer;
      pack(packer, *clones);
      return packer.take();
    }
    case Change::publish_split: {
      const auto container = static_cast<uint32_t>(from.number());
      const auto range = static_cast<uint32_t>(from.number());
      const std::string cut(from.text());
      const IntendedClones clones = unpack_clones(from);
      if (from.is_good()) return done(publish_split_here(container, range, cut, clones));
      break;
    }
    case Change::indexed: {
      const auto container = static_cast<uint32_t>(from.number());
      const auto version = static_cast<uint32_t>(from.number());
      if (from.is_good()) return done(note_indexed_here(container, version));
      break;
    }
    case Change::forget_removals: {
      std::vector<std::string> names(from.count(8));
      for (std::string& name : names) name = from.text();
      if (from.is_good()) return done(forget_removals_here(names));
      break;
    }
  }
  return unreadable("a change of the catalog");
}

Result<std::string> Catalog::ask_owner(std::string request) {
  if (owner_ == nullptr) return fail(Code::elsewhere, "the catalog is closed");
  auto answer = owner_->change(Packer().number(lsn()).text(request).take());
  if (!answer) return answer;
  Unpacker from(*answer);
  std::string outcome(from.text());
  const std::string_view news = from.text();
  if (!from.is_good()) return unreadable("the answer of the catalog's owner");
  if (auto applied = apply(news); !applied) return pass(applied.error());
  return outcome;
}

Result<ContainerPtr> Catalog::changed(uint32_t number, const Result<std::string>& answer) const {
  if (!answer) return pass(answer.error());
  ContainerPtr now = container(number);
  if (!now) return fail(Code::not_found, "the container is not there");
  return now;
}

Status Catalog::note_opened(uint32_t container, const PartitionRange& range, uint64_t epoch) {
  if (is_owner()) {
    const MutexLock change(change_mutex_);
    return note_opened_here(container, range, epoch);
  }
  auto answer = ask_owner(begin(Change::opened)
                              .number(container)
                              .number(range.id)
                              .text(range.volume_name)
                              .number(epoch)
                              .take());
  if (!answer) return pass(answer.error());
  return {};
}

Result<IntendedClones> Catalog::intend_split(uint32_t container, uint32_t range, uint64_t epoch,
                                             uint64_t attempt) {
  if (is_owner()) {
    const MutexLock change(change_mutex_);
    return intend_split_here(container, range, epoch, attempt);
  }
  auto answer = ask_owner(begin(Change::intend_split)
                              .number(container)
                              .number(range)
                              .number(epoch)
                              .number(attempt)
                              .take());
  if (!answer) return pass(answer.error());
  Unpacker from(*answer);
  IntendedClones clones = unpack_clones(from);
  if (!from.is_good()) return unreadable("the answer of the catalog's owner");
  return clones;
}

Result<ContainerPtr> Catalog::publish_split(uint32_t container, uint32_t range,
                                            const std::string& cut, const IntendedClones& clones) {
  if (is_owner()) {
    const MutexLock change(change_mutex_);
    return publish_split_here(container, range, cut, clones);
  }
  Packer request = begin(Change::publish_split);
  request.number(container).number(range).text(cut);
  pack(request, clones);
  return changed(container, ask_owner(request.take()));
}

Result<ContainerPtr> Catalog::note_indexed(uint32_t container, uint32_t index_version) {
  if (is_owner()) {
    const MutexLock change(change_mutex_);
    return note_indexed_here(container, index_version);
  }
  return changed(container,
                 ask_owner(begin(Change::indexed).number(container).number(index_version).take()));
}

Status Catalog::forget_removals(const std::vector<std::string>& volume_names) {
  if (is_owner()) {
    const MutexLock change(change_mutex_);
    return forget_removals_here(volume_names);
  }
  Packer request = begin(Change::forget_removals);
  request.number(volume_names.size());
  for (const std::string& name : volume_names) request.text(name);
  auto answer = ask_owner(request.take());
  if (!answer) return pass(answer.error());
  return {};
}

}  // namespace orrery::catalog
