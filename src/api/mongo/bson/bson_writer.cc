// See bson_writer.h.
#include "api/mongo/bson/bson_writer.h"

#include <bit>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "value/document.h"

namespace orrery::mongo {

using value::NumberKind;
using value::Type;
using value::Value;

namespace {

constexpr uint8_t kUuidSubtype = 4;
constexpr uint8_t kNestedBinarySubtype = 2;  // has a second length inside

}  // namespace

std::string_view BsonWriter::Index::next() {
  const auto [end, error] = std::to_chars(text_, text_ + sizeof(text_), next_++);
  return {text_, static_cast<size_t>(end - text_)};
}

void BsonWriter::put_u32(uint32_t value) {
  char bytes[4];
  store_u32_le(bytes, value);
  out_.append(bytes, sizeof(bytes));
}

void BsonWriter::put_u64(uint64_t value) {
  char bytes[8];
  store_u64_le(bytes, value);
  out_.append(bytes, sizeof(bytes));
}

void BsonWriter::put_string(std::string_view text) {
  put_u32(static_cast<uint32_t>(text.size() + 1));
  out_.append(text);
  out_.push_back('\0');
}

void BsonWriter::head(ElementType type, std::string_view name) {
  out_.push_back(static_cast<char>(type));
  out_.append(name.substr(0, name.find('\0')));
  out_.push_back('\0');
}

void BsonWriter::begin() {
  open_.push_back(out_.size());
  out_.append(4, '\0');
}

BsonWriter& BsonWriter::end() {
  out_.push_back('\0');
  const size_t start = open_.back();
  store_u32_le(out_.data() + start, static_cast<uint32_t>(out_.size() - start));
  open_.pop_back();
  return *this;
}

std::string BsonWriter::take() {
  end();
  return std::move(out_);
}

BsonWriter& BsonWriter::begin_document(std::string_view name) {
  head(ElementType::document, name);
  begin();
  return *this;
}

BsonWriter& BsonWriter::begin_array(std::string_view name) {
  head(ElementType::array, name);
  begin();
  return *this;
}

BsonWriter& BsonWriter::real(std::string_view name, double value) {
  head(ElementType::real, name);
  put_u64(std::bit_cast<uint64_t>(value));
  return *this;
}

BsonWriter& BsonWriter::int32(std::string_view name, int32_t value) {
  head(ElementType::int32, name);
  put_u32(static_cast<uint32_t>(value));
  return *this;
}

BsonWriter& BsonWriter::int64(std::string_view name, int64_t value) {
  head(ElementType::int64, name);
  put_u64(static_cast<uint64_t>(value));
  return *this;
}

BsonWriter& BsonWriter::boolean(std::string_view name, bool value) {
  head(ElementType::boolean, name);
  out_.push_back(value ? '\1' : '\0');
  return *this;
}

BsonWriter& BsonWriter::string(std::string_view name, std::string_view value) {
  head(ElementType::string, name);
  put_string(value);
  return *this;
}

BsonWriter& BsonWriter::date(std::string_view name, int64_t ms) {
  head(ElementType::date, name);
  put_u64(static_cast<uint64_t>(ms));
  return *this;
}

BsonWriter& BsonWriter::timestamp(std::string_view name, uint64_t bits) {
  head(ElementType::timestamp, name);
  put_u64(bits);
  return *this;
}

BsonWriter& BsonWriter::null(std::string_view name) {
  head(ElementType::null, name);
  return *this;
}

BsonWriter& BsonWriter::binary(std::string_view name, std::string_view bytes, uint8_t subtype) {
  head(ElementType::binary, name);
  const bool is_old = subtype == kNestedBinarySubtype;
  put_u32(static_cast<uint32_t>(bytes.size() + (is_old ? 4 : 0)));
  out_.push_back(static_cast<char>(subtype));
  if (is_old) put_u32(static_cast<uint32_t>(bytes.size()));
  out_.append(bytes);
  return *this;
}

BsonWriter& BsonWriter::object_id(std::string_view name, std::string_view bytes) {
  head(ElementType::object_id, name);
  out_.append(bytes);
  return *this;
}

BsonWriter& BsonWriter::document(std::string_view name, std::string_view bytes) {
  head(ElementType::document, name);
  out_.append(bytes);
  return *this;
}

BsonWriter& BsonWriter::array(std::string_view name, std::string_view bytes) {
  head(ElementType::array, name);
  out_.append(bytes);
  return *this;
}

bool BsonWriter::members(const Value& object, size_t most, int depth) {
  for (const Value::Member& member : object.members()) {
    if (!value(member.name, member.value, most, depth)) return false;
  }
  return true;
}

void BsonWriter::number(std::string_view name, const Value& value) {
  switch (value.number_kind()) {
    case NumberKind::real:
      real(name, value.number());
      break;
    case NumberKind::int32:
      int32(name, static_cast<int32_t>(value.integer()));
      break;
    case NumberKind::int64:
      int64(name, value.integer());
      break;
    case NumberKind::decimal:
      head(ElementType::decimal, name);
      out_.append(value.decimal());
      break;
  }
}

void BsonWriter::code(std::string_view name, const Value& value) {
  const std::string_view bytes = value.bytes();
  if (value.subtype() == 0) {
    head(ElementType::code, name);
    put_string(bytes);
    return;
  }
  // With a scope: the text, its byte 00 and the scope's document.
  const std::string_view text = bytes.substr(0, bytes.find('\0'));
  const std::string_view scope = bytes.substr(text.size() + 1);
  head(ElementType::scoped_code, name);
  put_u32(static_cast<uint32_t>(4 + 4 + text.size() + 1 + scope.size()));
  put_string(text);
  out_.append(scope);
}

bool BsonWriter::value(std::string_view name, const Value& value, size_t most, int depth) {
  switch (value.type()) {
    case Type::undefined:
      return true;
    case Type::null:
      null(name);
      break;
    case Type::boolean:
      boolean(name, value.boolean());
      break;
    case Type::number:
      number(name, value);
      break;
    case Type::string:
      string(name, value.text());
      break;
    case Type::array: {
      if (depth >= value::kMaxDepth) return false;
      begin_array(name);
      Index index;
      for (const Value& element : value.elements()) {
        if (!this->value(index.next(), element, most, depth + 1)) return false;
      }
      end();
      break;
    }
    case Type::object:
      if (depth >= value::kMaxDepth) return false;
      begin_document(name);
      if (!members(value, most, depth + 1)) return false;
      end();
      break;
    case Type::binary:
      binary(name, value.bytes(), value.subtype());
      break;
    case Type::object_id:
      object_id(name, value.bytes());
      break;
    case Type::guid:
      binary(name, value.bytes(), kUuidSubtype);
      break;
    case Type::date:
      date(name, value.date().ms);
      break;
    case Type::timestamp:
      timestamp(name, value.timestamp());
      break;
    case Type::regex:
      head(ElementType::regex, name);
      out_.append(value.bytes());
      out_.push_back('\0');
      break;
    case Type::code:
      code(name, value);
      break;
    case Type::min_key:
      head(ElementType::min_key, name);
      break;
    case Type::max_key:
      head(ElementType::max_key, name);
      break;
  }
  return out_.size() <= most;
}

Answer<std::string> to_bson(const Value& object, size_t most) {
  BsonWriter writer;
  if (!writer.members(object, most)) {
    if (writer.size() <= most) {
      return refuse(kOverflow,
                    fmt::format("the document nests deeper than {} levels", value::kMaxDepth));
    }
    return refuse(10334,
                  fmt::format("the document is larger than the {} bytes that one may have", most));
  }
  return writer.take();
}

}  // namespace orrery::mongo
