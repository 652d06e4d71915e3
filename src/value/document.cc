// See document.h.
#include "value/document.h"

#include <bit>

#include "value/number.h"

namespace orrery::value {

const Node* Node::find(std::string_view member) const {
  if (type != Type::object) return nullptr;
  for (const Node* node = first; node != nullptr; node = node->next) {
    if (node->name == member) return node;
  }
  return nullptr;
}

void Node::set_integer(int64_t value, NumberKind kind) {
  const SplitInteger parts = split_integer(value);
  type = Type::number;
  detail = static_cast<uint8_t>(kind);
  number = parts.nearest;
  count = static_cast<uint32_t>(parts.rest);
}

void Node::set_decimal(std::string_view bytes) {
  type = Type::number;
  detail = static_cast<uint8_t>(NumberKind::decimal);
  number = ExactNumber::of_decimal(bytes).nearest;
  text = bytes;
}

void Node::set_date(Date date) {
  type = Type::date;
  integer = date.ms;
  count = date.ticks;
}

void Node::set_timestamp(uint64_t bits) {
  type = Type::timestamp;
  integer = std::bit_cast<int64_t>(bits);
}

void Node::set_bytes(Type bytes_type, std::string_view bytes, uint8_t subtype) {
  type = bytes_type;
  detail = subtype;
  text = bytes;
}

void NodeArena::grow() {
  const size_t bytes = next_size_ * sizeof(Node);
  bytes_ += bytes;
  chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
  free_ = chunks_.back().get();
  end_ = free_ + bytes;
  next_size_ = std::min(next_size_ * 2, kMaxNodesInChunk);
}

}  // namespace orrery::value
