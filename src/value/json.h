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
#include "value/document.h"

namespace orrery::value {

class JsonDocument {
 public:
  static Result<JsonDocument> parse(std::string_view text);

  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();

  const Node& root() const;
  std::string_view text() const;  // minified
  size_t memory() const;          // bytes that it keeps

  // The same nodes, for whoever need not know how they were encoded.
  Document to_document() &&;

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
