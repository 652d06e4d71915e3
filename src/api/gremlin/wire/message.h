// Requests and responses of the protocol, as they are in WebSocket messages.
//   request   a binary message: 1 byte length of the mime type, the mime type, JSON; or a text
//             message: JSON alone
//   response  a binary message: JSON alone
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/gremlin/parse/parser.h"
#include "api/gremlin/wire/graphson.h"
#include "base/result.h"
#include "value/json.h"

namespace orrery::gremlin {

// The codes of a response's status.
namespace status {
inline constexpr int kSuccess = 200;
inline constexpr int kNoContent = 204;
inline constexpr int kPartial = 206;
inline constexpr int kUnauthorized = 401;
inline constexpr int kForbidden = 403;
inline constexpr int kAuthenticate = 407;
inline constexpr int kMalformed = 498;
inline constexpr int kBadArguments = 499;
inline constexpr int kServerError = 500;
inline constexpr int kEvaluationError = 597;
inline constexpr int kTimeout = 598;
inline constexpr int kSerializationError = 599;
}  // namespace status

struct Message {
  std::string id;  // empty: none could be read
  std::string op;
  std::string processor;
  GraphSon form = GraphSon::v2;  // that the mime type names
  bool is_typed_form = true;     // false: the mime type asks for the untyped form
  std::string graphbinary_id;    // the 16 bytes of a GraphBinary request's id; empty: it is none
  size_t bytes = 0;              // of its JSON
  std::unique_ptr<value::JsonDocument> document;
  const value::Node* arguments = nullptr;  // in the document; null: there are none

  // Null when there is none of this name.
  const value::Node* argument(std::string_view name) const;
  // An argument that is a text; empty otherwise.
  std::string_view text(std::string_view name) const;
};

// What can be read of it is in the message, whatever the status says: an answer needs the id.
// Code::invalid when it is no request, Code::unsupported for a mime type that is not served.
Status read_message(std::string_view bytes, bool is_binary, Message& message);

// An eval request for a text, as if a client had sent it. `bindings`: a JSON object, or nothing.
Result<Message> eval_message(std::string_view text, std::string_view bindings = {});

// The bindings of an eval request.
Result<Bindings> read_bindings(const Message& message);

struct Attributes {
  int status_code = 200;
  std::optional<int> substatus_code;  // of a failure
  double charge = 0;                  // of this part
  double total_charge = 0;            // so far
  double time_ms = 0;
  double total_time_ms = 0;
  uint32_t retry_after_ms = 0;
  // Of a traversal that failed and had written, or meant to.
  uint64_t writes_stored = 0;
  uint64_t writes_given_up = 0;
  bool is_cut = false;  // results were left out, as there was no room for them
  std::string activity_id;
};

// The answer to a GraphBinary request, which is not served, in GraphBinary: so its driver can show
// the text.
//   81, 00 id (16), code (4), 00 length (4) text, attributes: 0 (4), meta: 0 (4), data: fe 01
// Numbers are big-endian.
std::string graphbinary_refusal(std::string_view id, int code, std::string_view text);

// `data`: JSON values with commas between them; unset: null.
std::string response_of(const std::string& request_id, int code, std::string_view message,
                        const Attributes& attributes, const std::string* data, GraphSon form);

}  // namespace orrery::gremlin
