// See remote_views.h.
#include "cluster/query/remote_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/await.h"
#include "cluster/query/remote_view_messages.h"

namespace orrery::cluster {
namespace {

// Longer than a page of a query may take.
constexpr std::chrono::seconds kCallTime{10};
// Entries are read in blocks: of few at first, since many queries want few.
constexpr uint64_t kFirstBlock = 64;
constexpr uint64_t kBlockMax = 1024;
constexpr uint64_t kItemsBlock = 128;

// One view at one node.
class Connection {
 public:
  Connection(peer::Link& link, std::string address) : link_(link), address_(std::move(address)) {}

  template <class Answer, class Question>
  Result<Answer> ask(const Question& question) const {
    auto answer = await<Result<std::string>>([&](auto done) {
      link_.call(address_, std::string(Question::kKind), encode_message(question), kCallTime,
                 std::move(done));
    });
    if (!answer) return pass(answer.error());
    if (!*answer) return pass(as_seen_here(std::move(answer->error())));
    return decode_message<Answer>(**answer);
  }
  // Without waiting.
  void close(uint64_t view) const {
    link_.call(address_, std::string(CloseView::kKind), encode_message(CloseView{view}), kCallTime,
               [](const Result<std::string>&) {});
  }

 private:
  static Error as_seen_here(Error error) {
    switch (error.code) {
      case Code::moved:
      case Code::elsewhere:
      case Code::overloaded:
      case Code::internal:
      case Code::not_found:
        error.code = Code::retry;
        return error;
      default:
        return error;
    }
  }

  peer::Link& link_;
  const std::string address_;
};

class RemoteEntries final : public query::EntryCursor {
 public:
  RemoteEntries(const Connection& connection, ReadEntries question)
      : connection_(connection), question_(std::move(question)) {}

  Result<bool> next() override {
    if (has_begun_) {
      if (++at_ < block_.size()) return true;
      if (!more_) return false;
      question_.after = std::move(block_.back());
      question_.seek.reset();
    }
    return read();
  }
  std::string_view term() const override { return block_[at_].first; }
  std::string_view key() const override { return block_[at_].second; }

  Result<bool> seek(std::string_view key) override {
    if (has_begun_) {
      const std::string current = block_[at_].first;
      for (; at_ < block_.size(); ++at_) {
        const auto& [term, its_key] = block_[at_];
        if (term != current || its_key >= key) return true;
      }
      if (!more_) return false;
      question_.from = current;
      question_.after.reset();
    }
    question_.seek = key;
    return read();
  }

 private:
  Result<bool> read() {
    question_.most = most_;
    most_ = std::min(kBlockMax, most_ * 2);
    auto answer = connection_.ask<EntriesRead>(question_);
    if (!answer) return pass(answer.error());
    has_begun_ = true;
    block_ = std::move(answer->entries);
    more_ = answer->more;
    at_ = 0;
    return !block_.empty();
  }

  const Connection& connection_;
  ReadEntries question_;
  uint64_t most_ = kFirstBlock;
  bool has_begun_ = false;
  bool more_ = false;
  std::vector<std::pair<std::string, std::string>> block_;
  size_t at_ = 0;
};

// `Question` is ReadItems or ReadItemsDown.
template <class Question>
class RemoteItems final : public query::ItemCursor {
 public:
  RemoteItems(const Connection& connection, Question question)
      : connection_(connection), question_(std::move(question)) {}

  Result<bool> next() override {
    if (has_begun_) {
      if (++at_ < block_.size()) return true;
      if (!more_) return false;
      go_on_after(std::move(block_.back().first));
    }
    has_begun_ = true;
    question_.most = kItemsBlock;
    auto answer = connection_.ask<ItemsRead>(question_);
    if (!answer) return pass(answer.error());
    block_ = std::move(answer->items);
    more_ = answer->more;
    at_ = 0;
    return !block_.empty();
  }
  std::string_view key() const override { return block_[at_].first; }
  std::string_view body() const override { return block_[at_].second; }

 private:
  void go_on_after(std::string key) {
    if constexpr (std::is_same_v<Question, ReadItems>) {
      question_.after = std::move(key);
      question_.inclusive = false;
    } else {
      question_.before = std::move(key);
    }
  }

