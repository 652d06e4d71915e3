// See index_source.h.
#include "query/run/index_source.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "query/run/access_path.h"
#include "query/run/stored_item.h"

namespace orrery::query {
namespace {

// The largest batch of bodies that are fetched at a time, and the smallest one where some of them
// will not pass the filter.
constexpr size_t kBatchMax = 64;
constexpr size_t kInexactBatch = 8;

class KeyOrderSource final : public ItemSource {
 public:
  KeyOrderSource(const SourceSetting& setting, const SourceStart* start) : setting_(setting) {
    if (start != nullptr) start_ = *start;
  }

  Result<const SourceItem*> next(size_t wanted) override {
    if (!opened_) {
      if (auto status = open(wanted); !status) return pass(status.error());
    }
    return cursor_ ? next_scanned() : next_fetched(wanted);
  }

 private:
  Status open(size_t wanted) {
    opened_ = true;
    auto choice = choose_access_path({setting_.view, setting_.counts, setting_.context},
                                     setting_.plan, wanted);
    if (!choice) return pass(choice.error());
    choice_ = std::move(*choice);
    if (choice_.keys) return {};
    auto items = setting_.view.items(start_ ? &start_->key : nullptr, start_ && start_->inclusive);
    if (!items) return pass(items.error());
    cursor_ = std::move(*items);
    return {};
  }

  Result<const SourceItem*> next_scanned() {
    auto found = cursor_->next();
    if (!found) return pass(found.error());
    if (!*found) return nullptr;
    item_ = {cursor_->key(), cursor_->body(), choice_.is_exact, nullptr};
    return counted();
  }

  Result<const SourceItem*> next_fetched(size_t wanted) {
    if (at_ == keys_.size()) {
      auto paused = read_batch(wanted);
      if (!paused) return pass(paused.error());
      if (*paused && keys_.empty()) {
        item_ = {paused_at_, {}, false, nullptr};
        return &item_;
      }
      if (keys_.empty()) return nullptr;
    }
    item_ = {keys_[at_], bodies_[at_], choice_.is_exact, nullptr};
    ++at_;
    return counted();
  }

  const SourceItem* counted() {
    if (!item_.body.empty()) {
      setting_.counts.items += 1;
      setting_.counts.bytes += item_.body.size();
    }
    return &item_;
  }

  // True when it paused so that the caller can check its deadline.
  Result<bool> read_batch(size_t wanted) {
    const size_t most = std::clamp(wanted, choice_.is_exact ? size_t{1} : kInexactBatch, kBatchMax);
    at_ = 0;
    keys_.clear();
    keys_.reserve(most);
    bool paused = false;
    while (keys_.size() < most && !paused && !ended_) {
      auto found = advance();
      if (!found) return found;
      if (!*found) {
        ended_ = true;
      } else if (choice_.pausing != nullptr && !choice_.pausing->is_common()) {
        paused_at_ = choice_.keys->key();
        paused = true;
      } else {
        keys_.emplace_back(choice_.keys->key());
      }
    }
    if (keys_.empty()) return paused;
    auto bodies = setting_.view.fetch(keys_);
    if (!bodies) return pass(bodies.error());
    bodies_ = std::move(*bodies);
    return paused;
  }

  Result<bool> advance() {
    if (!start_) return choice_.keys->next();
    const SourceStart start = *std::exchange(start_, std::nullopt);
    auto found = choice_.keys->seek(start.key);
    const bool is_at_it = found && *found && choice_.keys->key() == start.key;
    if (is_at_it && !start.inclusive) return choice_.keys->next();
    return found;
  }

  const SourceSetting setting_;
  std::optional<SourceStart> start_;
  bool opened_ = false;
  AccessPath choice_;
  std::unique_ptr<ItemCursor> cursor_;  // over all items
  std::vector<std::string> keys_;       // of the batch at hand
  std::vector<std::string_view> bodies_;
  size_t at_ = 0;
  bool ended_ = false;
  std::string paused_at_;
  SourceItem item_;
};

}  // namespace

Status each_item(const SourceSetting& setting, std::span<const std::string> keys,
                 const std::function<void(size_t, const value::Node&)>& give) {
  auto bodies = setting.view.fetch(keys);
  if (!bodies) return pass(bodies.error());
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string_view body = (*bodies)[i];
    if (body.empty()) continue;
    setting.counts.items += 1;
    setting.counts.bytes += body.size();
    const auto item = parse_stored(setting.codec, body);
    if (!item) return pass(item.error());
    give(i, item->root());
  }
  return {};
}

Result<std::unique_ptr<ItemSource>> open_in_key_order(const SourceSetting& setting,
                                                      const SourceStart* start) {
  return std::make_unique<KeyOrderSource>(setting, start);
}

}  // namespace orrery::query
