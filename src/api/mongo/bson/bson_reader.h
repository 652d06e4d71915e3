// Reads the bytes of BSON into nodes, in place: nodes point into the bytes. See bson_codec.h for
// what is refused. Private to this folder.
//
// One thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "api/mongo/bson/bson_writer.h"
#include "value/document.h"

namespace orrery::mongo {

// A document's length and the byte 00 at its end.
inline constexpr size_t kMinDocumentBytes = 5;

// Reads from the start of what is left.
class BsonReader {
 public:
  explicit BsonReader(value::NodeArena& nodes) : nodes_(nodes) {}

  // A document's or an array's members; `bytes` is all of it. False: error() says why.
  bool read_members(std::string_view bytes, value::Node& parent, int depth);
  // One value, at the front of `rest`, which is moved behind it.
  bool read_value(ElementType type, std::string_view& rest, value::Node& node, int depth);
  std::string take_error() { return std::move(error_); }

 private:
  bool wrong(std::string message) {
    error_ = std::move(message);
    return false;
  }
  bool read_number(ElementType type, std::string_view& rest, value::Node& node);
  bool read_binary(std::string_view& rest, value::Node& node);
  bool read_regex(std::string_view& rest, value::Node& node);
  bool read_pointer(std::string_view& rest, value::Node& node);
  bool read_scoped_code(std::string_view& rest, value::Node& node, int depth);
  bool take(std::string_view& rest, size_t size, std::string_view& taken) {
    if (rest.size() < size) return wrong("a value ends beyond its document");
    taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return true;
  }
  bool take_cstring(std::string_view& rest, std::string_view& taken);
  bool take_string(std::string_view& rest, std::string_view& taken);
  bool take_document(std::string_view& rest, std::string_view& taken);
  bool check_names(const value::Node& object);

  value::NodeArena& nodes_;
  std::string error_;
};

}  // namespace orrery::mongo
