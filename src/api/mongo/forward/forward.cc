// See forward.h.
#include "api/mongo/forward/forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "api/mongo/bson/bson_writer.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/batches.h"
#include "api/mongo/forward/concern.h"
#include "api/mongo/forward/hop.h"
#include "base/await.h"
#include "base/bytes.h"
#include "cluster/placement.h"

namespace orrery::mongo {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kCommandMethod = "COMMAND";
// Nodes send no more to one another at once, with room for the head (peer/node.h). What is larger
// is divided where it was asked for.
constexpr size_t kForwardBytesMax = size_t{32} << 20;
// An answer may come a little after the command's own time is over.
constexpr milliseconds kLateAnswer{5'000};
constexpr int64_t kWaitMaxMs = 24 * 60 * 60 * 1000;  // of a maxTimeMS
constexpr std::string_view kNoKey = "none";
constexpr std::string_view kReadOnly = "read";
constexpr std::string_view kWriteRight = "write";
constexpr int kDone = 200;

void append_int32(std::string& out, size_t number) {
  char bytes[4];
  store_u32_le(bytes, static_cast<uint32_t>(number));
  out.append(bytes, sizeof(bytes));
}

size_t size_of(const Message& message) {
  size_t size = kHeaderBytes + message.body.size() + 64;
  for (const DocumentSequence& sequence : message.sequences) {
    size += sequence.name.size() + 16;
    for (const std::string_view document : sequence.documents) size += document.size();
  }
  return size;
}

// A plain OP_MSG of a command that came in whatever form.
std::string encode_command(const Message& message) {
  std::string sections(1, '\0');
  sections += message.body;
  for (const DocumentSequence& sequence : message.sequences) {
    std::string documents(sequence.name);
    documents += '\0';
    for (const std::string_view document : sequence.documents) documents += document;
    sections += '\1';
    append_int32(sections, documents.size() + 4);
    sections += documents;
  }
  std::string out;
  append_int32(out, kHeaderBytes + 4 + sections.size());
  append_int32(out, 0);
  append_int32(out, 0);
  append_int32(out, static_cast<size_t>(Opcode::msg));
  append_int32(out, 0);  // flags
  return out + sections;
}

// Lines: what its key may do, whose its sessions are, and the user whose roles decide.
std::string principal_of(const Connection& connection) {
  const std::string_view access = !connection.access                                  ? kNoKey
                                  : *connection.access == account::Access::read_write ? kWriteRight
                                                                                      : kReadOnly;
  std::string lines = fmt::format("{}\n{}", access, to_base64(connection.user));
  if (connection.identity) {
    lines += fmt::format("\n{}\n{}", to_base64(connection.identity->database),
                         to_base64(connection.identity->name));
  }
  return lines;
}

// The next line of `text`, which is cut.
std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

void read_principal(std::string_view lines, Connection& connection) {
  const std::string_view access = take_line(lines);
  if (access == kWriteRight) connection.access = account::Access::read_write;
  if (access == kReadOnly) connection.access = account::Access::read_only;
  connection.user = from_base64(take_line(lines)).value_or("");
  if (lines.empty()) return;
  connection.identity.emplace();
  connection.identity->database = from_base64(take_line(lines)).value_or("");
  connection.identity->name = from_base64(take_line(lines)).value_or("");
}

// ---- answers, as they travel: the document, and numbers in headers

// 0 when there is none.
template <class Number>
Number number_in(std::string_view headers, std::string_view name) {
  Number number{};
  const size_t at = headers.find(fmt::format("{}: ", name));
  if (at == std::string_view::npos) return number;
  const char* from = headers.data() + at + name.size() + 2;
  std::from_chars(from, headers.data() + headers.size(), number);
  return number;
}

// The way back of a command that another node sent, and the connection that it is run for.
class ForwardedSink final : public ReplySink {
 public:
  ForwardedSink(const net::Request& request, const face::Forwarded& forwarded,
                net::Responder responder)
      : responder_(std::move(responder)) {
    read_principal(forwarded.principal, connection);
    connection.peer = request.peer;
    connection.is_tls = request.tls;
  }

  void answer(std::string_view document, int32_t code, double charge, int64_t cursor) {
    net::Response response;
    response.status = kDone;
    response.add("code", std::to_string(code));
    response.add("charge", fmt::format("{}", charge));
    response.add("cursor", std::to_string(cursor));
    response.body = document;
    responder_.send(std::move(response));
  }
  void send_back() {
    net::Response moved;
    moved.status = face::kMovedStatus;
    responder_.send(std::move(moved));
  }

  // Calls that were forwarded are answered by the functions of their hop.
  void send(std::string /*message*/) noexcept override {}
  void abandon() noexcept override { const net::Responder dropped = std::move(responder_); }
  void hang_up() noexcept override { abandon(); }
  bool is_gone() const override { return responder_.is_gone(); }

  Connection connection;

 private:
  net::Responder responder_;
};

// ---- sending

// A call on its way, with what is to be done with it.
struct Journey {
  CallPtr call;
  const Command* command = nullptr;
  RunHere run_here;
  Concern concern = {};
  std::string address = {};  // where it was sent

  // Whether it may change something.
  bool is_write() const {
    if (concern.changes) return true;
    const bool tells = command->needs == Action::read || command->needs == Action::statistics ||
                       command->run == run_list_databases || command->run == run_users_info;
    return !tells && !is_get_more();
  }
  bool is_get_more() const { return command->run == run_get_more; }
};

void fail_with(const Journey& journey, std::string why) {
  if (journey.call->has_transaction_number()) {
    journey.call->error_labels.push_back("RetryableWriteError");
  }
  const int32_t code = journey.is_get_more() ? kCursorNotFound : kHostUnreachable;
  journey.call->fail(Error{code, std::move(why)});
}

// From the beginning, a little later: what it concerns may be elsewhere then, or here.
void run_again(const HandlerContext& context, Journey journey, uint64_t catalog_lsn,
               std::string why) {
  Hop& hop = *journey.call->hop;
  hop.sending = {};
  const auto pause = face::Forwarder::pause_before(hop.tries);
  if (++hop.tries >= face::kForwardTriesMax || steady_clock::now() + pause >= hop.deadline ||
      journey.call->client_is_gone()) {
    return fail_with(journey, std::move(why));
  }
  context.forwarder->later(pause, catalog_lsn, [&context, journey = std::move(journey)]() mutable {
    run_call(context, std::move(journey.call), *journey.command, journey.run_here);
  });
}

void send(const HandlerContext& context, Journey journey);

// A write whose answer was lost: its owner is asked again, for as long as that makes sense. Then
// one with a number is run again: where it was done, its note says so.
void ask_again(const HandlerContext& context, Journey journey, const orrery::Error& error) {
  Hop& hop = *journey.call->hop;
  const auto pause = error.code == Code::not_found || journey.call->client_is_gone()
                         ? std::nullopt
                         : context.forwarder->ask_again(hop.sending, journey.address, hop.deadline);
  if (pause) {
    return context.forwarder->later(*pause, 0, [&context, journey = std::move(journey)]() mutable {
      send(context, std::move(journey));
    });
  }
  if (journey.call->has_transaction_number()) {
    return run_again(context, std::move(journey), 0, error.message);
  }
  fail_with(journey, error.message + ". It may be done or not: look before you repeat it");
}

void reply(const HandlerContext& context, const Journey& journey,
           const peer::ForwardAnswer& answer) {
  const auto cursor = number_in<int64_t>(answer.headers, "cursor");
  const auto code = number_in<int32_t>(answer.headers, "code");
  // A refusal leaves it where it is: it may be another user's.
  const bool is_over = cursor == 0 && (code == 0 || code == kCursorNotFound);
  if (journey.is_get_more() && is_over) context.far_cursors.remove(journey.concern.cursor);
  if (cursor != 0) {
    context.far_cursors.add(cursor, std::string(journey.call->connection.user), journey.address);
  }
  journey.call->reply_forwarded(answer.body, code, number_in<double>(answer.headers, "charge"));
}

void take_answer(const HandlerContext& context, Journey journey,
                 Result<peer::ForwardAnswer> answer) {
  if (!answer) {
    const orrery::Error& error = answer.error();
    const bool is_lost = error.code == Code::internal || journey.call->hop->sending.asked_again > 0;
    if (is_lost && journey.is_write()) return ask_again(context, std::move(journey), error);
    // Its cursor may have moved on, or be gone with its node.
    const bool is_gone = !context.forwarder->placement().has_node(journey.address);
    if (journey.is_get_more() && (is_lost || is_gone)) return fail_with(journey, error.message);
    return run_again(context, std::move(journey), 0, error.message);
  }
  if (answer->moved) {
    std::string why =
        fmt::format("the node at {} does not have what the command concerns", journey.address);
    return run_again(context, std::move(journey), answer->catalog_lsn, std::move(why));
  }
  const uint64_t lsn = answer->catalog_lsn;
  if (journey.concern.catalog && lsn > context.forwarder->placement().catalog_lsn()) {
    // What was changed is to be seen here too, once the client knows of it.
    return context.forwarder->later(
        milliseconds(0), lsn,
        [&context, journey = std::move(journey), answer = std::move(*answer)] {
          reply(context, journey, answer);
        });
  }
  reply(context, journey, *answer);
}

void send(const HandlerContext& context, Journey journey) {
  const Call& call = *journey.call;
  Hop& hop = *call.hop;
  if (journey.address.empty()) {
    return run_again(context, std::move(journey), 0, "no node has what the command concerns now");
  }
  const std::string message = encode_command(call.message);
  const std::string principal = principal_of(call.connection);
  peer::OutgoingRequest request;
  request.face = kFaceName;
  request.method = kCommandMethod;
  request.target = journey.command->name;
  request.body = message;
  request.tls = call.connection.is_tls;
  request.client = call.connection.peer;
  request.principal = principal;
  if (journey.is_write()) context.forwarder->tell_apart(hop.sending, request);
  const auto deadline = hop.deadline;
  const std::string address = journey.address;
  context.forwarder->send(
      address, std::move(request), deadline, [&call] { return !call.client_is_gone(); },
      [&context, journey = std::move(journey)](Result<peer::ForwardAnswer> answer) mutable {
        take_answer(context, std::move(journey), std::move(answer));
      });
}

// Where it is to be run; nothing: here.
std::optional<std::string> elsewhere(const HandlerContext& context, const Concern& concern) {
  const cluster::Placement& placement = context.forwarder->placement();
  if (concern.cursor != 0) return context.far_cursors.find(concern.cursor);
  if (concern.catalog) return placement.coordinator_address();
  return concern.slot ? placement.address_of(*concern.slot) : std::nullopt;
}

}  // namespace

void begin_hop(const HandlerContext& context, Call& call) {
  if (context.forwarder == nullptr) return;
  if (!call.hop) call.hop = std::make_unique<Hop>();
  const int64_t asked_ms = call.max_time_ms();
  const auto deadline =
      steady_clock::now() + kLateAnswer +
      milliseconds(asked_ms > 0 ? std::min(asked_ms, kWaitMaxMs) : kCommandTimeMs);
  call.hop->deadline = call.hop->is_forwarded() ? std::min(call.hop->deadline, deadline) : deadline;
}

void run_call(const HandlerContext& context, CallPtr call, const Command& command,
              const RunHere& run_here) {
  if (!call->hop) return run_here(std::move(call), command);
  Concern concern = concern_of(context, *call, command);
  call->hop->range.reset();
  if (concern.slot) call->hop->range = {concern.slot->range.min, concern.slot->range.max};
  auto address = elsewhere(context, concern);
  if (!address || size_of(call->message) > kForwardBytesMax) {
    return run_here(std::move(call), command);
  }
  if (call->hop->is_forwarded()) return call->reply_moved();
  send(context, {.call = std::move(call),
                 .command = &command,
                 .run_here = run_here,
                 .concern = std::move(concern),
                 .address = std::move(*address)});
}

std::optional<Arrived> take_forwarded(const net::Request& request, const face::Forwarded& forwarded,
                                      net::Responder responder) {
  auto sink = std::make_shared<ForwardedSink>(request, forwarded, std::move(responder));
  auto message = parse_message(request.body);
  if (!message) {
    BsonWriter document;
    document.real("ok", 0)
        .string("errmsg", message.error().message)
        .int32("code", message.error().code);
    sink->answer(document.take(), message.error().code, 0, 0);
    return std::nullopt;
  }
  Arrived arrived{.message = std::move(*message), .sink = sink, .connection = &sink->connection};
  arrived.hop = std::make_unique<Hop>();
  arrived.hop->deadline = forwarded.deadline;
  // The call has both the hop and the sink, so the sink stays.
  arrived.hop->answer = [to = sink.get()](std::string_view document, int32_t code, double charge,
                                          int64_t cursor) {
    to->answer(document, code, charge, cursor);
  };
  arrived.hop->send_back = [to = sink.get()] { to->send_back(); };
  return arrived;
}

bool kill_far_cursor(const HandlerContext& context, const Call& call, int64_t id) {
  if (context.forwarder == nullptr) return false;
  const auto address = context.far_cursors.take_of(call.connection.user, id);
  if (!address) return false;
  BsonWriter command;
  command.string("killCursors", call.collection()).begin_array("cursors").int64("0", id).end();
  command.string("$db", call.database);
  const std::string document = command.take();
  Message message;
  message.body = document;
  const std::string bytes = encode_command(message);
  const std::string principal = principal_of(call.connection);
  peer::OutgoingRequest request;
  request.face = kFaceName;
  request.method = kCommandMethod;
  request.target = "killCursors";
  request.body = bytes;
  request.principal = principal;
  context.forwarder->send(
      *address, std::move(request), steady_clock::now() + kLateAnswer, [] { return true; },
      [](const Result<peer::ForwardAnswer>&) {});  // a lost one ends by itself when it is idle
  return true;
}

Status create_at_owner(const HandlerContext& context, std::string_view database,
                       std::string_view name) {
  BsonWriter command;
  command.string("create", name).string("$db", database);
  const std::string document = command.take();
  Message message;
  message.body = document;
  const std::string bytes = encode_command(message);
  return context.items.patiently([&]() -> Status {
    const auto address = context.forwarder->placement().coordinator_address();
    if (!address) return fail(Code::retry, "this node owns the catalog now");
    if (address->empty()) return fail(Code::retry, "no node has the catalog now");
    peer::OutgoingRequest request;
    request.face = kFaceName;
    request.method = kCommandMethod;
    request.target = "create";
    request.body = bytes;
    request.principal = kWriteRight;
    auto answer = await<Result<peer::ForwardAnswer>>([&](auto done) {
      context.forwarder->send(
          *address, std::move(request), steady_clock::now() + kLateAnswer, [] { return true; },
          std::move(done));
    });
    if (!answer) return orrery::pass(answer.error());
    // One that is there already will do, so it can be asked for twice.
    if (!*answer) return fail(Code::retry, answer->error().message);
    if ((*answer)->moved) return fail(Code::retry, "the catalog is being moved to another node");
    const auto code = number_in<int32_t>((*answer)->headers, "code");
    if (code != 0 && code != kNamespaceExists) {
      return fail(Code::invalid,
                  fmt::format("collection {}.{} could not be made: code {}", database, name, code));
    }
    return context.forwarder->placement().wait_for_catalog((*answer)->catalog_lsn,
                                                           steady_clock::now() + kLateAnswer);
  });
}

}  // namespace orrery::mongo
