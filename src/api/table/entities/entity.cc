// See entity.h.
#include "api/table/entities/entity.h"

#include <array>
#include <bit>
#include <utility>

#include "base/bytes.h"

namespace orrery::table {
namespace {

constexpr char kFormat = 1;
constexpr size_t kTimestampAt = 1;
constexpr size_t kCountAt = 9;
constexpr size_t kHeadBytes = 11;
constexpr size_t kGuidBytes = 16;
constexpr std::array<std::string_view, 8> kNames = {"Edm.String", "Edm.Boolean", "Edm.Int32",
                                                    "Edm.Int64",  "Edm.Double",  "Edm.DateTime",
                                                    "Edm.Guid",   "Edm.Binary"};

void append_u32(std::string& out, uint32_t number) {
  char bytes[4];
  store_u32_le(bytes, number);
  out.append(bytes, sizeof bytes);
}

void append_u64(std::string& out, uint64_t number) {
  char bytes[8];
  store_u64_le(bytes, number);
  out.append(bytes, sizeof bytes);
}

// As the service publishes it: strings take two bytes a UTF-16 unit.
size_t counted_value(const EdmValue& value) {
  switch (value.type) {
    case Edm::string:
      return utf16_units(value.bytes) * 2 + 4;
    case Edm::binary:
      return value.bytes.size() + 4;
    case Edm::boolean:
      return 1;
    case Edm::int32:
      return 4;
    case Edm::guid:
      return kGuidBytes;
    case Edm::int64:
    case Edm::real:
    case Edm::datetime:
      return 8;
  }
  return 8;
}

}  // namespace

std::string_view name_of(Edm type) {
  return kNames[static_cast<size_t>(type)];
}

std::optional<Edm> parse_edm(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Edm>(i);
  }
  return std::nullopt;
}

// Every byte but a continuation begins a unit, and one that begins four bytes begins two. Counted
// in single bytes over stretches that cannot overflow them: so the compiler makes vectors of it.
// Most text is ASCII, where every byte is a unit: that is seen faster.
size_t utf16_units(std::string_view text) {
  uint8_t all_bits = 0;
  for (const char c : text) all_bits |= static_cast<uint8_t>(c);
  if (all_bits < 0x80) return text.size();
  size_t units = 0;
  while (!text.empty()) {
    const std::string_view stretch = text.substr(0, 127);
    text.remove_prefix(stretch.size());
    uint8_t here = 0;
    for (const char c : stretch) {
      const auto byte = static_cast<uint8_t>(c);
      here = static_cast<uint8_t>(here + ((byte & 0xC0) != 0x80 ? 1 : 0) + (byte >= 0xF0 ? 1 : 0));
    }
    units += here;
  }
  return units;
}

Result<EntityReader> EntityReader::open(std::string_view stored) {
  if (stored.size() < kHeadBytes || stored.front() != kFormat) {
    return fail(Code::corrupt, "the stored body is not an entity of a table");
  }
  EntityReader reader;
  reader.timestamp_ = timestamp_of(stored);
  reader.count_ = load_u16_le(stored.data() + kCountAt);
  reader.left_ = stored.substr(kHeadBytes);
  return reader;
}

Ticks timestamp_of(std::string_view stored) {
  if (stored.size() < kHeadBytes) return 0;
  return std::bit_cast<Ticks>(load_u64_le(stored.data() + kTimestampAt));
}

void set_timestamp(std::string& stored, Ticks timestamp) {
  if (stored.size() < kHeadBytes) return;
  store_u64_le(stored.data() + kTimestampAt, std::bit_cast<uint64_t>(timestamp));
}

bool EntityReader::take(size_t size, std::string_view& out) {
  if (left_.size() < size) return false;
  out = left_.substr(0, size);
  left_.remove_prefix(size);
  return true;
}

bool EntityReader::next(Property& property) {
  if (read_ == count_) {
    if (!left_.empty()) is_sound_ = false;
    return false;
  }
  ++read_;
  std::string_view head;
  if (take(3, head)) {
    const auto type = static_cast<uint8_t>(head.front());
    const size_t name_size = load_u16_le(head.data() + 1);
    if (type <= static_cast<uint8_t>(Edm::binary) && take(name_size, property.name)) {
      property.value = {};
      property.value.type = static_cast<Edm>(type);
      if (take_value(property.value)) return true;
    }
  }
  is_sound_ = false;
  read_ = count_;
  left_ = {};
  return false;
}

bool EntityReader::take_value(EdmValue& value) {
  std::string_view bytes;
  switch (value.type) {
    case Edm::string:
    case Edm::binary:
      return take(4, bytes) && take(load_u32_le(bytes.data()), value.bytes);
    case Edm::boolean:
      if (!take(1, bytes)) return false;
      value.boolean = bytes.front() != 0;
      return true;
    case Edm::int32:
      if (!take(4, bytes)) return false;
      value.integer = std::bit_cast<int32_t>(load_u32_le(bytes.data()));
      return true;
    case Edm::int64:
      if (!take(8, bytes)) return false;
      value.integer = std::bit_cast<int64_t>(load_u64_le(bytes.data()));
      return true;
    case Edm::real:
      if (!take(8, bytes)) return false;
      value.real = std::bit_cast<double>(load_u64_le(bytes.data()));
      return true;
    case Edm::guid:
      return take(kGuidBytes, value.bytes);
    case Edm::datetime:
      if (!take(9, bytes)) return false;
      value.integer = std::bit_cast<int64_t>(load_u64_le(bytes.data()));
      return take(static_cast<uint8_t>(bytes[8]), value.bytes);
  }
  return false;
}

EntityWriter::EntityWriter(size_t bytes) : counted_(4) {
  out_.reserve(kHeadBytes + bytes);
  out_.resize(kHeadBytes);
  out_.front() = kFormat;
}

void EntityWriter::add(std::string_view name, const EdmValue& value) {
  ++count_;
  const bool is_key = name == kPartitionKey || name == kRowKey;
  counted_ +=
      is_key ? utf16_units(value.bytes) * 2 : 8 + utf16_units(name) * 2 + counted_value(value);
  char head[3] = {static_cast<char>(value.type)};
  store_u16_le(head + 1, static_cast<uint16_t>(name.size()));
  out_.append(head, sizeof head);
  out_ += name;
  switch (value.type) {
    case Edm::string:
    case Edm::binary:
      append_u32(out_, static_cast<uint32_t>(value.bytes.size()));
      out_ += value.bytes;
      return;
    case Edm::boolean:
      out_ += value.boolean ? '\1' : '\0';
      return;
    case Edm::int32:
      return append_u32(out_, std::bit_cast<uint32_t>(static_cast<int32_t>(value.integer)));
    case Edm::int64:
      return append_u64(out_, std::bit_cast<uint64_t>(value.integer));
    case Edm::real:
      return append_u64(out_, std::bit_cast<uint64_t>(value.real));
    case Edm::guid:
      out_ += value.bytes;
      return;
    case Edm::datetime:
      append_u64(out_, std::bit_cast<uint64_t>(value.integer));
      out_ += static_cast<char>(value.bytes.size());
      out_ += value.bytes;
      return;
  }
}

std::string EntityWriter::take() {
  store_u16_le(out_.data() + kCountAt, static_cast<uint16_t>(count_));
  return std::move(out_);
}

}  // namespace orrery::table
