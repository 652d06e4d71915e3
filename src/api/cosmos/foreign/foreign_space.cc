// See foreign_space.h.
#include "api/cosmos/foreign/foreign_space.h"

#include <utility>
#include <vector>

#include "api/cosmos/foreign/foreign_item.h"
#include "base/await.h"
#include "partition/format.h"

namespace orrery::cosmos {
namespace {

constexpr size_t kScanItems = 100;

std::unexpected<Error> no_index() {
  return fail(Code::internal, "a container of another face has no index for queries of this one");
}

class ForeignItems final : public query::ItemCursor {
 public:
  // Begins with the items of `first`, and goes on after the last of them, or after `after`.
  ForeignItems(const ForeignSpace& space, partition::Page first,
               std::optional<partition::ItemKey> after)
      : space_(space), page_(std::move(first)), after_(std::move(after)) {}

  Result<bool> next() override {
    if (at_ == page_.items.size()) {
      if (!page_.more) return false;
      auto page = space_.page_after(after_);
      if (!page) return pass(page.error());
      page_ = std::move(*page);
      at_ = 0;
      if (page_.last) after_ = page_.last;
      if (page_.items.empty()) return pause();
    }
    const auto& [key, item] = page_.items[at_++];
    key_ = partition::item_key(key.placement, key.row);
    auto body = space_.body_of(key, item);
    if (!body) return pass(body.error());
    body_ = std::move(*body);
    return true;
  }
  std::string_view key() const override { return key_; }
  std::string_view body() const override { return body_; }

 private:
  // At an item that is not to be seen, so that the query can check its time.
  Result<bool> pause() {
    if (!page_.more || !after_) return false;
    key_ = partition::item_key(after_->placement, after_->row);
    body_.clear();
    return true;
  }

  const ForeignSpace& space_;
  partition::Page page_;
  size_t at_ = 0;
  std::optional<partition::ItemKey> after_;
  std::string key_;
  std::string body_;
};

class ForeignView final : public query::ItemView {
 public:
  explicit ForeignView(const ForeignSpace& space) : space_(space) {}

  bool is_indexed() const override { return false; }
  bool entries_are_items() const override { return false; }
  uint64_t items_at_most() const override { return UINT64_MAX; }
  uint64_t estimate(const query::TermRange& /*range*/) const override { return UINT64_MAX; }
  Result<std::unique_ptr<query::EntryCursor>> entries(const query::TermRange& /*range*/,
                                                      bool /*descending*/,
                                                      const Place* /*after*/) const override {
    return no_index();
  }
  Shapes shapes_without(std::string_view /*term_path*/) const override { return {}; }

  Result<std::unique_ptr<query::ItemCursor>> items(const std::string* after,
                                                   bool inclusive) const override {
    partition::Page first{.items = {}, .more = true};
    std::optional<partition::ItemKey> key;
    if (after != nullptr) {
      auto parsed = partition::parse_item_key(*after);
      if (!parsed) return pass(parsed.error());
      key = std::move(*parsed);
      if (inclusive) {
        auto item = space_.read(*key);
        if (!item) return pass(item.error());
        if (*item) first.items.emplace_back(*key, std::move(**item));
      }
    }
    return std::make_unique<ForeignItems>(space_, std::move(first), std::move(key));
  }

  Result<std::vector<std::string_view>> fetch(std::span<const std::string> keys) override {
    fetched_.clear();
    fetched_.reserve(keys.size());
    for (const std::string& text : keys) {
      auto key = partition::parse_item_key(text);
      if (!key) return pass(key.error());
      auto item = space_.read(*key);
      if (!item) return pass(item.error());
      Result<std::string> body = *item ? space_.body_of(*key, **item) : std::string();
      if (!body) return pass(body.error());
      fetched_.push_back(std::move(*body));
    }
    return std::vector<std::string_view>(fetched_.begin(), fetched_.end());
  }

 private:
  const ForeignSpace& space_;
  std::vector<std::string> fetched_;
};

}  // namespace

Result<std::unique_ptr<query::ItemView>> ForeignSpace::open(std::string_view from_placement,
                                                            std::string& end) {
  if (bounds_.min >= bounds_.max || from_placement >= bounds_.max) return nullptr;
  end = bounds_.max;
  return std::make_unique<ForeignView>(*this);
}

Result<partition::Page> ForeignSpace::page_after(
    const std::optional<partition::ItemKey>& after) const {
  auto reply = engine_.feed(routing_, bounds_.min, bounds_.max, after ? &*after : nullptr,
                            kScanItems, demand_, 0);
  if (!reply) return pass(reply.error());
  receipt_.range = reply->receipt.range;
  receipt_.lsn = reply->receipt.lsn;
  return std::move(reply->page);
}

Result<std::optional<partition::Item>> ForeignSpace::read(const partition::ItemKey& key) const {
  auto read = await<Result<cluster::ReadReply>>([&](auto done) {
    engine_.read(routing_, key.placement, key.row, demand_, std::move(done), 0);
  });
  if (!read) return pass(read.error());
  if (!*read) return pass(read->error());
  return std::move((*read)->item);
}

Result<std::string> ForeignSpace::body_of(const partition::ItemKey& key,
                                          const partition::Item& item) const {
  if (!bounds_.only.has(key.placement)) return std::string();
  return foreign_item_json(*routing_, key.row, item);
}

}  // namespace orrery::cosmos
