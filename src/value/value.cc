// See value.h.
#include "value/value.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <utility>

#include "base/keyed_hash.h"
#include "value/number.h"
#include "value/value_parts.h"

namespace orrery::value {

namespace {

// Up to here names are compared pair by pair.
constexpr size_t kMaxPairwiseNames = 16;

bool has_duplicates(const std::vector<Value::Field>& fields) {
  if (fields.size() > kMaxPairwiseNames) {
    KeyedSet<std::string_view> names;
    return !std::ranges::all_of(
        fields, [&](const Value::Field& field) { return names.insert(field.name.text()).second; });
  }
  for (size_t i = 1; i < fields.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (fields[i].name.text() == fields[j].name.text()) return true;
    }
  }
  return false;
}

// The last value of each name, in the place of the first.
void keep_last_of_each(std::vector<Value::Field>& fields) {
  KeyedMap<std::string_view, size_t> places;
  std::vector<Value::Field> kept;
  for (const Value::Field& field : fields) {
    const auto [place, is_new] = places.try_emplace(field.name.text(), kept.size());
    if (is_new) {
      kept.push_back(field);
    } else {
      kept[place->second].value = field.value;
    }
  }
  fields = std::move(kept);
}

}  // namespace

Value Value::from(const Node& node, const std::shared_ptr<const void>& owner) {
  Value value;
  value.type_ = node.type;
  switch (node.type) {
    case Type::undefined:
    case Type::null:
      break;
    case Type::boolean:
      value.detail_ = node.boolean ? 1 : 0;
      break;
    case Type::number:
      value.detail_ = node.detail;
      if (node.detail == static_cast<uint8_t>(NumberKind::decimal)) {
        value.text_ = node.text.data();
        value.count_ = kDecimalBytes;
        value.owner_ = owner;
      } else {
        value.number_ = node.number;
        value.count_ = node.count;
      }
      break;
    case Type::date:
    case Type::timestamp:
      value.integer_ = node.integer;
      value.count_ = node.count;
      break;
    case Type::min_key:
    case Type::max_key:
      break;
    case Type::binary:
    case Type::object_id:
    case Type::guid:
    case Type::regex:
    case Type::code:
      value.detail_ = node.detail;
      [[fallthrough]];
    case Type::string:
      value.text_ = node.text.data();
      value.count_ = static_cast<uint32_t>(node.text.size());
      value.owner_ = owner;
      break;
    case Type::array:
    case Type::object:
      value.from_node_ = true;
      value.node_ = &node;
      value.count_ = node.count;
      value.owner_ = owner;
      break;
  }
  return value;
}

Value Value::make_document(JsonDocument document) {
  return make_document(std::move(document).to_document());
}

Value Value::make_document(Document document) {
  const auto shared = std::make_shared<const SharedDocument>(std::move(document));
  return from(shared->document.root(), shared);
}

Value Value::make_null() {
  Value value;
  value.type_ = Type::null;
  return value;
}

Value Value::make_bool(bool boolean) {
  Value value;
  value.type_ = Type::boolean;
  value.detail_ = boolean ? 1 : 0;
  return value;
}

Value Value::make_number(double number) {
  Value value;
  value.type_ = Type::number;
  value.number_ = number;
  return value;
}

Value Value::make_string(std::string text) {
  const auto shared = std::make_shared<const Text>(std::move(text));
  Value value = borrow_string(shared->text);
  value.owner_ = shared;
  return value;
}

Value Value::borrow_string(std::string_view text) {
  assert(text.size() <= std::numeric_limits<uint32_t>::max());
  Value value;
  value.type_ = Type::string;
  value.text_ = text.data();
  value.count_ = static_cast<uint32_t>(text.size());
  return value;
}

Value Value::make_integer(int64_t integer, NumberKind kind) {
  assert(kind == NumberKind::int64 || kind == NumberKind::int32);
  const SplitInteger parts = split_integer(integer);
  Value value = make_number(parts.nearest);
  value.detail_ = static_cast<uint8_t>(kind);
  value.count_ = static_cast<uint32_t>(parts.rest);
  return value;
}

