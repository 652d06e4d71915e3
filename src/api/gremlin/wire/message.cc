// See message.h.
#include "api/gremlin/wire/message.h"

#include <fmt/format.h>

#include <cmath>

#include "face/http_error.h"

namespace orrery::gremlin {
namespace {

using value::Node;
using value::Type;

Status read_mime(std::string_view mime, Message& message) {
  if (mime.starts_with("application/vnd.gremlin-v1.0+json")) {
    message.form = GraphSon::untyped;
  } else if (mime.starts_with("application/vnd.gremlin-v2.0+json")) {
    message.form = GraphSon::v2;
  } else if (mime.starts_with("application/vnd.gremlin-v3.0+json") ||
             mime.starts_with("application/json")) {
    message.form = GraphSon::v3;
  } else {
    return fail(
        Code::unsupported,
        fmt::format("the mime type '{}' is not served: use "
                    "application/vnd.gremlin-v2.0+json or application/vnd.gremlin-v3.0+json (the "
                    "GraphSON serializers of drivers)",
                    mime.substr(0, 100)));
  }
  if (mime.ends_with("untyped")) {
    message.form = GraphSon::untyped;
    message.is_typed_form = false;
  }
  return {};
}

std::string text_of(const Node* node) {
  if (node != nullptr && node->type == Type::object) node = node->find("@value");
  return node != nullptr && node->type == Type::string ? std::string(node->text) : "";
}

// g:Map of GraphSON 3 is a list of keys and values in turns.
const Node* map_members(const Node* node, bool& is_flat) {
  is_flat = false;
  if (node == nullptr || node->type != Type::object) return nullptr;
  const Node* type = node->find("@type");
  if (type == nullptr) return node->first;
  const Node* value = node->find("@value");
  if (type->text != "g:Map" || value == nullptr || value->type != Type::array) return nullptr;
  is_flat = true;
  return value->first;
}

const Node* find_in_map(const Node* map, std::string_view name) {
  bool is_flat = false;
  for (const Node* at = map_members(map, is_flat); at != nullptr; at = at->next) {
    if (!is_flat) {
      if (at->name == name) return at;
      continue;
    }
    const Node* value = at->next;
    if (value == nullptr) return nullptr;
    if (at->type == Type::string && at->text == name) return value;
    at = value;
  }
  return nullptr;
}

// A map of GraphSON, member by member. Every answer has one, so it is written without values.
class MapWriter {
 public:
  MapWriter(std::string& out, GraphSon form) : out_(out), form_(form) {
    out_ += form == GraphSon::v3 ? "{\"@type\":\"g:Map\",\"@value\":[" : "{";
  }
  void end() { out_ += form_ == GraphSon::v3 ? "]}" : "}"; }

  void add(std::string_view name, std::string_view text) {
    begin(name);
    value::append_json_string(out_, text);
  }
  void add(std::string_view name, std::string_view type, double number) {
    begin(name);
    const bool is_typed = form_ != GraphSon::untyped;
    if (is_typed) out_ += fmt::format("{{\"@type\":\"{}\",\"@value\":", type);
    value::append_json_number(out_, number);
    if (is_typed) out_ += '}';
  }

 private:
  void begin(std::string_view name) {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    out_ += '"';
    out_ += name;
    out_ += form_ == GraphSon::v3 ? "\"," : "\":";
  }

