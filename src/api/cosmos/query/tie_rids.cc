// See tie_rids.h.
#include "api/cosmos/query/tie_rids.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "api/cosmos/wire/rid.h"
#include "base/bytes.h"
#include "query/bind/vector_paths.h"
#include "query/parse/ast_forms.h"
#include "value/ordered.h"

namespace orrery::cosmos {
namespace {

using query::Direction;
using query::Expr;
using query::OrderItem;
using query::Select;

constexpr std::string_view kRowHead = "{\"_rid\":\"";
constexpr size_t kRidCharacters = 24;
constexpr size_t kHashBytes = 16;

// From there on, zeros after the end.
uint32_t four_bytes(std::string_view bytes, size_t at) {
  std::array<char, 4> four{};
  bytes.substr(std::min(at, bytes.size())).copy(four.data(), four.size());
  return load_u32_be(four.data());
}

// The upper bits of the effective partition key. Those of a hierarchical key are of two levels: a
// boundary may fall within the first.
uint32_t upper_bits(value::Placement placement, std::string_view key) {
  switch (placement) {
    case value::Placement::hash_v2:
      return four_bytes(key, 0);  // the top two bits are clear
    case value::Placement::multi_hash:
      return four_bytes(key, 0) >> 15 << 15 | four_bytes(key, kHashBytes) >> 15;
    case value::Placement::hash_v1:
      // After the mark of a number, the first byte of a double is the same for hashes from 2^17 on.
      return four_bytes(key, 0) >> 16 < 0x05C1 ? 0 : four_bytes(key, 2) >> 2;
    case value::Placement::range:
      break;
  }
  return four_bytes(key, 0) >> 2;
}

bool is_score_call(const Expr& expr) {
  return query::is_vector_distance(expr) || query::is_call(expr, "_FULLTEXTSCORE");
}

bool descends(const OrderItem& item) {
  return item.direction == Direction::descending;
}

}  // namespace

uint32_t TieRids::least(std::string_view item_key) const {
  const auto key = value::take_ordered_bytes(item_key);
  if (!key) return 0;
  const uint32_t bits = std::min(upper_bits(placement, *key), kTieLeastMax);
  return keys_descend ? kTieLeastMax - bits : bits;
}

void TieRids::write(std::string& row, uint32_t number) const {
  if (!row.starts_with(kRowHead) || row.size() <= kRowHead.size() + kRidCharacters ||
      row[kRowHead.size() + kRidCharacters] != '"') {
    return;
  }
  row.replace(kRowHead.size(), kRidCharacters,
              row_rid(database, container, reversed ? query::kTieNumberMax - number : number));
}

query::TieNumbering TieRids::numbering() const {
  return {.least = [rids = *this](std::string_view key) { return rids.least(key); },
          .write = [rids = *this](std::string& row, uint32_t number) { rids.write(row, number); }};
}

std::string TieRids::execution_info() const {
  return fmt::format(R"({{"reverseRidEnabled":false,"reverseIndexScan":{}}})", reversed);
}

std::optional<TieRids> tie_rids_of(const query::Query& query, value::Placement placement,
                                   uint32_t database, uint32_t container) {
  const Select& select = query.select;
  if (query.order_by.empty() || query.order_by_rank || !query.group_by.empty() || select.distinct ||
      select.kind != Select::Kind::list || select.items.size() != 3 ||
      select.items[1].alias != "orderByItems" || select.items[2].alias != "payload") {
    return std::nullopt;
  }
  const auto rid = query::make_member(query::make_identifier(root_alias(query)), "_rid");
  const bool shows_rid = select.items[0].alias.empty() && same(*select.items[0].expr, *rid);
  if (!shows_rid || is_score_call(*query.order_by[0].expr)) return std::nullopt;
  return TieRids{.database = database,
                 .container = container,
                 .placement = placement,
                 .keys_descend = descends(query.order_by[0]),
                 .reversed = std::ranges::any_of(query.order_by, descends)};
}

}  // namespace orrery::cosmos