Value Value::borrow_decimal(std::string_view bytes) {
  assert(bytes.size() == kDecimalBytes);
  Value value = borrow_string(bytes);
  value.type_ = Type::number;
  value.detail_ = static_cast<uint8_t>(NumberKind::decimal);
  return value;
}

Value Value::make_decimal(std::string bytes) {
  const auto shared = std::make_shared<const Text>(std::move(bytes));
  Value value = borrow_decimal(shared->text);
  value.owner_ = shared;
  return value;
}

Value Value::make_date(Date date) {
  assert(date.ticks < kTicksInMs);
  Value value;
  value.type_ = Type::date;
  value.integer_ = date.ms;
  value.count_ = date.ticks;
  return value;
}

Value Value::make_timestamp(uint64_t bits) {
  Value value;
  value.type_ = Type::timestamp;
  value.integer_ = std::bit_cast<int64_t>(bits);
  return value;
}

Value Value::borrow_bytes(Type type, std::string_view bytes, uint8_t subtype) {
  Value value = borrow_string(bytes);
  value.type_ = type;
  value.detail_ = subtype;
  assert(value.has_bytes());
  return value;
}

Value Value::make_bytes(Type type, std::string bytes, uint8_t subtype) {
  const auto shared = std::make_shared<const Text>(std::move(bytes));
  Value value = borrow_bytes(type, shared->text, subtype);
  value.owner_ = shared;
  return value;
}

Value Value::make_min_key() {
  Value value;
  value.type_ = Type::min_key;
  return value;
}

Value Value::make_max_key() {
  Value value;
  value.type_ = Type::max_key;
  return value;
}

Value Value::make_array(std::vector<Value> elements) {
  std::erase_if(elements, [](const Value& element) { return element.is_undefined(); });
  const auto shared = std::make_shared<const Array>(std::move(elements));
  Value value;
  value.type_ = Type::array;
  value.array_ = shared.get();
  value.count_ = static_cast<uint32_t>(shared->elements.size());
  value.owner_ = shared;
  return value;
}

Value Value::make_object(std::vector<Field> fields) {
  std::erase_if(fields, [](const Field& field) { return field.value.is_undefined(); });
  if (has_duplicates(fields)) keep_last_of_each(fields);
  const auto shared = std::make_shared<const Object>(std::move(fields));
  Value value;
  value.type_ = Type::object;
  value.object_ = shared.get();
  value.count_ = static_cast<uint32_t>(shared->fields.size());
  value.owner_ = shared;
  return value;
}

bool Value::boolean() const {
  assert(is_bool());
  return detail_ != 0;
}

double Value::number() const {
  assert(is_number());
  if (number_kind() != NumberKind::decimal) return number_;
  return ExactNumber::of_decimal(decimal()).nearest;
}

NumberKind Value::number_kind() const {
  assert(is_number());
  return static_cast<NumberKind>(detail_);
}

int64_t Value::integer() const {
  assert(number_kind() == NumberKind::int32 || number_kind() == NumberKind::int64);
  return join_integer({number_, static_cast<int32_t>(count_)});
}

std::string_view Value::decimal() const {
  assert(number_kind() == NumberKind::decimal);
  return {text_, count_};
}

bool Value::has_bytes() const {
  switch (type_) {
    case Type::binary:
    case Type::object_id:
    case Type::guid:
    case Type::regex:
    case Type::code:
      return true;
    default:
      return false;
  }
}

bool Value::is_in_text() const {
  return is_string() || has_bytes() || (is_number() && number_kind() == NumberKind::decimal);
}

std::string_view Value::bytes() const {
  assert(has_bytes());
  return {text_, count_};
}

Date Value::date() const {
  assert(type_ == Type::date);
  return {integer_, count_};
}

uint64_t Value::timestamp() const {
  assert(type_ == Type::timestamp);
  return std::bit_cast<uint64_t>(integer_);
}

std::string_view Value::text() const {
  assert(is_string());
  return {text_, count_};
}

Value Value::find(std::string_view name) const {
  if (!is_object()) return {};
  if (from_node_) {
    const Node* const member = node_->find(name);
    return member == nullptr ? Value() : from(*member, owner_);
  }
  for (const Field& field : object_->fields) {
    if (field.name.text() == name) return field.value;
  }
  return {};
}

