// An entity as it is stored: typed properties, one after the other. docs/formats/table-entity.md
// says the same in prose.
//
//   entity    format (1): 01 | timestamp (8) | count (2) | properties
//   property  type (1) | name size (2) | name | value
//   value     string, binary: size (4), bytes        boolean: 1 byte
//             int32: 4      int64, double: 8         guid: 16
//             datetime: ticks (8), size (1), text as it was sent
// All numbers are little-endian. The first property is PartitionKey, the second RowKey. A property
// that was set to null is not there. The timestamp is written by the finisher, when it is known.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/table/wire/ticks.h"
#include "base/result.h"

namespace orrery::table {

enum class Edm : uint8_t { string, boolean, int32, int64, real, datetime, guid, binary };
// "Edm.Int64"
std::string_view name_of(Edm type);
std::optional<Edm> parse_edm(std::string_view name);

inline constexpr std::string_view kPartitionKey = "PartitionKey";
inline constexpr std::string_view kRowKey = "RowKey";
inline constexpr std::string_view kTimestamp = "Timestamp";

// A value: what the type says is set, the rest is not. `bytes` is borrowed.
struct EdmValue {
  Edm type = Edm::string;
  bool boolean = false;
  int64_t integer = 0;          // int32, int64; a datetime's ticks
  double real = 0;              // double
  std::string_view bytes = {};  // string, binary, guid (16); a datetime's text
};

struct Property {
  std::string_view name;
  EdmValue value;
};

// Walks over a stored entity.
class EntityReader {
 public:
  // Code::corrupt when it is not an entity as above. The properties are checked by next().
  static Result<EntityReader> open(std::string_view stored);

  Ticks timestamp() const { return timestamp_; }
  size_t count() const { return count_; }
  // The next property; false at the end. After a fault, which is_sound() tells, too.
  bool next(Property& property);
  bool is_sound() const { return is_sound_; }

 private:
  bool take(size_t size, std::string_view& out);
  bool take_value(EdmValue& value);

  std::string_view left_;
  Ticks timestamp_ = 0;
  size_t count_ = 0;
  size_t read_ = 0;
  bool is_sound_ = true;
};

// Of a stored entity, without looking at the rest.
Ticks timestamp_of(std::string_view stored);

// Writes a stored entity, with a timestamp of 0.
class EntityWriter {
 public:
  // `bytes`: about as many as it will have.
  explicit EntityWriter(size_t bytes = 0);
  void add(std::string_view name, const EdmValue& value);
  size_t count() const { return count_; }
  // What the service counts as the size of an entity.
  size_t counted_bytes() const { return counted_; }
  std::string take();

 private:
  std::string out_;
  size_t count_ = 0;
  size_t counted_ = 0;
};

// UTF-16 units of well-formed UTF-8.
size_t utf16_units(std::string_view text);

// The same entity with this timestamp.
void set_timestamp(std::string& stored, Ticks timestamp);

}  // namespace orrery::table
