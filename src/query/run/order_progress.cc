// See order_progress.h.
#include "query/run/order_progress.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "value/ordered.h"

namespace orrery::query {
namespace {

constexpr char kAtStart = 'b';
constexpr char kByKey = 'k';
constexpr char kHasEnd = 'e';

std::string bytes_of(const std::optional<Fingerprint>& mark) {
  return mark ? std::string(mark->begin(), mark->end()) : std::string();
}

void append(std::string& gathered, const OrderProgress::Found& row) {
  value::append_ordered_bytes(gathered, row.key);
  value::append_ordered_bytes(gathered, std::to_string(row.number));
  value::append_ordered_bytes(gathered, bytes_of(row.mark));
}

// Takes one string after the other; after the first that is not there, all are empty.
class Strings {
 public:
  explicit Strings(std::string_view in) : in_(in) {}

  std::string text() {
    auto taken = value::take_ordered_bytes(in_);
    if (!taken) is_valid_ = false;
    return is_valid_ ? std::move(*taken) : std::string();
  }
  uint64_t number() {
    const std::string digits = text();
    uint64_t number = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end) is_valid_ = false;
    return number;
  }
  std::optional<Fingerprint> mark() {
    const std::string bytes = text();
    if (bytes.empty()) return std::nullopt;
    Fingerprint mark{};
    if (bytes.size() != mark.size()) {
      is_valid_ = false;
    } else {
      std::ranges::copy(bytes, mark.begin());
    }
    return mark;
  }
  bool is_over() const { return !is_valid_ || in_.empty(); }
  bool is_valid() const { return is_valid_; }

 private:
  std::string_view in_;
  bool is_valid_ = true;
};

}  // namespace

std::string encode(const OrderProgress& scan) {
  std::string gathered;
  const auto add = [&](std::string_view text) { value::append_ordered_bytes(gathered, text); };
  std::string flags;
  if (scan.at_start) flags += kAtStart;
  if (scan.by_key) flags += kByKey;
  if (scan.end) flags += kHasEnd;
  add(flags);
  add(scan.key);
  if (scan.end) {
    add(scan.end->key);
    add(std::to_string(scan.end->rows_of_it));
    add(scan.end->order);
    add(bytes_of(scan.end->order_mark));
    add(bytes_of(scan.end->result_mark));
  }
  for (const OrderProgress::Found& row : scan.found) append(gathered, row);
  return gathered;
}

size_t encoded_size(const OrderProgress::Found& row) {
  std::string bytes;
  append(bytes, row);
  return bytes.size();
}

Result<OrderProgress> decode_order_progress(std::string_view gathered) {
  Strings strings(gathered);
  OrderProgress scan;
  const std::string flags = strings.text();
  scan.at_start = flags.contains(kAtStart);
  scan.by_key = flags.contains(kByKey);
  scan.key = strings.text();
  if (flags.contains(kHasEnd)) {
    Position& end = scan.end.emplace();
    end.key = strings.text();
    end.rows_of_it = strings.number();
    end.order = strings.text();
    end.order_mark = strings.mark();
    end.result_mark = strings.mark();
  }
  while (!strings.is_over()) {
    OrderProgress::Found& row = scan.found.emplace_back();
    row.key = strings.text();
    row.number = strings.number();
    row.mark = strings.mark();
  }
  if (!strings.is_valid()) {
    return fail(Code::invalid, "the position does not hold a scan in order");
  }
  return scan;
}

}  // namespace orrery::query
