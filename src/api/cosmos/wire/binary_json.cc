// See binary_json.h.
#include "api/cosmos/wire/binary_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

using value::Node;
using value::Type;

constexpr char kFormat = '\x80';

constexpr std::array<std::string_view, 32> kKnownStrings = {"$s",
                                                            "$t",
                                                            "$v",
                                                            "_attachments",
                                                            "_etag",
                                                            "_rid",
                                                            "_self",
                                                            "_ts",
                                                            "attachments/",
                                                            "coordinates",
                                                            "geometry",
                                                            "GeometryCollection",
                                                            "id",
                                                            "url",
                                                            "Value",
                                                            "label",
                                                            "LineString",
                                                            "link",
                                                            "MultiLineString",
                                                            "MultiPoint",
                                                            "MultiPolygon",
                                                            "name",
                                                            "Name",
                                                            "Type",
                                                            "Point",
                                                            "Polygon",
                                                            "properties",
                                                            "type",
                                                            "value",
                                                            "Feature",
                                                            "FeatureCollection",
                                                            "_id"};

enum Marker : uint8_t {
  known_string_min = 0x20,
  dictionary_min = 0x40,
  base64_min = 0x71,
  base64url_min = 0x73,
  guid_lower = 0x75,
  guid_upper = 0x76,
  guid_quoted = 0x77,
  hex_lower = 0x78,
  hex_upper = 0x79,
  date_time = 0x7A,
  packed_min = 0x7B,
  packed_7_long = 0x7F,
  string_min = 0x80,
  string_1 = 0xC0,
  reference_1 = 0xC3,
  reference_4 = 0xC6,
  number_u64 = 0xC7,
  number_u8 = 0xC8,
  number_i16 = 0xC9,
  number_i32 = 0xCA,
  number_i64 = 0xCB,
  number_double = 0xCC,
  null_value = 0xD0,
  false_value = 0xD1,
  true_value = 0xD2,
  number_array_1 = 0xF0,
  number_array_2 = 0xF1,
  number_arrays_1 = 0xF2,
  number_arrays_2 = 0xF3
};
constexpr uint8_t kArrayMin = 0xE0;
constexpr uint8_t kObjectMin = 0xE8;

std::unexpected<Error> refuse(size_t at, std::string_view why) {
  return fail(Code::invalid, fmt::format("the binary JSON {}, at byte {}", why, at));
}

class Decoder {
 public:
  Decoder(std::string_view body, size_t bytes_max) : body_(body), bytes_max_(bytes_max) {}

  Result<std::string> decode() {
    at_ = 1;
    if (auto done = value(body_.size(), 0); !done) return pass(done.error());
    if (at_ != body_.size()) return refuse(at_, "goes on after its value");
    return std::move(out_);
  }

 private:
  bool has(size_t count) const { return count <= end_ - at_; }
  uint64_t number(size_t bytes) {
    uint64_t read = 0;
    for (size_t i = 0; i < bytes; ++i) {
      read |= uint64_t{static_cast<uint8_t>(body_[at_ + i])} << (8 * i);
    }
    at_ += bytes;
    return read;
  }
  Status cut_short() const {
    return refuse(at_, "is cut short, or has something that is longer than it");
  }

  // A value that ends at `end` at the latest.
  Status value(size_t end, int depth) {
    if (depth > value::kMaxDepth) return refuse(at_, "nests too deep");
    if (out_.size() > bytes_max_) {
      return fail(Code::too_large,
                  fmt::format("the binary JSON is longer than {} bytes as text", bytes_max_));
    }
    end_ = end;
    if (!has(1)) return cut_short();
    const auto marker = static_cast<uint8_t>(body_[at_]);
    if (marker < known_string_min) {
      ++at_;
      out_ += std::to_string(marker);
      return {};
    }
    if (marker < number_u64) return string();
    if (marker >= kArrayMin && marker < kObjectMin) return list(end, depth, false);
    if (marker >= kObjectMin && marker < number_array_1) return list(end, depth, true);
    if (marker >= number_array_1 && marker <= number_arrays_2) return numbers();
    ++at_;
    if (marker == null_value)
      out_ += "null";
    else if (marker == false_value)
      out_ += "false";
    else if (marker == true_value)
      out_ += "true";
    else
      return number_of(marker);
    return {};
  }

  // Bytes of a number after its marker; 0: it is none.
  static size_t size_of_number(uint8_t marker) {
    switch (marker) {
      case number_u8:
      case 0xD7:  // uint8 and int8 of arrays
      case 0xD8:
        return 1;
      case number_i16:
      case 0xCF:  // float16
      case 0xD9:  // int16
        return 2;
      case number_i32:
      case 0xCD:  // float32
      case 0xDA:  // int32
      case 0xDC:  // uint32
        return 4;
      case number_u64:
      case number_i64:
      case number_double:
      case 0xCE:  // float64
      case 0xDB:  // int64
        return 8;
      default:
        return 0;
    }
  }

