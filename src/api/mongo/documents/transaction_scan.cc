// See transaction_scan.h.
#include "api/mongo/documents/transaction_scan.h"

#include <algorithm>
#include <utility>

#include "api/mongo/call.h"
#include "partition/format.h"

namespace orrery::mongo {
namespace {

constexpr size_t kPageItems = 256;
constexpr size_t kPageBytes = 1 << 20;
// A collection that fits into the first batch of a cursor is given in the order in which its
// documents were made, as it is without a transaction.
constexpr size_t kFirstPage = 101;

std::optional<std::string> row_in(const std::string& key) {
  if (key.empty()) return std::nullopt;
  auto parsed = partition::parse_item_key(key);
  if (!parsed) return std::nullopt;
  return std::move(parsed->row);
}

}  // namespace

TransactionScan::TransactionScan(std::shared_ptr<PinnedReads> pinned, cluster::RoutingPtr routing,
                                 std::string placement, const ScanRange& range, bool is_natural)
    : pinned_(std::move(pinned)),
      routing_(std::move(routing)),
      placement_(std::move(placement)),
      is_natural_(is_natural),
      from_(row_in(range.from)),
      to_(row_in(range.to)) {}

Answer<void> TransactionScan::read_page() {
  auto reads = pinned_->reads(routing_, placement_);
  if (!reads) return pass(std::move(reads.error()));
  auto page = (*reads)->scan(placement_, after_ ? &*after_ : nullptr, kPageItems, kPageBytes);
  if (!page) return pinned_->read_error(page.error());
  page_ = std::move(*page);
  if (page_.last) after_ = page_.last->row;
  at_ = 0;
  return {};
}

Answer<void> TransactionScan::read_first_page() {
  is_begun_ = true;
  if (!from_) {
    if (auto read = read_page(); !read) return read;
    if (is_natural_ && !to_ && !page_.more && page_.items.size() <= kFirstPage) {
      // What the transaction has made itself comes last.
      std::ranges::sort(page_.items, {}, [](const auto& one) {
        const bool is_new = one.second.version.lsn == 0;
        return std::pair(is_new ? UINT64_MAX : one.second.origin.number,
                         std::string_view(one.first.row));
      });
    }
    return {};
  }
  auto first = pinned_->read(routing_, {placement_, *from_});
  if (!first) return pass(std::move(first.error()));
  after_ = from_;
  if (!*first) return read_page();
  page_.items.emplace_back(partition::ItemKey{placement_, *from_}, std::move(**first));
  at_ = 0;
  return {};
}

Answer<std::optional<std::string_view>> TransactionScan::next() {
  if (const auto error = pinned_->ended()) return pass(*error);
  if (!is_begun_) {
    if (auto read = read_first_page(); !read) return pass(std::move(read.error()));
  } else {
    ++at_;
  }
  while (at_ >= page_.items.size()) {
    if (!page_.more) return std::optional<std::string_view>();
    if (auto read = read_page(); !read) return pass(std::move(read.error()));
  }
  const auto& [key, item] = page_.items[at_];
  if (to_ && key.row >= *to_) {
    page_ = {};
    at_ = 0;
    return std::optional<std::string_view>();
  }
  ++items_;
  bytes_ += item.body.size();
  return std::string_view(item.body);
}

}  // namespace orrery::mongo
