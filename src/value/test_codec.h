// For tests: a codec with typed values, as small as one can be. It shows all that a face has to
// write for an encoding of its own.
//
//   value  = kind (1), then: 'n' nothing | 't' 'f' nothing | 'd' double | 'i' int32 | 'l' int64 |
//            'D' decimal (16) | 'T' milliseconds (8) ticks (4) | 'S' timestamp (8) | 'o' 12 bytes |
//            'g' 16 bytes | 's' text | 'b' subtype (1) bytes | 'r' bytes | '<' '>' nothing |
//            'a' count (4), values | 'm' count (4), names as texts, each with its value
//   text, bytes = size (4), then so many. All numbers are little-endian.
#pragma once

#include <bit>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "value/codec.h"
#include "value/value.h"

namespace orrery::value {

class TestCodec final : public Codec {
 public:
  Result<Document> parse(std::string_view body) const override {
    auto tree = std::make_unique<Tree>(body);
    Reader reader{.in = tree->bytes, .nodes = tree->nodes};
    Node* root = tree->nodes.add();
    if (!reader.read(*root, 0) || !reader.in.empty() || root->type != Type::object) {
      return fail(Code::invalid, "the body is not a document of the test's encoding");
    }
    tree->root = root;
    return Document(std::move(tree));
  }

  bool append(std::string& out, const Value& value, size_t most) const override {
    append(out, value);
    return out.size() <= most;
  }

  static std::string encode(const Value& value) {
    std::string out;
    append(out, value);
    return out;
  }

 private:
  struct Tree final : Document::Tree {
    explicit Tree(std::string_view body) : bytes(body), nodes(body.size()) {}
    size_t memory() const override { return bytes.size() + nodes.bytes(); }
    const std::string bytes;
    NodeArena nodes;
  };

  struct Reader {
    std::string_view in;
    NodeArena& nodes;

    bool take(size_t size, std::string_view& out) {
      if (in.size() < size) return false;
      out = in.substr(0, size);
      in.remove_prefix(size);
      return true;
    }
    bool take_count(uint32_t& count) {
      std::string_view bytes;
      if (!take(4, bytes)) return false;
      count = load_u32_le(bytes.data());
      return true;
    }
    bool take_text(std::string_view& out) {
      uint32_t size = 0;
      return take_count(size) && take(size, out);
    }
    bool read(Node& node, int depth) {
      const char* const start = in.data();
      node.is_json = false;
      if (!read_value(node, depth)) return false;
      node.raw = {start, static_cast<size_t>(in.data() - start)};
      return true;
    }
    bool read_value(Node& node, int depth) {
      std::string_view kind, bytes;
      if (!take(1, kind)) return false;
      switch (kind.front()) {
        case 'n':
          node.type = Type::null;
          return true;
        case 't':
        case 'f':
          node.type = Type::boolean;
          node.boolean = kind.front() == 't';
          return true;
        case 'd':
          if (!take(8, bytes)) return false;
          node.type = Type::number;
          node.number = std::bit_cast<double>(load_u64_le(bytes.data()));
          return true;
        case 'i':
          if (!take(4, bytes)) return false;
          node.set_integer(std::bit_cast<int32_t>(load_u32_le(bytes.data())), NumberKind::int32);
          return true;
        case 'l':
          if (!take(8, bytes)) return false;
          node.set_integer(std::bit_cast<int64_t>(load_u64_le(bytes.data())), NumberKind::int64);
          return true;
        case 'D':
          if (!take(16, bytes)) return false;
          node.set_decimal(bytes);
          return true;
        case 'T':
          if (!take(12, bytes) || load_u32_le(bytes.data() + 8) >= kTicksInMs) return false;
          node.set_date(
              {std::bit_cast<int64_t>(load_u64_le(bytes.data())), load_u32_le(bytes.data() + 8)});
          return true;
        case 'S':
          if (!take(8, bytes)) return false;
          node.set_timestamp(load_u64_le(bytes.data()));
          return true;
        case 'o':
        case 'g':
          if (!take(kind.front() == 'o' ? 12 : 16, bytes)) return false;
          node.set_bytes(kind.front() == 'o' ? Type::object_id : Type::guid, bytes);
          return true;
        case 's':
          node.type = Type::string;
          return take_text(node.text);
        case 'b':
          if (!take(1, kind) || !take_text(bytes)) return false;
          node.set_bytes(Type::binary, bytes, static_cast<uint8_t>(kind.front()));
          return true;
        case 'r':
          if (!take_text(bytes)) return false;
          node.set_bytes(Type::regex, bytes);
          return true;
        case '<':
        case '>':
          node.type = kind.front() == '<' ? Type::min_key : Type::max_key;
          return true;
        case 'a':
        case 'm':
          node.type = kind.front() == 'a' ? Type::array : Type::object;
          return read_parts(node, depth + 1);
        default:
          return false;
      }
    }
    bool read_parts(Node& node, int depth) {
      uint32_t count = 0;
      if (depth > kMaxDepth || !take_count(count)) return false;
      const Node** link = &node.first;
      std::set<std::string_view> names;
      for (; count > 0; --count) {
        Node* part = nodes.add();
        if (node.type == Type::object &&
            (!take_text(part->name) || !names.insert(part->name).second)) {
          return false;
        }
        if (!read(*part, depth)) return false;
        *link = part;
        link = &part->next;
        ++node.count;
      }
      return true;
    }
  };