  static double float16(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 31) return std::nan("");
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024 + fraction, exponent - 25);
  }

  Status number_of(uint8_t marker) {
    const size_t size = size_of_number(marker);
    if (size == 0) {
      return refuse(at_ - 1, fmt::format("has the marker {:02X}, which is none of JSON", marker));
    }
    if (!has(size)) return cut_short();
    const uint64_t bits = number(size);
    switch (marker) {
      case number_double:
      case 0xCE:
        return floating(std::bit_cast<double>(bits));
      case 0xCD:
        return floating(std::bit_cast<float>(static_cast<uint32_t>(bits)));
      case 0xCF:
        return floating(float16(static_cast<uint16_t>(bits)));
      case number_u8:
      case 0xD7:
      case 0xDC:
      case number_u64:
        out_ += std::to_string(bits);
        return {};
      default:
        break;
    }
    const auto shift = static_cast<int>(64 - 8 * size);
    out_ += std::to_string(static_cast<int64_t>(bits << shift) >> shift);
    return {};
  }

  Status floating(double number) {
    if (!std::isfinite(number)) return refuse(at_, "has a number that JSON does not know");
    value::append_json_number(out_, number);
    return {};
  }

  // Arrays and objects, which differ in that an object's values come with names.
  Status list(size_t end, int depth, bool is_object) {
    const uint8_t kind = static_cast<uint8_t>(body_[at_]) & 7;
    ++at_;
    size_t list_end = end;
    if (kind >= 2) {
      const size_t length_bytes = size_t{1} << (kind - 2) % 3;
      const size_t count_bytes = kind >= 5 ? length_bytes : 0;
      end_ = end;
      if (!has(length_bytes + count_bytes)) return cut_short();
      const uint64_t length = number(length_bytes);
      at_ += count_bytes;  // what the count says is seen anyway
      if (!has(length)) return cut_short();
      list_end = at_ + length;
    }
    out_ += is_object ? '{' : '[';
    for (size_t n = 0; kind == 1 ? n < 1 : kind >= 2 && at_ < list_end; ++n) {
      if (n > 0) out_ += ',';
      if (is_object) {
        end_ = list_end;
        if (!has(1)) return cut_short();
        if (auto name = string(); !name) return name;
        out_ += ':';
      }
      if (auto one = value(list_end, depth + 1); !one) return one;
    }
    out_ += is_object ? '}' : ']';
    return {};
  }

  // Numbers of one type, without a marker each; or arrays of these, all of one length.
  Status numbers() {
    const auto marker = static_cast<uint8_t>(body_[at_++]);
    const bool nested = marker >= number_arrays_1;
    const size_t count_bytes = marker == number_array_1 || marker == number_arrays_1 ? 1 : 2;
    if (!has((nested ? 2 : 1) + count_bytes * (nested ? 2 : 1))) return cut_short();
    if (nested) {
      const auto inner = static_cast<uint8_t>(body_[at_++]);
      if (inner != marker - 2) return refuse(at_, "has an array of arrays of something else");
    }
    const auto type = static_cast<uint8_t>(body_[at_++]);
    const size_t size = size_of_number(type);
    if (size == 0) return refuse(at_, "has an array of numbers of no type");
    const uint64_t columns = number(count_bytes);
    const uint64_t rows = nested ? number(count_bytes) : 1;
    if (!has(rows * columns * size)) return cut_short();
    if (nested) out_ += '[';
    for (uint64_t row = 0; row < rows; ++row) {
      if (out_.size() > bytes_max_)
        return fail(Code::too_large, "the binary JSON is too long as text");
      if (row > 0) out_ += ',';
      out_ += '[';
      for (uint64_t column = 0; column < columns; ++column) {
        if (column > 0) out_ += ',';
        if (auto one = number_of(type); !one) return one;
      }
      out_ += ']';
    }
    if (nested) out_ += ']';
    return {};
  }

  // The string at `at_`, quoted and escaped.
  Status string() {
    const auto marker = static_cast<uint8_t>(body_[at_]);
    if (marker >= reference_1 && marker <= reference_4) return referred();
    auto read = plain_string();
    if (!read) return pass(read.error());
    if (out_.size() + read->size() > bytes_max_) {
      return fail(Code::too_large,
                  fmt::format("the binary JSON is longer than {} bytes as text", bytes_max_));
    }
    value::append_json_string(out_, *read);
    return {};
  }

  // A string that is elsewhere in the body, where none that refers again may be.
  Status referred() {
    const size_t offset_bytes = static_cast<uint8_t>(body_[at_]) - reference_1 + size_t{1};
    ++at_;
    if (!has(offset_bytes)) return cut_short();
    const uint64_t offset = number(offset_bytes);
    const size_t back = at_;
    const size_t end = end_;
    if (offset == 0 || offset >= body_.size())
      return refuse(at_, "refers to a string outside of it");
    at_ = offset;
    end_ = body_.size();
    const auto marker = static_cast<uint8_t>(body_[at_]);
    if (marker >= reference_1 && marker <= reference_4) {
      return refuse(at_, "refers to a string that refers to another");
    }
    if (auto read = string(); !read) return read;
    at_ = back;
    end_ = end;
    return {};
  }

  Result<std::string> plain_string() {
    const auto marker = static_cast<uint8_t>(body_[at_]);
    const auto failed = [this] { return pass(cut_short().error()); };
    if (marker >= known_string_min && marker < dictionary_min) {
      ++at_;
      return std::string(kKnownStrings[marker - known_string_min]);
    }
    if (marker >= string_min && marker < reference_1) {
      ++at_;
      uint64_t length = marker - string_min;
      if (marker >= string_1) {
        const size_t length_bytes = size_t{1} << (marker - string_1);
        if (!has(length_bytes)) return failed();
        length = number(length_bytes);
      }
      if (!has(length)) return failed();
      at_ += length;
      return std::string(body_.substr(at_ - length, length));
    }
    if (marker >= base64_min && marker < guid_lower) return base64();
    if (marker >= guid_lower && marker <= guid_quoted) return guid();
    if (marker >= hex_lower && marker < string_min) return packed();
    return refuse(at_, fmt::format("has the marker {:02X} where a string is to be", marker));
  }

  // Length in fours of characters, how many of them are padding, and the bytes. From 253 on, the
  // padding was left out.
  Result<std::string> base64() {
    const auto marker = static_cast<uint8_t>(body_[at_++]);
    const size_t length_bytes = marker == 0x71 || marker == 0x73 ? 1 : 2;
    if (!has(length_bytes + 1)) return pass(cut_short().error());
    const uint64_t characters = number(length_bytes) * 4;
    const auto said = static_cast<uint8_t>(number(1));
    const bool is_left_out = said > 2;
    const auto padding = static_cast<uint64_t>(is_left_out ? static_cast<uint8_t>(~said) : said);
    if (padding > 2 || padding > characters) return refuse(at_, "has base64 with a wrong padding");
    const uint64_t count = (characters - padding) * 3 / 4;
    if (!has(count)) return pass(cut_short().error());
    std::string text = to_base64(body_.substr(at_, count));
    at_ += count;
    if (text.size() != characters) return refuse(at_, "has base64 of a wrong length");
    if (is_left_out) text.resize(characters - padding);
    if (marker >= base64url_min) {
      std::ranges::replace(text, '+', '-');
      std::ranges::replace(text, '/', '_');
    }
    return text;
  }

  Result<std::string> guid() {
    const auto marker = static_cast<uint8_t>(body_[at_++]);
    if (!has(16)) return pass(cut_short().error());
    const std::string digits =
        four_bit(marker == guid_upper ? "0123456789ABCDEF" : "0123456789abcdef", 32);
    std::string text;
    for (auto [from, count] : {std::pair(0, 8), std::pair(8, 4), std::pair(12, 4), std::pair(16, 4),
                               std::pair(20, 12)}) {
      if (!text.empty()) text += '-';
      text += digits.substr(static_cast<size_t>(from), static_cast<size_t>(count));
    }
    return marker == guid_quoted ? '"' + text + '"' : text;
  }

  // The lower half of a byte is the first of two characters.
  std::string four_bit(std::string_view characters, size_t count) {
    std::string text(count, ' ');
    for (size_t i = 0; i < count; ++i) {
      const auto byte = static_cast<uint8_t>(body_[at_ + i / 2]);
      text[i] = characters[i % 2 == 0 ? byte & 15 : byte >> 4];
    }
    at_ += (count + 1) / 2;
    return text;
  }

  Result<std::string> packed() {
    const auto marker = static_cast<uint8_t>(body_[at_++]);
    const size_t length_bytes = marker == packed_7_long ? 2 : 1;
    if (!has(length_bytes)) return pass(cut_short().error());
    const uint64_t count = number(length_bytes);
    if (marker < packed_min) {
      if (!has((count + 1) / 2)) return pass(cut_short().error());
      return four_bit(marker == hex_lower   ? "0123456789abcdef"
                      : marker == hex_upper ? "0123456789ABCDEF"
                                            : " 0123456789:-.TZ",
                      count);
    }
    const auto bits = static_cast<size_t>(std::min(7, marker - packed_min + 4));
    uint8_t base = 0;
    if (bits < 7) {
      if (!has(1)) return pass(cut_short().error());
      base = static_cast<uint8_t>(number(1));
    }
    const size_t bytes = (count * bits + 7) / 8;
    if (!has(bytes)) return pass(cut_short().error());
    std::string text(count, ' ');
    for (size_t i = 0; i < count; ++i) {
      const size_t bit = i * bits;
      uint32_t window = static_cast<uint8_t>(body_[at_ + bit / 8]);
      if (bit / 8 + 1 < bytes)
        window |= uint32_t{static_cast<uint8_t>(body_[at_ + bit / 8 + 1])} << 8;
      const uint32_t character = base + (window >> bit % 8 & ((1U << bits) - 1));
      if (character > 127) return refuse(at_, "has a packed string that is not ASCII");
      text[i] = static_cast<char>(character);
    }
    at_ += bytes;
    return text;
  }

  const std::string_view body_;
  const size_t bytes_max_;
  size_t at_ = 0;
  size_t end_ = 0;  // of what is being read
  std::string out_;
};

