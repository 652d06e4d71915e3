// The messages between the server and a script worker, and their bytes. Pure: no I/O.
//
// A message on the wire is a frame: its length (u32, little endian, without these four bytes), its
// type (u8), and its fields in the order in which they are declared here. Numbers are little
// endian, a bool is one byte (0 or 1), an enum one byte within its range, a string its length (u32)
// and its bytes, a list its count (u32) and its elements.
//
// A conversation: the server sends `WorkerLimits` once. Then, as often as it likes:
//   Execution      answered by any number of ItemOperation (each answered by Reply), then Done or
//                  Failed
//   Load           answered by Loaded or Failed; functions are numbered from 0
//   FunctionCall   answered by Results or Failed
//   Unload         forgets all loaded functions; not answered
//
// Workers are not trusted: decoding checks every length before using it, and refuses trailing
// bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace orrery::script {

enum class Kind : uint8_t { procedure, pre_trigger, post_trigger };
inline constexpr uint8_t kKinds = 3;

enum class OperationKind : uint8_t {
  create,
  read,
  replace,
  upsert,
  remove,
  query,
  read_feed,
};
inline constexpr uint8_t kOperationKinds = 7;

// Why an execution did not complete.
enum class Failure : uint8_t {
  compile,    // the source is not JavaScript, or defines no function
  threw,      // an exception that the script did not catch, or a promise rejected and not handled
  aborted,    // the script called abort
  timed_out,  // over its time
  memory,     // over its memory
  too_large,  // its answer is over the limit
  crashed,    // the worker process died under it
  busy,       // all workers were busy for too long: the script did not start
  unable,     // no worker could be started: the script did not start
};
inline constexpr uint8_t kFailures = 9;

// Server to worker.

struct WorkerLimits {
  uint64_t heap_bytes = 0;     // most that the JavaScript heap holds
  uint64_t memory_bytes = 0;   // most that the process may allocate
  uint64_t message_bytes = 0;  // longest frame that the server accepts
};

struct Execution {
  Kind kind = Kind::procedure;
  std::string name = {};  // of the script, for stacks
  std::string source = {};
  std::string arguments = {};  // a JSON array; empty for none
  std::string self_link = {};  // of the container
  std::string alt_link = {};
  std::string operation = {};         // what a trigger is for: "Create", "Replace", …
  std::string request_body = {};      // JSON; empty for none
  std::string response_body = {};     // JSON; empty for none
  std::string request_headers = {};   // a JSON object; empty for none
  std::string response_headers = {};  // a JSON object; empty for none
  bool logging = false;
  uint32_t time_ms = 0;
  uint32_t operations = 0;  // most that it may ask for
  uint64_t response_bytes = 0;
};

struct Load {
  std::string name = {};
  std::string source = {};
  uint32_t time_ms = 0;
};

struct FunctionCall {
  uint32_t function = 0;
  uint32_t time_ms = 0;
  std::string rows = {};  // a JSON array of arrays of arguments
  // Arguments that are undefined: row and argument, alternating.
  std::vector<uint32_t> undefined = {};
};

struct Unload {};

struct Reply {
  uint16_t status = 0;            // as HTTP would say it
  std::string body = {};          // JSON: an item, an array of items, or an error
  std::string continuation = {};  // empty at the end of a feed
};

// Worker to server.

struct ItemOperation {
  OperationKind kind = OperationKind::read;
  std::string document = {};  // the last part of the item's link
  bool by_name = false;       // that is its id (else its resource id)
  std::string body = {};      // an item, or {"query":…,"parameters":…}
  std::string condition =
      {};  // the version that a write asks for, or that a reader has; empty: none
  std::string continuation = {};
  int32_t page_size = 0;
  bool enable_scan = false;
  std::string index_action = {};
};

struct Done {
  std::string response_body = {};  // JSON; empty if none was set
  std::string request_body = {};   // JSON; what a pre-trigger made of it, empty if it left it alone
  std::string response_headers = {};  // a JSON object; empty if nothing was changed
  std::string log = {};
};

struct Failed {
  Failure failure = Failure::threw;
  int32_t number = 0;  // the error's `number`, 0 if it has none
  std::string message = {};
  std::string stack = {};  // "    at f (name.js:3:7)", a line each
  uint32_t line = 0;       // of the script, 0 if not known
  std::string log = {};
  bool ends_worker = false;  // the worker takes no more work
};

struct Loaded {};

struct Results {
  std::string json = {};  // an array with [value], or [] for undefined, for each row
};

using Message = std::variant<WorkerLimits, Execution, Load, FunctionCall, Unload, Reply,
                             ItemOperation, Done, Failed, Loaded, Results>;

inline constexpr size_t kFrameHead = 4;

// The whole frame.
std::string encode(const Message& message);
// What follows the frame's length. Code::invalid if it is not exactly one message.
Result<Message> decode(std::string_view frame);

std::string_view to_string(Failure failure);

}  // namespace orrery::script
