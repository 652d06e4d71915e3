// See value.h.
#include "value/value.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "base/budget.h"
#include "base/keyed_hash.h"

namespace orrery::value {

namespace {

uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93;
  x ^= x >> 32;
  return x;
}

// Secret, so that the hash of a value without texts is as hard to foresee as that of one with them.
uint64_t hash_of_type(Type type) {
  static const auto hashes = [] {
    std::array<uint64_t, static_cast<size_t>(Type::object) + 1> made;
    for (size_t i = 0; i < made.size(); ++i) made[i] = keyed_hash(std::to_string(i));
    return made;
  }();
  return hashes[static_cast<size_t>(type)];
}

std::strong_ordering compare_numbers(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(b) <=> std::isnan(a);
  return a < b   ? std::strong_ordering::less
         : a > b ? std::strong_ordering::greater
                 : std::strong_ordering::equal;
}

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

// What is shared. Sums stay below what would overflow: text is bounded by memory, and what is made
// of shared parts by who makes it.

namespace {

constexpr size_t kShareBytes = 48;  // of the counter of references, and of the allocations
constexpr size_t kNodesMin = 8;     // that a document has room for, whatever is in it
constexpr size_t kScalarWritten = 8;

size_t sum(size_t a, size_t b) {
  return a > std::numeric_limits<size_t>::max() - b ? std::numeric_limits<size_t>::max() : a + b;
}

}  // namespace

struct Value::Text {
  explicit Text(std::string given) : text(std::move(given)), counted(kShareBytes + text.size()) {}
  const std::string text;
  const CountedBytes counted;
};

struct Value::Document {
  explicit Document(JsonDocument given)
      : document(std::move(given)), counted(kShareBytes + document.memory()) {}
  const JsonDocument document;
  const CountedBytes counted;
};

struct Value::Array {
  explicit Array(std::vector<Value> given)
      : elements(std::move(given)), counted(kShareBytes + elements.capacity() * sizeof(Value)) {
    for (const Value& element : elements) {
      memory = sum(memory, element.memory());
      written = sum(sum(written, 1), element.written_bytes());
      is_owned = is_owned && element.is_owned();
    }
  }
  const std::vector<Value> elements;
  const CountedBytes counted;
  size_t memory = sizeof(Value);
  size_t written = 2;
  bool is_owned = true;
};

struct Value::Object {
  explicit Object(std::vector<Field> given)
      : fields(std::move(given)), counted(kShareBytes + fields.capacity() * sizeof(Field)) {
    for (const Field& field : fields) {
      memory = sum(sum(memory, field.name.memory()), field.value.memory());
      written = sum(sum(written, field.name.written_bytes() + 2), field.value.written_bytes());
      is_owned = is_owned && field.name.is_owned() && field.value.is_owned();
    }
  }
  const std::vector<Field> fields;
  const CountedBytes counted;
  size_t memory = sizeof(Value);
  size_t written = 2;
  bool is_owned = true;
};

Value Value::from(const Node& node, const std::shared_ptr<const void>& owner) {
  Value value;
  value.type_ = node.type;
  switch (node.type) {
    case Type::undefined:
    case Type::null:
      break;
    case Type::boolean:
      value.boolean_ = node.boolean;
      break;
    case Type::number:
      value.number_ = node.number;
      break;
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
  const auto shared = std::make_shared<const Document>(std::move(document));
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
  value.boolean_ = boolean;
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
  return boolean_;
}

double Value::number() const {
  assert(is_number());
  return number_;
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

bool Value::operator==(const Value& other) const {
  if (type_ != other.type_) return false;
  switch (type_) {
    case Type::undefined:
    case Type::null:
      return true;
    case Type::boolean:
      return boolean_ == other.boolean_;
    case Type::number:
      return compare_numbers(number_, other.number_) == 0;
    case Type::string:
      return text() == other.text();
    case Type::array: {
      if (count_ != other.count_) return false;
      auto theirs = other.elements().begin();
      for (const Value& mine : elements()) {
        if (mine != *theirs) return false;
        ++theirs;
      }
      return true;
    }
    case Type::object:
      if (count_ != other.count_) return false;
      if (count_ > kMaxPairwiseNames) return (*this <=> other) == 0;
      for (const Member& mine : members()) {
        if (mine.value != other.find(mine.name)) return false;
      }
      return true;
  }
  return false;
}

std::strong_ordering Value::operator<=>(const Value& other) const {
  if (type_ != other.type_) return type_ <=> other.type_;
  switch (type_) {
    case Type::undefined:
    case Type::null:
      return std::strong_ordering::equal;
    case Type::boolean:
      return boolean_ <=> other.boolean_;
    case Type::number:
      return compare_numbers(number_, other.number_);
    case Type::string:
      return text() <=> other.text();
    case Type::array: {
      auto mine = elements().begin();
      auto theirs = other.elements().begin();
      for (size_t left = std::min(count_, other.count_); left > 0; --left, ++mine, ++theirs) {
        if (const auto order = *mine <=> *theirs; order != 0) return order;
      }
      return count_ <=> other.count_;
    }
    case Type::object: {
      const std::vector<Member> mine = sorted_members();
      const std::vector<Member> theirs = other.sorted_members();
      for (size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i) {
        if (const auto order = mine[i].name <=> theirs[i].name; order != 0) return order;
        if (const auto order = mine[i].value <=> theirs[i].value; order != 0) return order;
      }
      return mine.size() <=> theirs.size();
    }
  }
  return std::strong_ordering::equal;
}

std::vector<Value::Member> Value::sorted_members() const {
  std::vector<Member> sorted;
  sorted.reserve(count_);
  for (Member member : members()) sorted.push_back(std::move(member));
  std::ranges::sort(sorted, {}, &Member::name);
  return sorted;
}

uint64_t Value::hash() const {
  uint64_t hash = hash_of_type(type_);
  switch (type_) {
    case Type::undefined:
    case Type::null:
      break;
    case Type::boolean:
      hash += boolean_ ? 1 : 0;
      break;
    case Type::number: {
      double number = number_ == 0 ? 0 : number_;
      if (std::isnan(number)) number = std::numeric_limits<double>::quiet_NaN();
      const auto bytes = std::bit_cast<std::array<char, sizeof(number)>>(number);
      hash ^= keyed_hash({bytes.data(), bytes.size()});
      break;
    }
    case Type::string:
      hash ^= keyed_hash(text());
      break;
    case Type::array:
      for (const Value& element : elements()) hash = mix(hash) + element.hash();
      break;
    case Type::object:
      // A sum, since the order of the members does not count.
      for (const Member& member : members()) {
        hash += mix(keyed_hash(member.name) + mix(member.value.hash()));
      }
      break;
  }
  return mix(hash);
}

void Value::append_json(std::string& out) const {
  append_json(out, std::numeric_limits<size_t>::max());
}

bool Value::append_json(std::string& out, size_t most) const {
  if (out.size() > most) return false;
  switch (type_) {
    case Type::undefined:
      return true;
    case Type::null:
      out.append("null");
      return true;
    case Type::boolean:
      out.append(boolean_ ? "true" : "false");
      return true;
    case Type::number:
      append_json_number(out, number_);
      return true;
    case Type::string:
      if (count_ > most - out.size()) return false;
      append_json_string(out, text());
      return true;
    case Type::array:
    case Type::object:
      break;
  }
  if (from_node_) {
    if (node_->raw.size() > most - out.size()) return false;
    out.append(node_->raw);
    return true;
  }
  char separator = is_array() ? '[' : '{';
  const char close = is_array() ? ']' : '}';
  if (count_ == 0) out.push_back(separator);
  if (is_array()) {
    for (const Value& element : array_->elements) {
      out.push_back(std::exchange(separator, ','));
      if (!element.append_json(out, most)) return false;
    }
  } else {
    for (const Field& field : object_->fields) {
      out.push_back(std::exchange(separator, ','));
      if (!field.name.append_json(out, most)) return false;
      out.push_back(':');
      if (!field.value.append_json(out, most)) return false;
    }
  }
  out.push_back(close);
  return out.size() <= most;
}

std::string Value::to_json() const {
  std::string out;
  append_json(out);
  return out;
}

bool Value::is_owned() const {
  switch (type_) {
    case Type::undefined:
    case Type::null:
    case Type::boolean:
    case Type::number:
      return true;
    case Type::string:
      return owner_ != nullptr || count_ == 0;
    case Type::array:
      return from_node_ ? owner_ != nullptr : array_->is_owned;
    case Type::object:
      return from_node_ ? owner_ != nullptr : object_->is_owned;
  }
  return true;
}

Value Value::to_owned() const {
  if (is_owned()) return *this;
  if (is_string()) return make_string(std::string(text()));
  if (from_node_) {
    // The text of a node is always right, so parsing it cannot fail.
    Result<JsonDocument> copy = JsonDocument::parse(node_->raw);
    assert(copy.has_value());
    return copy.has_value() ? make_document(*std::move(copy)) : Value();
  }
  if (is_array()) {
    std::vector<Value> copy;
    copy.reserve(count_);
    for (const Value& element : array_->elements) copy.push_back(element.to_owned());
    return make_array(std::move(copy));
  }
  std::vector<Field> copy;
  copy.reserve(count_);
  for (const Field& field : object_->fields) {
    copy.push_back({.name = field.name.to_owned(), .value = field.value.to_owned()});
  }
  return make_object(std::move(copy));
}

size_t Value::memory() const {
  if (is_string()) return sizeof(Value) + kShareBytes + count_;
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
  if (!is_array() && !is_object()) return kScalarWritten;
  if (from_node_) return node_->raw.size();
  return is_array() ? array_->written : object_->written;
}

}  // namespace orrery::value
