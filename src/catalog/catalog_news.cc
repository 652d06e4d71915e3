// The owner of the catalog and the copies of it at other nodes. See catalog.h.
//
// News are the records that were committed since the LSN that a copy has, so many bytes at a time.
// When that is too long ago they only say so, and the copy reads all records, page by page, and
// then what was committed since the first page: with that they are what the owner had at one
// moment.
//
// A change that a copy asks for travels as a number and its arguments; the answer has what came of
// it, and news. Whoever asked has the change in its own copy before it goes on.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/fault.h"
#include "base/pack.h"
#include "catalog/catalog.h"
#include "value/placement.h"

namespace orrery::catalog {
namespace {

// What the owner keeps of its newest commits. A copy that asks several times a second never needs
// more.
constexpr size_t kRecentMax = 1024;
constexpr size_t kRecentBytesMax = 32U << 20;
// Of one message. A single commit may be more: as much as one change of the catalog is.
constexpr size_t kNewsBytesMax = 4U << 20;
// How often a copy begins anew, when the owner makes more commits meanwhile than it keeps.
constexpr int kWholeCopiesMax = 5;

enum class Change : uint8_t {
  opened,
  intend_split,
  publish_split,
  indexed,
  forget_removals,
  none,  // only for the news
  page,  // of all records, after a place
  intend_merge,
  publish_merge,
  read_replicas
};

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

size_t bytes_of(const std::vector<Record>& records) {
  size_t bytes = 0;
  for (const Record& record : records) {
    bytes += sizeof(Record) + record.row.size() + (record.body ? record.body->size() : 0);
  }
  return bytes;
}

// What news are made of. `since`: the copy has to have that much already.
struct News {
  uint64_t lsn = 0;
  bool is_whole = false;  // too long ago: all has to be read
  uint64_t since = 0;
  std::vector<Record> records = {};
};

std::string pack(const News& news) {
  Packer packer;
  packer.number(news.lsn).number(news.is_whole ? 1 : 0).number(news.since);
  packer.number(news.records.size());
  for (const Record& record : news.records) pack(packer, record);
  return packer.take();
}

std::optional<News> unpack_news(std::string_view bytes) {
  Unpacker from(bytes);
  News news;
  news.lsn = from.number();
  news.is_whole = from.number() != 0;
  news.since = from.number();
  news.records.resize(from.count(kPackedRecordLeast));
  for (Record& record : news.records) record = unpack_record(from);
  return from.is_good() ? std::optional(std::move(news)) : std::nullopt;
}

IntendedClones unpack_clones(Unpacker& from) {
  IntendedClones clones;
  clones.left = static_cast<uint32_t>(from.number());
  clones.right = static_cast<uint32_t>(from.number());
  clones.left_name = from.text();
  clones.right_name = from.text();
  return clones;
}

IntendedMerge unpack_merge(Unpacker& from) {
  IntendedMerge merged;
  merged.id = static_cast<uint32_t>(from.number());
  merged.name = from.text();
  return merged;
}

MergedRanges unpack_ranges(Unpacker& from) {
  MergedRanges ranges;
  ranges.left = static_cast<uint32_t>(from.number());
  ranges.right = static_cast<uint32_t>(from.number());
  ranges.left_epoch = from.number();
  ranges.right_epoch = from.number();
  return ranges;
}

struct MergeToPublish {
  uint32_t container = 0;
  uint32_t left = 0;
  uint32_t right = 0;
  IntendedMerge merged;
  MergeReason why;
};
MergeToPublish unpack_publication(Unpacker& from) {
  MergeToPublish asked;
  asked.container = static_cast<uint32_t>(from.number());
  asked.left = static_cast<uint32_t>(from.number());
  asked.right = static_cast<uint32_t>(from.number());
  asked.merged = unpack_merge(from);
  asked.why.at_s = static_cast<int64_t>(from.number());
  if (from.number() != 0) asked.why.cause = MergeCause::throughput;
  return asked;
}

SplitReason unpack_reason(Unpacker& from) {
  SplitReason why{.at_s = static_cast<int64_t>(from.number())};
  // A newer node may know more causes.
  const uint64_t cause = from.number();
  if (cause <= static_cast<uint64_t>(SplitCause::load)) why.cause = static_cast<SplitCause>(cause);
  return why;
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
  recent_bytes_ += bytes_of(made.records);
  recent_.push_back(std::move(made));
  while (recent_.size() > kRecentMax || recent_bytes_ > kRecentBytesMax) {
    recent_since_ = recent_.front().lsn;
    recent_bytes_ -= bytes_of(recent_.front().records);
    recent_.pop_front();
  }
}

Result<std::string> Catalog::news(uint64_t since) {
  const MutexLock change(change_mutex_);
  return news_since(since);
}

Result<std::string> Catalog::news_since(uint64_t since) {
  if (auto checked = check_owner(); !checked) return pass(checked.error());
  News news{.lsn = lsn(), .since = since};
  news.is_whole = since < recent_since_ || since > lsn();
  size_t bytes = 0;
  for (const Commit& one : recent_) {
    if (news.is_whole || one.lsn <= since) continue;
    // The rest is for the next time.
    if (bytes > kNewsBytesMax) break;
    bytes += bytes_of(one.records);
    news.lsn = one.lsn;
    news.records.insert(news.records.end(), one.records.begin(), one.records.end());
  }
  return pack(news);
}

// As of this moment, up to so many bytes: whoever has them is told in `since` of which LSN they
// are.
Result<std::string> Catalog::page_after(const Record& after) {
  News page{.lsn = lsn(), .is_whole = false, .since = lsn()};
  const partition::ItemKey key{.placement = after.kind, .row = after.row};
  auto read = partition_->scan(value::placement_min(), value::placement_max(),
                               after.kind.empty() ? nullptr : &key, 1000, kNewsBytesMax, *schema_);
  if (!read) return pass(read.error());
  page.is_whole = !read->more;  // of a page: it is the last one
  for (auto& [found, item] : read->items) {
    page.records.emplace_back(found.placement, found.row, std::string(item.body));
  }
  return pack(page);
}

Status Catalog::apply(std::string_view bytes) {
  auto news = unpack_news(bytes);
  if (!news) return unreadable("the news of the catalog");
  if (news->is_whole) return copy_all();
  const MutexLock change(change_mutex_);
  if (partition_) return {};  // the owner has it from the source
  // What came in between was not told here: the next news begin where this copy is.
  if (news->lsn <= lsn() || news->since > lsn()) return {};
  touch(news->records);
  if (auto entered = enter(news->records); !entered) return entered;
  lsn_.store(news->lsn, std::memory_order_release);
  return {};
}

Status Catalog::copy_all() {
  for (int attempt = 0; attempt < kWholeCopiesMax; ++attempt) {
    Tables all;
    auto begun = read_all(all);
    if (!begun) return pass(begun.error());
    // What was committed since the first page, until there is nothing more.
    uint64_t at = *begun;
    bool is_covered = true;
    for (bool more = true; more && is_covered;) {
      auto answer = ask_for_news(at, begin(Change::none).take());
      if (!answer) return pass(answer.error());
      auto news = unpack_news(answer->news);
      if (!news) return unreadable("the news of the catalog");
      is_covered = !news->is_whole;
      for (const Record& record : news->records) {
        if (auto entered = all.enter(record); !entered) return entered;
      }
      at = std::max(at, news->lsn);
      more = at < answer->lsn;
    }
    if (!is_covered) continue;
    if (auto checked = all.check(); !checked) return checked;
    const MutexLock change(change_mutex_);
    if (partition_ || at <= lsn()) return {};
    replace_tables(std::move(all));
    lsn_.store(at, std::memory_order_release);
    return {};
  }
  return fail(Code::overloaded, "the catalog changes faster than a copy of it is made: try again");
}

// Enters all records; gives the LSN that the first page was of.
Result<uint64_t> Catalog::read_all(Tables& into) {
  std::optional<uint64_t> lsn;
  Record after;
  for (bool more = true; more;) {
    auto answer =
        ask_for_news(UINT64_MAX, begin(Change::page).text(after.kind).text(after.row).take());
    if (!answer) return pass(answer.error());
    auto page = unpack_news(answer->outcome);
    if (!page) return unreadable("a page of the catalog");
    if (!lsn) lsn = page->lsn;
    for (const Record& record : page->records) {
      if (auto entered = into.enter(record); !entered) return pass(entered.error());
    }
    more = !page->is_whole && !page->records.empty();
    if (more) after = std::move(page->records.back());
  }
  return *lsn;
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
  return Packer().number(lsn()).text(*outcome).text(*news).take();
}

Result<std::string> Catalog::perform_here(std::string_view request) {
  Unpacker from(request);
  auto done = [](const auto& result) -> Result<std::string> {
    if (!result) return pass(result.error());
    return std::string();
  };
  switch (static_cast<Change>(from.number())) {
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
      const SplitReason why = unpack_reason(from);
      if (!from.is_good()) break;
      auto published = publish_split_here(container, range, cut, clones, why);
      // A crash here leaves the splitter without an answer.
      if (published) static_cast<void>(fault::point("split.committed"));
      return done(std::move(published));
    }
    case Change::intend_merge:
    case Change::publish_merge:
      return perform_merge(request);
    case Change::read_replicas: {
      const uint64_t count = from.number();
      if (!from.is_good()) break;
      return done(
          set_read_replicas_here(static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX))));
    }
    case Change::indexed: {
      const auto container = static_cast<uint32_t>(from.number());
      const auto version = static_cast<uint32_t>(from.number());
      if (from.is_good()) return done(note_indexed_here(container, version));
      break;
    }
    case Change::none:
      if (from.is_good()) return std::string();
      break;
    case Change::page: {
      Record after;
      after.kind = from.text();
      after.row = from.text();
      if (from.is_good()) return page_after(after);
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

Result<std::string> Catalog::perform_merge(std::string_view request) {
  Unpacker from(request);
  if (static_cast<Change>(from.number()) == Change::intend_merge) {
    const auto container = static_cast<uint32_t>(from.number());
    const MergedRanges ranges = unpack_ranges(from);
    const uint64_t attempt = from.number();
    if (!from.is_good()) return unreadable("a change of the catalog");
    auto merged = intend_merge_here(container, ranges, attempt);
    if (!merged) return pass(merged.error());
    return Packer().number(merged->id).text(merged->name).take();
  }
  const MergeToPublish asked = unpack_publication(from);
  if (!from.is_good()) return unreadable("a change of the catalog");
  auto published =
      publish_merge_here(asked.container, asked.left, asked.right, asked.merged, asked.why);
  if (!published) return pass(published.error());
  // A crash here leaves the merger without an answer.
  static_cast<void>(fault::point("merge.committed"));
  return std::string();
}

Result<Catalog::OwnersAnswer> Catalog::ask_for_news(uint64_t since, const std::string& request) {
  if (owner_ == nullptr) return fail(Code::elsewhere, "the catalog is closed");
  auto bytes = owner_->change(Packer().number(since).text(request).take());
  if (!bytes) return pass(bytes.error());
  Unpacker from(*bytes);
  OwnersAnswer answer;
  answer.lsn = from.number();
  answer.outcome = from.text();
  answer.news = from.text();
  // Nobody knows what came of it.
  if (!from.is_good()) return fail(Code::internal, "cannot read the answer of the catalog's owner");
  return answer;
}

Result<std::string> Catalog::ask_owner(const std::string& request) {
  auto answer = ask_for_news(lsn(), request);
  if (!answer) return pass(answer.error());
  const uint64_t has_it = answer->lsn;
  std::string outcome = std::move(answer->outcome);
  if (auto applied = apply(answer->news); !applied) return pass(applied.error());
  while (lsn() < has_it && !is_owner()) {
    auto more = ask_for_news(lsn(), begin(Change::none).take());
    if (!more) return pass(more.error());
    if (auto applied = apply(more->news); !applied) return pass(applied.error());
  }
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
                                            const std::string& cut, const IntendedClones& clones,
                                            const SplitReason& why) {
  if (is_owner()) {
    const MutexLock change(change_mutex_);
    return publish_split_here(container, range, cut, clones, why);
  }
  Packer request = begin(Change::publish_split);
  request.number(container).number(range).text(cut);
  pack(request, clones);
  request.number(static_cast<uint64_t>(why.at_s)).number(static_cast<uint64_t>(why.cause));
  return changed(container, ask_owner(request.take()));
}

Result<IntendedMerge> Catalog::intend_merge(uint32_t container, const MergedRanges& ranges,
                                            uint64_t attempt) {
  if (is_owner()) {
    const MutexLock change(change_mutex_);
    return intend_merge_here(container, ranges, attempt);
  }
  auto answer = ask_owner(begin(Change::intend_merge)
                              .number(container)
                              .number(ranges.left)
                              .number(ranges.right)
                              .number(ranges.left_epoch)
                              .number(ranges.right_epoch)
                              .number(attempt)
                              .take());
  if (!answer) return pass(answer.error());
  Unpacker from(*answer);
  IntendedMerge merged = unpack_merge(from);
  if (!from.is_good()) return unreadable("the answer of the catalog's owner");
  return merged;
}

Result<ContainerPtr> Catalog::publish_merge(uint32_t container, uint32_t left, uint32_t right,
                                            const IntendedMerge& merged, const MergeReason& why) {
  if (is_owner()) {
    const MutexLock change(change_mutex_);
    return publish_merge_here(container, left, right, merged, why);
  }
  return changed(container, ask_owner(begin(Change::publish_merge)
                                          .number(container)
                                          .number(left)
                                          .number(right)
                                          .number(merged.id)
                                          .text(merged.name)
                                          .number(static_cast<uint64_t>(why.at_s))
                                          .number(static_cast<uint64_t>(why.cause))
                                          .take()));
}

Result<ContainerPtr> Catalog::note_indexed(uint32_t container, uint32_t index_version) {
  if (is_owner()) {
    const MutexLock change(change_mutex_);
    return note_indexed_here(container, index_version);
  }
  return changed(container,
                 ask_owner(begin(Change::indexed).number(container).number(index_version).take()));
}

Status Catalog::set_read_replicas(uint32_t count) {
  if (is_owner()) {
    const MutexLock change(change_mutex_);
    return set_read_replicas_here(count);
  }
  auto answer = ask_owner(begin(Change::read_replicas).number(count).take());
  if (!answer) return pass(answer.error());
  return {};
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
