// See select_members.h.
#include "api/mongo/bson/select_members.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "api/mongo/bson/bson_reader.h"
#include "base/bytes.h"

namespace orrery::mongo {
namespace {

constexpr size_t kLengthBytes = 4;
// So many documents share memory for their nodes, unless they need much.
constexpr size_t kSharing = 32;
constexpr size_t kNodeBytesMax = size_t{64} << 10;
// What an arena is told to expect: some 4 members of each, in one piece that a core's cache keeps.
constexpr size_t kExpectedBytes = 2048;

// The size of what begins with a length: the length and `extra` bytes that it does not count.
std::optional<size_t> counted(std::string_view rest, size_t extra) {
  if (rest.size() < kLengthBytes) return std::nullopt;
  return size_t{load_u32_le(rest.data())} + extra;
}

// How many bytes at the front of `rest` are a value of this type.
std::optional<size_t> value_size(ElementType type, std::string_view rest) {
  switch (type) {
    case ElementType::undefined:
    case ElementType::null:
    case ElementType::max_key:
    case ElementType::min_key:
      return 0;
    case ElementType::boolean:
      return 1;
    case ElementType::int32:
      return 4;
    case ElementType::real:
    case ElementType::date:
    case ElementType::timestamp:
    case ElementType::int64:
      return 8;
    case ElementType::object_id:
      return 12;
    case ElementType::decimal:
      return 16;
    case ElementType::string:
    case ElementType::code:
    case ElementType::symbol:
      return counted(rest, kLengthBytes);
    case ElementType::document:
    case ElementType::array:
    case ElementType::scoped_code:
      return counted(rest, 0);
    case ElementType::binary:
      return counted(rest, kLengthBytes + 1);  // its subtype
    case ElementType::pointer:
      return counted(rest, kLengthBytes + 12);  // an ObjectId
    case ElementType::regex: {                  // two texts
      const size_t pattern = rest.find('\0');
      if (pattern == std::string_view::npos) return std::nullopt;
      const size_t options = rest.find('\0', pattern + 1);
      if (options == std::string_view::npos) return std::nullopt;
      return options + 1;
    }
  }
  return std::nullopt;
}

uint64_t size_bit(std::string_view name) {
  return uint64_t{1} << std::min<size_t>(name.size(), 63);
}

}  // namespace

MemberSelector::MemberSelector(std::vector<std::string> names) : names_(std::move(names)) {
  for (const std::string& name : names_) sizes_ |= size_bit(name);
}

// Most names that are not wanted are of another size than all that are.
bool MemberSelector::is_wanted(std::string_view name) const {
  return (sizes_ & size_bit(name)) != 0 && std::ranges::find(names_, name) != names_.end();
}

std::optional<value::Value> MemberSelector::select(std::string_view bson) {
  if (bson.size() < kMinDocumentBytes) return std::nullopt;
  if (!nodes_ || ++sharing_ == kSharing || nodes_->bytes() > kNodeBytesMax) {
    nodes_.emplace(kExpectedBytes);
    sharing_ = 0;
  }
  BsonReader reader(*nodes_);
  value::Node* const root = nodes_->add();
  root->type = value::Type::object;
  root->is_json = false;
  root->raw = bson;
  const value::Node** link = &root->first;
  std::string_view rest = bson.substr(kLengthBytes);
  while (root->count < names_.size()) {
    if (rest.empty()) return std::nullopt;
    if (rest.front() == '\0') break;
    // Names are short: a call of memchr costs more.
    size_t end = 1;
    while (end < rest.size() && rest[end] != '\0') ++end;
    if (end == rest.size()) return std::nullopt;
    const auto type = static_cast<ElementType>(rest.front());
    const std::string_view name = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    if (!is_wanted(name)) {
      const auto size = value_size(type, rest);
      if (!size || *size > rest.size()) return std::nullopt;
      rest.remove_prefix(*size);
      continue;
    }
    value::Node* const node = nodes_->add();
    node->is_json = false;
    node->name = name;
    const char* const start = rest.data();
    if (!reader.read_value(type, rest, *node, 1)) return std::nullopt;
    node->raw = {start, static_cast<size_t>(rest.data() - start)};
    *link = node;
    link = &node->next;
    ++root->count;
  }
  return value::Value::from(*root);
}

}  // namespace orrery::mongo
