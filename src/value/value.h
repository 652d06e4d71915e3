// A value: of an expression, of a property of an item. One of the types of type.h.
//
// A Value is 32 bytes and cheap to copy. It either borrows (a view into a document or a query text,
// valid while that lives) or shares what it owns, which is immutable. `to_owned` gives a copy
// that outlives everything it was made from. Values are not changed after they are made, so they
// may be read from several threads. What they own is counted on the thread that makes it
// (base/budget.h).
//
// Parts are shared, so a value that takes little memory can print as a very large text: [x, x]
// where x is [y, y], and so on. Whoever builds values in a query checks written_bytes(), which is
// O(1).
//
// Values have two orders, which type.h declares; each is total. `==` and `<=>` are those of
// ValueOrder::json: undefined < null < false < true < numbers < strings < arrays < objects < what
// JSON does not have, and the order of an object's members does not count. What is equal in the
// typed order is equal in this one too, so the hash is good for both.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "value/json.h"
#include "value/type.h"

namespace orrery::value {

struct ExactNumber;  // number.h

class Value {
 public:
  struct Field;   // a member of an owned object
  struct Member;  // what iterating over an object gives
  class Elements;
  class Members;

  Value() = default;  // undefined

  // Borrows from the node's document.
  static Value from(const Node& node) { return from(node, nullptr); }
  static Value from(const Node* node) { return node == nullptr ? Value() : from(*node); }
  // Shares the document.
  static Value make_document(JsonDocument document);
  static Value make_document(Document document);
  static Value make_null();
  static Value make_bool(bool boolean);
  static Value make_number(double number);
  static Value make_string(std::string text);
  static Value borrow_string(std::string_view text);
  // Elements and members that are undefined are left out, as the language does. Of members with
  // the same name the last one counts.
  static Value make_array(std::vector<Value> elements);
  static Value make_object(std::vector<Field> fields);
  // What JSON does not have. Bytes are as in type.h; a decimal has kDecimalBytes of them.
  static Value make_integer(int64_t integer, NumberKind kind = NumberKind::int64);
  static Value make_decimal(std::string bytes);
  static Value borrow_decimal(std::string_view bytes);
  static Value make_date(Date date);
  static Value make_timestamp(uint64_t bits);
  static Value make_bytes(Type type, std::string bytes, uint8_t subtype = 0);
  static Value borrow_bytes(Type type, std::string_view bytes, uint8_t subtype = 0);
  static Value make_min_key();
  static Value make_max_key();

  Type type() const { return type_; }
  bool is_undefined() const { return type_ == Type::undefined; }
  bool is_null() const { return type_ == Type::null; }
  bool is_bool() const { return type_ == Type::boolean; }
  bool is_number() const { return type_ == Type::number; }
  bool is_string() const { return type_ == Type::string; }
  bool is_array() const { return type_ == Type::array; }
  bool is_object() const { return type_ == Type::object; }
  bool is_true() const { return type_ == Type::boolean && detail_ != 0; }
  bool is_false() const { return type_ == Type::boolean && detail_ == 0; }

  // Each asserts its type.
  bool boolean() const;
  double number() const;  // of other kinds than `real` the nearest double
  NumberKind number_kind() const;
  int64_t integer() const;           // of the kinds int32 and int64
  std::string_view decimal() const;  // of the kind decimal
  ExactNumber exact_number() const;
  std::string_view text() const;
  // Of the types that are bytes: binary, object_id, guid, regex, code.
  std::string_view bytes() const;
  uint8_t subtype() const { return has_bytes() ? detail_ : 0; }
  bool has_bytes() const;
  Date date() const;
  uint64_t timestamp() const;

  // Elements or members; 0 for scalars.
  size_t size() const { return is_array() || is_object() ? count_ : 0; }
  // Undefined when it is not there, or when this is no object (no array).
  Value find(std::string_view name) const;
  Value at(size_t index) const;
  // Empty when this is no array (no object). They and the names they give live as long as this.
  Elements elements() const;
  Members members() const;

