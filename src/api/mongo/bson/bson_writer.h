// Writes BSON: documents and arrays, member by member, into one string. Answers are made with it,
// and values become bytes by it (append).
//
// Documents are opened and closed in pairs; the constructor opens the outermost one and take()
// closes it. Names must have no byte 00: what comes after one is left out. Not shared between
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"
#include "value/type.h"
#include "value/value.h"

namespace orrery::mongo {

// The types of elements, as bytes of the format.
enum class ElementType : uint8_t {
  real = 0x01,
  string = 0x02,
  document = 0x03,
  array = 0x04,
  binary = 0x05,
  undefined = 0x06,
  object_id = 0x07,
  boolean = 0x08,
  date = 0x09,
  null = 0x0A,
  regex = 0x0B,
  pointer = 0x0C,
  code = 0x0D,
  symbol = 0x0E,
  scoped_code = 0x0F,
  int32 = 0x10,
  timestamp = 0x11,
  int64 = 0x12,
  decimal = 0x13,
  max_key = 0x7F,
  min_key = 0xFF,
};

class BsonWriter {
 public:
  BsonWriter() { begin(); }

  BsonWriter& real(std::string_view name, double value);
  BsonWriter& int32(std::string_view name, int32_t value);
  BsonWriter& int64(std::string_view name, int64_t value);
  BsonWriter& boolean(std::string_view name, bool value);
  BsonWriter& string(std::string_view name, std::string_view value);
  BsonWriter& date(std::string_view name, int64_t ms);
  BsonWriter& timestamp(std::string_view name, uint64_t bits);
  BsonWriter& null(std::string_view name);
  BsonWriter& binary(std::string_view name, std::string_view bytes, uint8_t subtype = 0);
  BsonWriter& object_id(std::string_view name, std::string_view bytes);
  // A whole document, or a whole array, as bytes.
  BsonWriter& document(std::string_view name, std::string_view bytes);
  BsonWriter& array(std::string_view name, std::string_view bytes);
  // Nothing when it is undefined. False when it nests too deep or the bytes pass `most`: what is
  // written then is of no use.
  bool value(std::string_view name, const value::Value& value, size_t most, int depth = 1);
  // All members of an object, into the document that is open.
  bool members(const value::Value& object, size_t most, int depth = 1);

  BsonWriter& begin_document(std::string_view name);
  BsonWriter& begin_array(std::string_view name);
  BsonWriter& end();

  // Of the elements of an array that is open: their names are their numbers.
  class Index {
   public:
    std::string_view next();

   private:
    uint32_t next_ = 0;
    char text_[12] = {};
  };

  size_t size() const { return out_.size(); }
  // Closes the outermost document. Nothing may be added after it.
  std::string take();

 private:
  void begin();
  void number(std::string_view name, const value::Value& value);
  void code(std::string_view name, const value::Value& value);
  void head(ElementType type, std::string_view name);
  void put_string(std::string_view text);
  void put_u32(uint32_t value);
  void put_u64(uint64_t value);

  std::string out_;
  std::vector<size_t> open_;  // where each document's length goes
};

// What a document in a message may have: as much as a stored one, and some more around it.
inline constexpr size_t kMaxMessageDocumentBytes = (size_t{16} << 20) + (size_t{16} << 10);

// The bytes of an object. Error when they would be more than `most`, or when it nests too deep.
Answer<std::string> to_bson(const value::Value& object, size_t most = kMaxMessageDocumentBytes);

}  // namespace orrery::mongo