  const Connection& connection_;
  Question question_;
  bool has_begun_ = false;
  bool more_ = false;
  std::vector<std::pair<std::string, std::string>> block_;
  size_t at_ = 0;
};

class RemoteView final : public query::ItemView {
 public:
  RemoteView(Connection connection, const ViewOpened& opened)
      : connection_(std::move(connection)), opened_(opened) {}
  ~RemoteView() override { connection_.close(opened_.view); }

  bool is_indexed() const override { return opened_.is_indexed; }
  bool entries_are_items() const override { return opened_.entries_are_items; }
  uint64_t items_at_most() const override { return opened_.items_at_most; }
  uint64_t estimate(const query::TermRange& range) const override {
    auto answer = connection_.ask<Estimated>(Estimate{opened_.view, range.from, range.to});
    if (answer) return answer->entries;
    note(answer.error());
    return UINT64_MAX;
  }
  Result<std::unique_ptr<query::EntryCursor>> entries(const query::TermRange& range,
                                                      bool descending,
                                                      const Place* after) const override {
    if (failure_) return pass(*failure_);
    ReadEntries question;
    question.view = opened_.view;
    question.from = range.from;
    question.to = range.to;
    question.descending = descending;
    if (after != nullptr) question.after = {after->term, after->key};
    return std::make_unique<RemoteEntries>(connection_, std::move(question));
  }
  Shapes shapes_without(std::string_view term_path) const override {
    auto answer = connection_.ask<ShapesFound>(FindShapes{opened_.view, std::string(term_path)});
    if (answer) return {std::move(answer->lacking), std::move(answer->others)};
    note(answer.error());
    return {};
  }
  Result<std::unique_ptr<query::ItemCursor>> items(const std::string* after,
                                                   bool inclusive) const override {
    if (failure_) return pass(*failure_);
    ReadItems question;
    question.view = opened_.view;
    if (after != nullptr) question.after = *after;
    question.inclusive = inclusive;
    return std::make_unique<RemoteItems<ReadItems>>(connection_, std::move(question));
  }
  Result<std::unique_ptr<query::ItemCursor>> items_descending(
      const std::string* before) const override {
    if (failure_) return pass(*failure_);
    ReadItemsDown question;
    question.view = opened_.view;
    if (before != nullptr) question.before = *before;
    return std::make_unique<RemoteItems<ReadItemsDown>>(connection_, std::move(question));
  }
  Result<std::vector<std::string_view>> fetch(std::span<const std::string> keys) override {
    if (failure_) return pass(*failure_);
    fetched_.clear();
    while (fetched_.size() < keys.size()) {
      const auto rest = keys.subspan(fetched_.size());
      auto answer =
          connection_.ask<ItemsFetched>(FetchItems{opened_.view, {rest.begin(), rest.end()}});
      if (!answer) return pass(answer.error());
      if (answer->bodies.empty() || answer->bodies.size() > rest.size()) {
        return fail(Code::internal, "a node gave another number of items than it was asked for");
      }
      std::ranges::move(answer->bodies, std::back_inserter(fetched_));
    }
    return std::vector<std::string_view>(fetched_.begin(), fetched_.end());
  }

 private:
  // Of something that cannot fail: the next reading does.
  void note(const Error& error) const {
    if (!failure_) failure_ = error;
  }

  const Connection connection_;
  const ViewOpened opened_;
  mutable std::optional<Error> failure_;
  std::vector<std::string> fetched_;
};

}  // namespace

Result<RemoteViews::Opened> RemoteViews::open(const Routing& routing, std::string_view placement,
                                              std::string_view min, std::string_view max,
                                              const value::LevelFilter& only,
                                              const LsnDemand& demand) {
  const Slot& slot = *routing.slot_of(placement);
  const auto address = placement_.address_of(slot);
  if (!address || address->empty()) {
    return fail(Code::retry, fmt::format("range {} of container {} is being moved to another node",
                                         slot.range.id, slot.container));
  }
  OpenView question;
  question.container = routing.container->number;
  question.placement = placement;
  question.min = min;
  question.max = max;
  question.identity_at = only.identity_at;
  question.levels = only.levels;
  question.lsn = demand.needed(slot.range);
  Connection connection(link_, *address);
  auto opened = connection.ask<ViewOpened>(question);
  if (!opened) return pass(opened.error());
  Opened made;
  made.max = opened->max;
  made.receipt.range = static_cast<uint32_t>(opened->range);
  made.receipt.lsn = opened->lsn;
  made.view = std::make_unique<RemoteView>(std::move(connection), *opened);
  return made;
}

}  // namespace orrery::cluster