  bool operator==(const Value& other) const;
  std::strong_ordering operator<=>(const Value& other) const;
  // Equal values have equal hashes. For tables only: they differ from run to run
  // (base/keyed_hash.h).
  uint64_t hash() const;

  // As JavaScript would print it. A part of a JSON document is printed as it was written, minified.
  // Undefined prints nothing. What JSON does not have (value_json.cc) is printed for people to
  // read: numbers with all their digits, the rest as strings.
  void append_json(std::string& out) const;
  // The same, until `out` has about so many bytes; false when there is more.
  bool append_json(std::string& out, size_t most) const;
  std::string to_json() const;
  // Estimated size of append_json()'s output, which is also the cost of a walk over the value.
  // O(1).
  size_t written_bytes() const;

  Value to_owned() const;
  // Estimated memory of this value, itself included, as if nothing of it were shared: for limits.
  // O(1).
  size_t memory() const;

 private:
  struct Text;
  struct SharedDocument;
  struct Array;
  struct Object;

  static Value from(const Node& node, const std::shared_ptr<const void>& owner);
  bool is_owned() const;
  // Members in the order of their names.
  std::vector<Member> sorted_members() const;

  // Whether what it is worth is in text_ and count_: strings, decimals, and what has_bytes().
  bool is_in_text() const;
  void append_typed_json(std::string& out) const;
  static std::strong_ordering compare_numbers(const Value& a, const Value& b);
  static std::strong_ordering compare_elements(const Value& a, const Value& b, ValueOrder order);
  static std::strong_ordering compare_members_by_name(const Value& a, const Value& b);
  static std::strong_ordering compare_members_in_place(const Value& a, const Value& b);
  friend std::strong_ordering compare(const Value& a, const Value& b, ValueOrder order);

  Type type_ = Type::undefined;
  uint8_t detail_ = 0;      // a boolean's value, a number's NumberKind, the subtype of bytes
  bool from_node_ = false;  // for arrays and objects: node_, else array_ or object_
  // Bytes of what is in text_, elements, members; a date's ticks; of an integer what is to be added
  // to number_, signed.
  uint32_t count_ = 0;
  union {
    double number_ = 0;
    int64_t integer_;  // a date's milliseconds, a timestamp
    const char* text_;
    const Node* node_;
    const Array* array_;
    const Object* object_;
  };
  std::shared_ptr<const void> owner_;  // null when borrowed
};

struct Value::Field {
  Value name;  // a string
  Value value;
};

struct Value::Member {
  std::string_view name;
  Value value;
};

class Value::Elements {
 public:
  class Iterator {
   public:
    Iterator(const Value& array, bool end);
    Value operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const {
      return node_ == other.node_ && index_ == other.index_;
    }

   private:
    const Value* array_;
    const Node* node_ = nullptr;
    size_t index_ = 0;
  };
  explicit Elements(const Value& array) : array_(&array) {}
  Iterator begin() const { return {*array_, false}; }
  Iterator end() const { return {*array_, true}; }

 private:
  const Value* array_;
};

class Value::Members {
 public:
  class Iterator {
   public:
    Iterator(const Value& object, bool end);
    Member operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const {
      return node_ == other.node_ && index_ == other.index_;
    }

   private:
    const Value* object_;
    const Node* node_ = nullptr;
    size_t index_ = 0;
  };
  explicit Members(const Value& object) : object_(&object) {}
  Iterator begin() const { return {*object_, false}; }
  Iterator end() const { return {*object_, true}; }

 private:
  const Value* object_;
};

// Compares in the given order.
std::strong_ordering compare(const Value& a, const Value& b, ValueOrder order);

inline Value::Elements Value::elements() const {
  return Elements(*this);
}
inline Value::Members Value::members() const {
  return Members(*this);
}

}  // namespace orrery::value