  std::string& out_;
  const GraphSon form_;
  bool is_first_ = true;
};

void append_attributes(std::string& out, const Attributes& attributes, GraphSon form) {
  constexpr std::string_view kInteger = "g:Int32", kLong = "g:Int64", kReal = "g:Double";
  const auto rounded = [](double number) { return std::round(number * 100) / 100; };
  MapWriter map(out, form);
  map.add("x-ms-status-code", kInteger, attributes.status_code);
  if (attributes.substatus_code) {
    map.add("x-ms-substatus-code", kInteger, *attributes.substatus_code);
  }
  map.add("x-ms-request-charge", kReal, rounded(attributes.charge));
  map.add("x-ms-total-request-charge", kReal, rounded(attributes.total_charge));
  map.add("x-ms-server-time-ms", kReal, rounded(attributes.time_ms));
  map.add("x-ms-total-server-time-ms", kReal, rounded(attributes.total_time_ms));
  if (attributes.retry_after_ms > 0) {
    const uint32_t ms = attributes.retry_after_ms;
    map.add("x-ms-retry-after-ms",
            fmt::format("{:02}:{:02}:{:02}.{:07}", ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60,
                        ms % 1000 * 10'000));
  }
  if (attributes.writes_stored + attributes.writes_given_up > 0) {
    map.add("x-orrery-writes-stored", kLong, static_cast<double>(attributes.writes_stored));
    map.add("x-orrery-writes-given-up", kLong, static_cast<double>(attributes.writes_given_up));
  }
  map.add("x-ms-activity-id", attributes.activity_id);
  map.end();
}

}  // namespace

const Node* Message::argument(std::string_view name) const {
  return find_in_map(arguments, name);
}

std::string_view Message::text(std::string_view name) const {
  const Node* found = argument(name);
  return found != nullptr && found->type == Type::string ? std::string_view(found->text)
                                                         : std::string_view();
}

Status read_message(std::string_view bytes, bool is_binary, Message& message) {
  Status mime_read;
  message.form = GraphSon::v2;
  if (is_binary) {
    const size_t length = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]);
    if (bytes.size() < length + 1 || length == 0) {
      return fail(Code::invalid, "a binary message begins with the length of its mime type");
    }
    mime_read = read_mime(bytes.substr(1, length), message);
    const bool is_graphbinary = bytes.substr(1, length).starts_with("application/vnd.graphbinary-");
    bytes.remove_prefix(length + 1);
    if (is_graphbinary && bytes.size() > 16 && bytes[0] == '\x81') {
      message.graphbinary_id = bytes.substr(1, 16);
    }
    if (!mime_read && !bytes.starts_with('{')) return mime_read;
  }
  message.bytes = bytes.size();
  auto document = value::JsonDocument::parse(bytes);
  if (!document) return fail(Code::invalid, "the request is not JSON: " + document.error().message);
  message.document = std::make_unique<value::JsonDocument>(std::move(*document));
  const Node& root = message.document->root();
  if (root.type != Type::object) return fail(Code::invalid, "the request is not a JSON object");
  message.id = text_of(root.find("requestId"));
  if (message.id.size() > 100) message.id.resize(100);
  message.op = text_of(root.find("op"));
  message.processor = text_of(root.find("processor"));
  message.arguments = root.find("args");
  if (!mime_read) return mime_read;
  if (message.id.empty()) return fail(Code::invalid, "the request has no requestId");
  return {};
}

Result<Message> eval_message(std::string_view text, std::string_view bindings) {
  std::string json = "{\"gremlin\":";
  value::append_json_string(json, text);
  if (!bindings.empty()) json.append(",\"bindings\":").append(bindings);
  json += '}';
  auto document = value::JsonDocument::parse(json);
  if (!document) return pass(document.error());
  Message message;
  message.op = "eval";
  message.form = GraphSon::untyped;
  message.document = std::make_unique<value::JsonDocument>(std::move(*document));
  message.arguments = &message.document->root();
  return message;
}

Result<Bindings> read_bindings(const Message& message) {
  Bindings made;
  const Node* all = find_in_map(message.arguments, "bindings");
  if (all == nullptr || all->type == Type::null) return made;
  auto read = read_graphson(*all);
  if (!read) return pass(read.error());
  if (!read->is_value() || !read->value.is_map())
    return fail(Code::invalid, "bindings is not a map");
  for (const auto& [name, value] : read->value.members()) {
    if (!name.is_text()) return fail(Code::invalid, "the name of a binding is not a text");
    made.emplace(name.string(), Argument{.value = value, .chain = {}, .predicate = {}});
  }
  return made;
}

std::string graphbinary_refusal(std::string_view id, int code, std::string_view text) {
  const auto number = [](size_t n) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(n >> shift & 0xFF);
    return out;
  };
  std::string out = "\x81";
  out += '\0';
  out += id;
  out += number(static_cast<size_t>(code));
  out += '\0';
  out += number(text.size());
  out += text;
  out += number(0) + number(0);
  out += "\xfe\x01";
  return out;
}

std::string response_of(const std::string& request_id, int code, std::string_view message,
                        const Attributes& attributes, const std::string* data, GraphSon form) {
  std::string out = "{\"requestId\":";
  value::append_json_string(out, request_id);
  out += ",\"status\":{\"message\":";
  face::append_message(out, message);
  out += ",\"code\":" + std::to_string(code) + ",\"attributes\":";
  append_attributes(out, attributes, form);
  out += "},\"result\":{\"data\":";
  if (data == nullptr) {
    out += "null";
  } else if (form == GraphSon::v3) {
    out += "{\"@type\":\"g:List\",\"@value\":[" + *data + "]}";
  } else {
    out += "[" + *data + "]";
  }
  out +=
      form == GraphSon::v3 ? ",\"meta\":{\"@type\":\"g:Map\",\"@value\":[]}}}" : ",\"meta\":{}}}";
  return out;
}

}  // namespace orrery::gremlin
