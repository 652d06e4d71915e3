// JSON text as a tree that can be walked.
//
// JsonDocument owns the minified text and the nodes; every view in a Node points into the document
// and lives as long as it (moving the document keeps them valid). Parsing checks everything:
// syntax, UTF-8, nesting depth, trailing bytes, and that no object names a property twice (the
// readers of such a text would disagree about what it says).
//
// Numbers are IEEE doubles, as in JavaScript; the text keeps every digit that was sent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::value {

// In the order in which values of different types sort.
enum class Type : uint8_t { undefined, null, boolean, number, string, array, object };

inline constexpr int kMaxJsonDepth = 128;

struct Node {
  Type type = Type::undefined;
  bool boolean = false;
  uint32_t count = 0;  // members or elements
  double number = 0;
  std::string_view text;        // a string's value, unescaped
  std::string_view name;        // the property's name if this is a member, unescaped
  std::string_view raw_name;    // the same as written, without its quotes
  std::string_view raw;         // the value as written (minified)
  const Node* first = nullptr;  // first member or element
  const Node* next = nullptr;   // next sibling

  // The member with this name, or null.
  const Node* find(std::string_view member) const;
};

class JsonDocument {
 public:
  static Result<JsonDocument> parse(std::string_view text);

  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();

  const Node& root() const;
  std::string_view text() const;  // minified
  size_t memory() const;          // bytes that it keeps

 private:
  struct Impl;
  explicit JsonDocument(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Appends `text` as a JSON string, quotes included.
void append_json_string(std::string& out, std::string_view text);
// Appends a number the way JavaScript prints it: shortest digits that read back the same.
void append_json_number(std::string& out, double number);

}  // namespace orrery::value