Value Value::at(size_t index) const {
  if (!is_array() || index >= count_) return {};
  if (!from_node_) return array_->elements[index];
  const Node* element = node_->first;
  while (index-- > 0) element = element->next;
  return from(*element, owner_);
}

Value::Elements::Iterator::Iterator(const Value& array, bool end) : array_(&array) {
  if (!array.is_array()) return;
  if (array.from_node_) {
    if (!end) node_ = array.node_->first;
  } else if (end) {
    index_ = array.count_;
  }
}

Value Value::Elements::Iterator::operator*() const {
  return node_ != nullptr ? from(*node_, array_->owner_) : array_->array_->elements[index_];
}

Value::Elements::Iterator& Value::Elements::Iterator::operator++() {
  if (node_ != nullptr) {
    node_ = node_->next;
  } else {
    ++index_;
  }
  return *this;
}

Value::Members::Iterator::Iterator(const Value& object, bool end) : object_(&object) {
  if (!object.is_object()) return;
  if (object.from_node_) {
    if (!end) node_ = object.node_->first;
  } else if (end) {
    index_ = object.count_;
  }
}

Value::Member Value::Members::Iterator::operator*() const {
  if (node_ != nullptr) return {.name = node_->name, .value = from(*node_, object_->owner_)};
  const Field& field = object_->object_->fields[index_];
  return {.name = field.name.text(), .value = field.value};
}

Value::Members::Iterator& Value::Members::Iterator::operator++() {
  if (node_ != nullptr) {
    node_ = node_->next;
  } else {
    ++index_;
  }
  return *this;
}

bool Value::is_owned() const {
  if (is_in_text()) return owner_ != nullptr || count_ == 0;
  if (is_array()) return from_node_ ? owner_ != nullptr : array_->is_owned;
  if (is_object()) return from_node_ ? owner_ != nullptr : object_->is_owned;
  return true;
}

Value Value::to_owned() const {
  if (is_owned()) return *this;
  if (is_string()) return make_string(std::string(text()));
  if (is_in_text()) {
    const auto shared = std::make_shared<const Text>(std::string(text_, count_));
    Value copy = *this;
    copy.text_ = shared->text.data();
    copy.owner_ = shared;
    return copy;
  }
  if (from_node_ && node_->is_json) {
    // The text of a node is always right, so parsing it cannot fail.
    Result<JsonDocument> copy = JsonDocument::parse(node_->raw);
    assert(copy.has_value());
    return copy.has_value() ? make_document(*std::move(copy)) : Value();
  }
  if (is_array()) {
    std::vector<Value> copy;
    copy.reserve(count_);
    for (const Value& element : elements()) copy.push_back(element.to_owned());
    return make_array(std::move(copy));
  }
  std::vector<Field> copy;
  copy.reserve(count_);
  if (from_node_) {
    for (const Member& member : members()) {
      copy.push_back(
          {.name = make_string(std::string(member.name)), .value = member.value.to_owned()});
    }
  } else {
    for (const Field& field : object_->fields) {
      copy.push_back({.name = field.name.to_owned(), .value = field.value.to_owned()});
    }
  }
  return make_object(std::move(copy));
}

size_t Value::memory() const {
  if (is_in_text()) return sizeof(Value) + kShareBytes + count_;
  if (!is_array() && !is_object()) return sizeof(Value);
  if (from_node_) {
    // The text, and a node for about every eight characters of it.
    const size_t nodes = std::max<size_t>({node_->raw.size() / 8, count_, kNodesMin});
    return sizeof(Value) + kShareBytes + node_->raw.size() + nodes * sizeof(Node);
  }
  return is_array() ? array_->memory : object_->memory;
}

size_t Value::written_bytes() const {
  if (is_string()) return count_ + size_t{2};
  if (is_in_text()) return kScalarWritten + count_ * size_t{2};
  if (!is_array() && !is_object()) return kScalarWritten;
  if (from_node_) return node_->raw.size();
  return is_array() ? array_->written : object_->written;
}

}  // namespace orrery::value