void append_little(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

void append_string(std::string& out, std::string_view text) {
  const auto* known = std::ranges::find(kKnownStrings, text);
  if (known != kKnownStrings.end()) {
    out += static_cast<char>(known_string_min + (known - kKnownStrings.begin()));
    return;
  }
  if (text.size() < 64) {
    out += static_cast<char>(string_min + text.size());
  } else {
    const size_t size = text.size() < 256 ? 0 : text.size() < 65'536 ? 1 : 2;
    out += static_cast<char>(string_1 + size);
    append_little(out, text.size(), size_t{1} << size);
  }
  out += text;
}

void append_number(std::string& out, const Node& node) {
  int64_t whole = 0;
  const char* const end = node.raw.data() + node.raw.size();
  const auto parsed = std::from_chars(node.raw.data(), end, whole);
  if (parsed.ec != std::errc() || parsed.ptr != end || node.raw == "-0") {
    out += static_cast<char>(number_double);
    append_little(out, std::bit_cast<uint64_t>(node.number), 8);
    return;
  }
  const auto bits = static_cast<uint64_t>(whole);
  if (whole >= 0 && whole < known_string_min) {
    out += static_cast<char>(whole);
  } else if (whole >= 0 && whole < 256) {
    out += static_cast<char>(number_u8);
    append_little(out, bits, 1);
  } else if (whole == static_cast<int16_t>(whole)) {
    out += static_cast<char>(number_i16);
    append_little(out, bits, 2);
  } else if (whole == static_cast<int32_t>(whole)) {
    out += static_cast<char>(number_i32);
    append_little(out, bits, 4);
  } else {
    out += static_cast<char>(number_i64);
    append_little(out, bits, 8);
  }
}

void append_value(std::string& out, const Node& node) {
  switch (node.type) {
    case Type::boolean:
      out += static_cast<char>(node.boolean ? true_value : false_value);
      return;
    case Type::number:
      return append_number(out, node);
    case Type::string:
      return append_string(out, node.text);
    case Type::array:
    case Type::object:
      break;
    default:
      out += static_cast<char>(null_value);
      return;
  }
  const bool is_object = node.type == Type::object;
  const uint8_t empty = is_object ? kObjectMin : kArrayMin;
  if (node.count == 0) {
    out += static_cast<char>(empty);
    return;
  }
  // How long it is, is known at its end: the longest form of it is the one that always fits.
  out += static_cast<char>(empty + 4);
  const size_t length_at = out.size();
  append_little(out, 0, 4);
  for (const Node* one = node.first; one != nullptr; one = one->next) {
    if (is_object) append_string(out, one->name);
    append_value(out, *one);
  }
  store_u32_le(out.data() + length_at, static_cast<uint32_t>(out.size() - length_at - 4));
}

}  // namespace

Result<std::string> text_of_binary_json(std::string_view body, size_t bytes_max) {
  if (!is_binary_json(body)) return fail(Code::invalid, "binary JSON begins with the byte 80");
  return Decoder(body, bytes_max).decode();
}

Result<std::string> binary_json_of(std::string_view text) {
  auto document = value::JsonDocument::parse(text);
  if (!document) return pass(document.error());
  std::string out;
  out.reserve(text.size() + 64);
  out += kFormat;
  append_value(out, document->root());
  return out;
}

}  // namespace orrery::cosmos
