// See feed_source.h.
#include "transfer/feed_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "transfer/item.h"
#include "value/json_quoted.h"

namespace orrery::transfer {
namespace {

constexpr size_t kPagesMax = 12;
// How long a range without changes is left alone.
constexpr int64_t kPollMs = 500;
constexpr int64_t kReadRangesAgainMs = 200;

}  // namespace

FeedSource::FeedSource(client::Client& client, client::FeedSpec spec,
                       std::vector<client::FeedCursor> cursors, std::optional<uint64_t> expected)
    : client_(client),
      spec_(std::move(spec)),
      expected_(expected),
      where_(client.endpoint().where()),
      alive_(std::make_shared<FeedSource*>(this)) {
  for (client::FeedCursor& cursor : cursors) {
    RangeReader reader;
    reader.passed = cursor.continuation;
    reader.cursor = std::move(cursor);
    readers_.push_back(std::move(reader));
  }
}

FeedSource::~FeedSource() {
  *alive_ = nullptr;
}

Result<std::unique_ptr<FeedSource>> FeedSource::open(client::Client& client, client::FeedSpec spec,
                                                     std::optional<uint64_t> expected) {
  auto cursors = client::first_cursors(client, spec);
  if (!cursors) return pass(cursors.error());
  return std::unique_ptr<FeedSource>(
      new FeedSource(client, std::move(spec), std::move(*cursors), expected));
}

void FeedSource::ask(uint32_t index) {
  RangeReader& reader = readers_[index];
  reader.is_asked = true;
  reader.asked_for_end = ends_;
  ++held_;
  client_.submit(client::feed_request(client_.endpoint(), spec_, reader.cursor),
                 [alive = alive_, index](Result<client::Response> response) {
                   if (*alive != nullptr) (*alive)->answer(index, std::move(response));
                 });
}

void FeedSource::ask_all() {
  const int64_t now = now_ms();
  for (size_t i = 0; i < readers_.size() && held_ < kPagesMax; ++i) {
    const size_t index = (next_ask_ + i) % readers_.size();
    RangeReader& reader = readers_[index];
    if (reader.is_asked || reader.is_ended || reader.is_replaced) continue;
    if (reader.pages.size() >= 2) continue;
    const bool must_look = ends_ && !reader.asked_for_end;
    if (reader.ask_again_ms > now && !must_look) continue;
    next_ask_ = index + 1;
    ask(static_cast<uint32_t>(index));
  }
}

void FeedSource::answer(uint32_t index, Result<client::Response> response) {
  RangeReader& reader = readers_[index];
  reader.is_asked = false;
  --held_;
  auto page = client::feed_page(spec_, reader.cursor, std::move(response), where_);
  if (!page) {
    if (page.error().code == Code::moved) {
      reader.is_replaced = true;  // until its children are known it is asked for nothing
      gone_.push_back(index);
    } else if (!failed_) {
      failed_ = page.error();
    }
    return;
  }
  reader.has_nothing_new = page->is_end;
  reader.cursor.continuation = page->continuation;
  if (is_changes()) {
    if (page->is_end) {
      reader.ask_again_ms = now_ms() + kPollMs;
      reader.is_ended = reader.asked_for_end;
    }
  } else {
    reader.is_ended = page->is_end;
  }
  Page held{.items = {},
            .left = page->count(),
            .continuation = page->continuation,
            .is_end = page->is_end};
  for (const value::Node* one = page->first(); one != nullptr; one = one->next) {
    held.items.emplace_back(one->raw);
  }
  reader.pages.push_back(std::move(held));
  ++held_;
  drop_passed(reader);
}

// Looks up the ranges that took the place of those that are gone.
void FeedSource::replace_gone() {
  if (gone_.empty() || is_asking_ranges_) return;
  is_asking_ranges_ = true;
  client_.submit(client::container_request(spec_.name, "GET", "pkranges"),
                 [alive = alive_](Result<client::Response> response) {
                   if (*alive == nullptr) return;
                   FeedSource& self = **alive;
                   self.is_asking_ranges_ = false;
                   auto ranges =
                       client::ranges_of(std::move(response), self.where_, self.spec_.name);
                   if (!ranges) {
                     if (!self.failed_) self.failed_ = ranges.error();
                     return;
                   }
                   for (const uint32_t index : std::exchange(self.gone_, {})) {
                     auto children = client::children_of(self.readers_[index].cursor, *ranges);
                     if (!children) {
                       if (!self.failed_) self.failed_ = children.error();
                       return;
                     }
                     for (client::FeedCursor& cursor : *children) {
                       RangeReader child;
                       child.passed = cursor.continuation;
                       child.cursor = std::move(cursor);
                       child.waits_for = self.readers_[index].waits_for;
                       child.waits_for.push_back(index);
                       // A range that is still itself is on the move: it is asked again in a while.
                       child.ask_again_ms = self.now_ms() + kReadRangesAgainMs;
                       self.readers_.push_back(std::move(child));
                     }
                   }
                 });
}

// Takes the pages off the front whose items are all done.
void FeedSource::drop_passed(RangeReader& reader) {
  while (!reader.pages.empty() && reader.pages.front().left == 0) {
    reader.passed = reader.pages.front().continuation;
    reader.pages.pop_front();
    ++reader.first_page;
    --held_;
  }
}

Result<RecordSource::Pull> FeedSource::pull(Record& record) {
  if (failed_) return pass(*failed_);
  replace_gone();
  ask_all();
  bool is_end = gone_.empty();
  for (size_t i = 0; i < readers_.size(); ++i) {
    const size_t index = (next_pull_ + i) % readers_.size();
    RangeReader& reader = readers_[index];
    const bool is_finished =
        reader.pages.empty() && !reader.is_asked && (reader.is_ended || reader.is_replaced);
    is_end = is_end && is_finished;
    // Parents first: an item may be in a page of theirs, in an older state.
    if (std::ranges::any_of(reader.waits_for,
                            [&](uint32_t parent) { return !readers_[parent].pages.empty(); })) {
      continue;
    }
    for (size_t at = 0; at < reader.pages.size(); ++at) {
      Page& page = reader.pages[at];
      if (page.items.empty()) continue;
      record.text = std::move(page.items.front());
      page.items.pop_front();
      record.reason.clear();
      ++given_;
      record.mark = {.part = static_cast<uint32_t>(index), .at = reader.first_page + at, .line = 0};
      next_pull_ = index;  // the rest of the page comes next
      return Pull::record;
    }
  }
  return is_end ? Pull::end : Pull::wait;
}

void FeedSource::turn(int wait_ms) {
  replace_gone();
  ask_all();
  client_.turn(wait_ms);
}

void FeedSource::passed(const Mark& mark) {
  RangeReader& reader = readers_[mark.part];
  Page& page = reader.pages[mark.at - reader.first_page];
  --page.left;
  is_settled_ = page.left == 0;
  drop_passed(reader);
}

std::string FeedSource::position_json() const {
  std::string out = fmt::format("{{\"given\":{},\"ranges\":[", given_);
  bool first = true;
  for (uint32_t index = 0; index < readers_.size(); ++index) {
    const RangeReader& reader = readers_[index];
    // A child that was not asked for anything yet, and whose parent is not passed, is in the
    // parent.
    const bool waits = std::ranges::any_of(
        reader.waits_for, [&](uint32_t parent) { return !readers_[parent].pages.empty(); });
    // A parent that is passed is its children from then on; until they are known, itself.
    const bool is_unknown = std::ranges::find(gone_, index) != gone_.end();
    if (waits || (reader.is_replaced && reader.pages.empty() && !is_unknown)) continue;
    if (!first) out += ',';
    first = false;
    const bool is_done = !is_changes() && reader.is_ended && reader.pages.empty();
    out +=
        fmt::format("{{\"id\":{},\"min\":{},\"max\":{},\"continuation\":{},\"done\":{}}}",
                    value::quoted(reader.cursor.range.id), value::quoted(reader.cursor.range.min),
                    value::quoted(reader.cursor.range.max), value::quoted(reader.passed), is_done);
  }
  return out + "]}";
}

Status FeedSource::resume(const value::Node& position) {
  std::vector<client::KeyRange> ranges;
  for (const RangeReader& reader : readers_) ranges.push_back(reader.cursor.range);
  readers_.clear();
  const value::Node* saved = position.find("ranges");
  const value::Node* given = position.find("given");
  if (given != nullptr) given_ = static_cast<uint64_t>(given->number);
  for (const value::Node* one = saved == nullptr ? nullptr : saved->first; one != nullptr;
       one = one->next) {
    const auto text = [&](std::string_view name) {
      const value::Node* found = one->find(name);
      return found == nullptr ? std::string() : std::string(found->text);
    };
    const client::FeedCursor cursor{
        .range = {.id = text("id"), .min = text("min"), .max = text("max"), .parents = {}},
        .continuation = text("continuation")};
    const value::Node* done = one->find("done");
    auto now = client::children_of(cursor, ranges);
    if (!now) return pass(now.error());
    for (client::FeedCursor& child : *now) {
      RangeReader reader;
      reader.passed = child.continuation;
      reader.cursor = std::move(child);
      reader.is_ended = done != nullptr && done->boolean;
      readers_.push_back(std::move(reader));
    }
  }
  if (readers_.empty()) return fail(Code::invalid, "the checkpoint has no ranges");
  return {};
}

std::string FeedSource::name_of(const Mark& mark) const {
  (void)mark;
  return fmt::format("https://{}/{}", where_, spec_.name.text());
}

std::optional<double> FeedSource::fraction() const {
  if (!expected_ || *expected_ == 0 || is_changes()) return std::nullopt;
  return std::min(1.0, static_cast<double>(given_) / static_cast<double>(*expected_));
}

bool FeedSource::is_caught_up() const {
  return gone_.empty() && std::ranges::all_of(readers_, [](const RangeReader& reader) {
           return reader.is_replaced || (reader.has_nothing_new && reader.pages.empty());
         });
}

void FeedSource::end() {
  ends_ = true;
}

}  // namespace orrery::transfer
