// See transaction_space.h.
#include "cluster/query/transaction_space.h"

#include <utility>
#include <vector>

#include "partition/format.h"

namespace orrery::cluster {
namespace {

constexpr size_t kScanItems = 256;
constexpr size_t kScanBytes = 1 << 20;

std::unexpected<Error> no_index() {
  return fail(Code::internal, "a transaction has no index");
}

class Cursor final : public query::ItemCursor {
 public:
  Cursor(const partition::Transaction& transaction, const std::string& placement,
         const TransactionSpace::BodyOf& body_of, std::optional<std::string> after)
      : transaction_(transaction),
        placement_(placement),
        body_of_(body_of),
        after_(std::move(after)) {}

  Result<bool> next() override {
    ++at_;
    while (at_ >= page_.items.size()) {
      if (!page_.more) return false;
      auto page =
          transaction_.scan(placement_, after_ ? &*after_ : nullptr, kScanItems, kScanBytes);
      if (!page) return pass(page.error());
      page_ = std::move(*page);
      if (page_.last) after_ = page_.last->row;
      at_ = 0;
    }
    auto& [key, item] = page_.items[at_];
    key_ = partition::item_key(key.placement, key.row);
    body_ = body_of_(key, item);
    return true;
  }
  std::string_view key() const override { return key_; }
  std::string_view body() const override { return body_; }

 private:
  const partition::Transaction& transaction_;
  const std::string& placement_;
  const TransactionSpace::BodyOf& body_of_;
  std::optional<std::string> after_;  // the row after which the next page begins
  partition::Page page_{.items = {}, .more = true};
  size_t at_ = SIZE_MAX;  // before the first
  std::string key_;
  std::string body_;
};

class TransactionView final : public query::ItemView {
 public:
  TransactionView(const partition::Transaction& transaction, const std::string& placement,
                  const TransactionSpace::BodyOf& body_of)
      : transaction_(transaction), placement_(placement), body_of_(body_of) {}

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
    std::optional<std::string> row;
    if (after != nullptr) {
      auto key = partition::parse_item_key(*after);
      if (!key) return pass(key.error());
      // The row before `row` in order is not to be named, so what comes at it is read and left out
      // by looking at it first.
      if (inclusive) return at_or_after(key->row);
      row = std::move(key->row);
    }
    return std::make_unique<Cursor>(transaction_, placement_, body_of_, std::move(row));
  }

  Result<std::vector<std::string_view>> fetch(std::span<const std::string> keys) override {
    fetched_.clear();
    fetched_.reserve(keys.size());
    for (const std::string& text : keys) {
      auto key = partition::parse_item_key(text);
      if (!key) return pass(key.error());
      auto item = transaction_.read(key->placement, key->row);
      if (!item) return pass(item.error());
      fetched_.push_back(*item ? body_of_(*key, **item) : std::string());
    }
    return std::vector<std::string_view>(fetched_.begin(), fetched_.end());
  }

 private:
  // The item at the row, when it is there, and those after it.
  class AtOrAfter final : public query::ItemCursor {
   public:
    AtOrAfter(std::string key, std::string body, std::unique_ptr<query::ItemCursor> rest)
        : key_(std::move(key)), body_(std::move(body)), rest_(std::move(rest)) {}
    Result<bool> next() override {
      if (!std::exchange(first_done_, true)) {
        if (!body_.empty()) return true;
      }
      in_rest_ = true;
      return rest_->next();
    }
    std::string_view key() const override { return in_rest_ ? rest_->key() : key_; }
    std::string_view body() const override { return in_rest_ ? rest_->body() : body_; }

   private:
    const std::string key_;
    const std::string body_;  // empty: not there
    const std::unique_ptr<query::ItemCursor> rest_;
    bool first_done_ = false;
    bool in_rest_ = false;
  };

  Result<std::unique_ptr<query::ItemCursor>> at_or_after(const std::string& row) const {
    auto item = transaction_.read(placement_, row);
    if (!item) return pass(item.error());
    const partition::ItemKey key{placement_, row};
    return std::make_unique<AtOrAfter>(
        partition::item_key(placement_, row), *item ? body_of_(key, **item) : std::string(),
        std::make_unique<Cursor>(transaction_, placement_, body_of_, row));
  }

  const partition::Transaction& transaction_;
  const std::string& placement_;
  const TransactionSpace::BodyOf& body_of_;
  std::vector<std::string> fetched_;
};

}  // namespace

Result<std::unique_ptr<query::ItemView>> TransactionSpace::open(std::string_view from_placement,
                                                                std::string& end) {
  if (from_placement > placement_) return nullptr;
  end = placement_ + '\0';
  return std::make_unique<TransactionView>(transaction_, placement_, body_of_);
}

}  // namespace orrery::cluster