  static void append_count(std::string& out, size_t count) {
    char bytes[4];
    store_u32_le(bytes, static_cast<uint32_t>(count));
    out.append(bytes, sizeof bytes);
  }
  static void append_bits(std::string& out, uint64_t bits) {
    char bytes[8];
    store_u64_le(bytes, bits);
    out.append(bytes, sizeof bytes);
  }
  static void append_text(std::string& out, std::string_view text) {
    append_count(out, text.size());
    out += text;
  }
  static void append_number(std::string& out, const Value& value) {
    switch (value.number_kind()) {
      case NumberKind::real:
        out += 'd';
        return append_bits(out, std::bit_cast<uint64_t>(value.number()));
      case NumberKind::int32:
        out += 'i';
        return append_count(out, static_cast<uint32_t>(value.integer()));
      case NumberKind::int64:
        out += 'l';
        return append_bits(out, std::bit_cast<uint64_t>(value.integer()));
      case NumberKind::decimal:
        (out += 'D') += value.decimal();
        return;
    }
  }
  static void append(std::string& out, const Value& value) {
    switch (value.type()) {
      case Type::boolean:
        out += value.boolean() ? 't' : 'f';
        return;
      case Type::number:
        return append_number(out, value);
      case Type::string:
        out += 's';
        return append_text(out, value.text());
      case Type::array:
        out += 'a';
        append_count(out, value.size());
        for (const Value& element : value.elements()) append(out, element);
        return;
      case Type::object:
        out += 'm';
        append_count(out, value.size());
        for (const Value::Member& member : value.members()) {
          append_text(out, member.name);
          append(out, member.value);
        }
        return;
      case Type::binary:
        (out += 'b') += static_cast<char>(value.subtype());
        return append_text(out, value.bytes());
      case Type::object_id:
        (out += 'o') += value.bytes();
        return;
      case Type::guid:
        (out += 'g') += value.bytes();
        return;
      case Type::date:
        out += 'T';
        append_bits(out, std::bit_cast<uint64_t>(value.date().ms));
        return append_count(out, value.date().ticks);
      case Type::timestamp:
        out += 'S';
        return append_bits(out, value.timestamp());
      case Type::regex:
        out += 'r';
        return append_text(out, value.bytes());
      case Type::min_key:
        out += '<';
        return;
      case Type::max_key:
        out += '>';
        return;
      case Type::undefined:
      case Type::null:
      case Type::code:
        out += 'n';
        return;
    }
  }
};

}  // namespace orrery::value
