// The value of an expression: one of the JSON types, or undefined.
//
// A Value is 32 bytes and cheap to copy. It either borrows (a view into a JsonDocument or a query
// text, valid while that lives) or shares what it owns, which is immutable. `to_owned` gives a copy
// that outlives everything it was made from. Values are not changed after they are made, so they
// may be read from several threads. What they own is counted on the thread that makes it
// (base/budget.h).
//
// Parts are shared, so a small value can be a large text: [x, x] of [y, y] of … Whoever makes
// values from a query's words looks at written_bytes(), which does not have to walk over them.
//
// Equality is deep; the order of an object's members does not count. The order over all values is
// undefined < null < false < true < numbers < strings < arrays < objects; strings compare by code
// point (which is what comparing UTF-8 bytes does); arrays element by element; objects by their
// members in the order of their names. NaN comes before all other numbers and equals itself, and
// -0 equals 0, so that equality, order and hash agree with one another.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "value/json.h"

namespace orrery::value {

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
  static Value make_null();
  static Value make_bool(bool boolean);
  static Value make_number(double number);
  static Value make_string(std::string text);
  static Value borrow_string(std::string_view text);
  // Elements and members that are undefined are left out, as the language does. Of members with
  // the same name the last one counts.
  static Value make_array(std::vector<Value> elements);
  static Value make_object(std::vector<Field> fields);

  Type type() const { return type_; }
  bool is_undefined() const { return type_ == Type::undefined; }
  bool is_null() const { return type_ == Type::null; }
  bool is_bool() const { return type_ == Type::boolean; }
  bool is_number() const { return type_ == Type::number; }
  bool is_string() const { return type_ == Type::string; }
  bool is_array() const { return type_ == Type::array; }
  bool is_object() const { return type_ == Type::object; }
  bool is_true() const { return type_ == Type::boolean && boolean_; }
  bool is_false() const { return type_ == Type::boolean && !boolean_; }

  // Each asserts its type.
  bool boolean() const;
  double number() const;
  std::string_view text() const;

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

  // As JavaScript would print it. A part of a document is printed as it was written, minified.
  // Undefined prints nothing.
  void append_json(std::string& out) const;
  // The same, until `out` has about so many bytes; false when there is more.
  bool append_json(std::string& out, size_t most) const;
  std::string to_json() const;
  // About how many bytes that takes, and walking over all of it, too. Known at once.
  size_t written_bytes() const;

  Value to_owned() const;
  // Bytes that this keeps in memory, itself included, if nothing of it is shared: an estimate for
  // limits. Known at once.
  size_t memory() const;

 private:
  struct Text;
  struct Document;
  struct Array;
  struct Object;

  static Value from(const Node& node, const std::shared_ptr<const void>& owner);
  bool is_owned() const;
  // Members in the order of their names.
  std::vector<Member> sorted_members() const;

  Type type_ = Type::undefined;
  bool boolean_ = false;
  bool from_node_ = false;  // for arrays and objects: node_, else array_ or object_
  uint32_t count_ = 0;      // bytes of a string, elements, members
  union {
    double number_ = 0;
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

inline Value::Elements Value::elements() const {
  return Elements(*this);
}
inline Value::Members Value::members() const {
  return Members(*this);
}

}  // namespace orrery::value
