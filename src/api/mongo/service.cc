// See service.h.
#include "api/mongo/service.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/access.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/documents/retryable_write.h"
#include "api/mongo/documents/writing.h"
#include "api/mongo/forward/forward.h"
#include "net/loopback.h"
#include "net/stream.h"

namespace orrery::mongo {
namespace {

using value::Value;

// Drivers keep connections for long, and expect to find them.
constexpr std::chrono::hours kIdleTimeout{1};

std::vector<std::string_view> names_of_commands() {
  std::vector<std::string_view> names;
  for (const Command& command : all_commands()) names.push_back(command.name);
  names.push_back("other");
  return names;
}

face::Lane lane_of(Runs runs) {
  switch (runs) {
    case Runs::writes:
      return face::Lane::reads;
    case Runs::queries:
      return face::Lane::queries;
    default:
      return face::Lane::management;
  }
}

// Null: the call has got what a fail point has for it.
CallPtr fail_on_purpose(CallPtr call, const ForcedFailure& failure) {
  if (failure.closes_connection) {
    call->hang_up();
    return nullptr;
  }
  if (failure.labels) {
    for (const std::string& label : *failure.labels) call->error_labels.push_back(label);
  }
  call->hangs_up = failure.closes_after;
  if (!failure.code) {
    call->write_concern_error = failure.write_concern_error;
    return call;
  }
  constexpr int32_t kLockTimeout = 24;
  constexpr int32_t kPreparedTransactionInProgress = 267;
  const bool is_retryable_code = has_retryable_label(*failure.code);
  const bool is_transient_code = is_transient(*failure.code) || *failure.code == kLockTimeout ||
                                 *failure.code == kPreparedTransactionInProgress;
  if (failure.labels) {
    // As it was asked for.
  } else if (call->is_statement()
                 ? is_retryable_code || is_transient_code
                 : call->is_in_transaction() && is_transient_code && !is_retryable_code) {
    call->error_labels.push_back("TransientTransactionError");
  } else if (!call->is_statement() && call->has_transaction_number() && is_retryable_code) {
    call->error_labels.push_back("RetryableWriteError");
  }
  call->fail(Error{*failure.code, "Failing command via 'failCommand' failpoint"});
  return nullptr;
}

}  // namespace

void run_later(const HandlerContext& context, CallPtr call, Runs runs,
               Answer<void> (*run)(const HandlerContext&, Call&), uint64_t share) {
  context.lanes.submit(lane_of(runs), share,
                       std::make_unique<face::WaitingCall<Call>>(
                           std::move(call), [&context, runs, run, share](CallPtr running) {
                             running->is_waiting = false;
                             Answer<void> outcome = run(context, *running);
                             // Another node may have the partitions by now: what was read is not
                             // the newest then.
                             if (outcome && runs == Runs::queries) {
                               if (auto current = context.engine.check_current(); !current) {
                                 outcome = pass(engine_error(current.error()));
                               }
                             }
                             if (!running->is_waiting) return running->finish(outcome);
                             context.parking.park(
                                 std::move(running), [&context, runs, run, share](CallPtr again) {
                                   run_later(context, std::move(again), runs, run, share);
                                 });
                           }));
}

Service::Service(const face::Context& lent, ServiceOptions options)
    : context_(lent, std::move(options),
               [](partition::Write& write, const cluster::Routing& routing) {
                 prepare_terms(write, routing);
                 return Status();
               }),
      operations_(names_of_commands()),
      metrics_(std::string(kFaceName), operations_) {}

net::ListenerSpec Service::listener(std::string_view /*port*/) {
  net::ListenerSpec spec;
  spec.tls = net::TlsMode::by_first_byte;
  spec.limits.idle_timeout = kIdleTimeout;
  spec.sessions = [this](net::Stream& stream) -> std::unique_ptr<net::Session> {
    return std::make_unique<WireSession>(stream, *this);
  };
  return spec;
}

Connection Service::connect(const net::Stream& stream) {
  Connection connection;
  connection.id = context_.connections_made.fetch_add(1, std::memory_order_relaxed) + 1;
  context_.connections_open.fetch_add(1, std::memory_order_relaxed);
  connection.peer = stream.peer();
  connection.local = stream.local();
  connection.is_tls = stream.tls();
  if (context_.options.in_development && net::is_loopback(connection.peer)) {
    connection.access = account::Access::read_write;
  }
  return connection;
}

void Service::disconnected(const Connection& /*connection*/) noexcept {
  context_.connections_open.fetch_sub(1, std::memory_order_relaxed);
}

CallPtr Service::remembered(CallPtr call) const {
  if (!call->has_transaction_number()) return call;
  const std::string owner = call->session();
  const Value number = call->command.find("txnNumber");
  if (owner.empty() || number.number_kind() != value::NumberKind::int64) {
    call->fail(Error{kInvalidOptions, "txnNumber may only be provided with an lsid, as a long"});
    return nullptr;
  }
  if (auto checked = check_statement_ids(call->command); !checked) {
    call->fail(std::move(checked.error()));
    return nullptr;
  }
  context_.transactions.supersede(owner, number.integer());
  auto begun =
      context_.retries.begin(owner, number.integer(), fmt::format("{} {}", call->name, call->ns()));
  switch (begun.state) {
    case RetryMemory::State::fresh:
      // Among several nodes, another may have had the session in between.
      call->retry =
          std::make_shared<RetryableWrite>(owner, number.integer(), call->command,
                                           begun.may_be_done || context_.engine.seat() != nullptr);
      call->remember = [this, owner, at = number.integer()](std::optional<std::string> answer) {
        context_.retries.done(owner, at, std::move(answer));
      };
      return call;
    case RetryMemory::State::known:
      call->reply_again(begun.answer);
      return nullptr;
    case RetryMemory::State::running:
      call->error_labels.push_back("RetryableWriteError");
      call->fail(Error{kExceededTimeLimit, "the same write is being done: try again"});
      return nullptr;
    case RetryMemory::State::other:
      call->fail(Error{217, "this session has used the txnNumber for another command"});
      return nullptr;
    case RetryMemory::State::old:
      break;
  }
  call->fail(Error{225, "txnNumber is less than one that this session has used"});
  return nullptr;
}

void Service::receive(Message message, Connection& connection, std::shared_ptr<ReplySink> sink) {
  begin(std::move(message), connection, std::move(sink), nullptr);
}

void Service::handle_forwarded(const net::Request& request, const face::Forwarded& forwarded,
                               net::Responder responder) {
  if (request.method == face::ItemsAnywhere::kMethod) {
    return context_.items.answer(request, forwarded, std::move(responder));
  }
  auto arrived = take_forwarded(request, forwarded, std::move(responder));
  if (!arrived) return;
  begin(std::move(arrived->message), *arrived->connection, std::move(arrived->sink),
        std::move(arrived->hop));
}

void Service::begin(Message message, Connection& connection, std::shared_ptr<ReplySink> sink,
                    std::unique_ptr<Hop> hop) {
  auto command_value = from_bson(message.body);
  const bool is_query = message.form.is_query;
  auto call = std::make_unique<Call>(std::move(message),
                                     command_value ? *command_value : Value::make_object({}),
                                     connection, std::move(sink), context_.clock, metrics_);
  call->metric = operations_.size() - 1;
  call->hop = std::move(hop);
  if (!command_value) return call->fail(command_value.error());
  const Command* const command = find_command(call->name);
  if (command == nullptr) {
    if (!is_logged_in(context_, connection)) {
      return call->fail(
          Error{kUnauthorized, fmt::format("Command {} requires authentication", call->name)});
    }
    return call->fail(
        Error{kCommandNotFound, fmt::format("no such command: '{}'", call->name.substr(0, 100))});
  }
  call->metric = static_cast<size_t>(command - all_commands().data());
  if (is_query && command->run != run_hello) {
    return call->fail(Error{352, fmt::format("Unsupported OP_QUERY command: {}", call->name)});
  }
  if (call->database.empty()) {
    return call->fail(Error{40571, "OP_MSG requests require a $db argument"});
  }
  if (auto may = check_may(context_, *call, command->needs, call->database); !may) {
    return call->fail(may.error());
  }
  if (context_.options.in_development && command->run != run_configure_fail_point) {
    if (context_.fail_point.is_out_of_time() && call->max_time_ms() > 0) {
      return call->fail(Error{kMaxTimeMsExpired, "operation exceeded time limit"});
    }
    const bool has_number = call->has_transaction_number() && !call->is_in_transaction();
    if (auto failure = context_.fail_point.take(command->name, connection.app_name, has_number)) {
      if (failure->blocks_for.count() == 0) {
        call = fail_on_purpose(std::move(call), *failure);
        return call ? run_checked(std::move(call), *command) : void();
      }
      const auto pause = failure->blocks_for;
      return context_.parking.park(
          std::move(call),
          [this, command, failed = std::move(*failure)](CallPtr later) {
            later = fail_on_purpose(std::move(later), failed);
            if (later) run_checked(std::move(later), *command);
          },
          pause);
    }
  }
  run_checked(std::move(call), *command);
}

void Service::run_checked(CallPtr call, const Command& command) {
  // What is told of the cluster's time is not needed here, but a client that tells nonsense learns
  // of it as from MongoDB.
  const Value gossip = call->command.find("$clusterTime");
  if (const Value time = gossip.find("clusterTime");
      !gossip.is_undefined() && time.type() != value::Type::timestamp) {
    return call->fail(
        Error{kTypeMismatch, fmt::format("BSON field '$clusterTime.clusterTime' is the wrong type "
                                         "'{}', expected type 'timestamp'",
                                         type_name(time))});
  }
  const Value level = call->command.find("readConcern").find("level");
  // A cursor goes on as it was opened. Drivers name the level with all commands of a session.
  const bool is_of_cursor = command.run == run_get_more || command.run == run_kill_cursors;
  if (level.is_string() && level.text() == "snapshot" && !call->is_in_transaction() &&
      !is_of_cursor) {
    return run_later(context_, std::move(call), Runs::queries, run_at_snapshot, 0);
  }
  if (call->is_in_transaction()) {
    const Runs runs = command.runs == Runs::queries ? Runs::queries : Runs::writes;
    return run_later(context_, std::move(call), runs, run_in_transaction, 0);
  }
  begin_hop(context_, *call);
  run_call(context_, std::move(call), command,
           [this](CallPtr running, const Command& known) { run_here(std::move(running), known); });
}

void Service::run_here(CallPtr call, const Command& command) {
  if (command.needs == Action::write) {
    call = remembered(std::move(call));
    if (!call) return;
  }
  if (command.run == run_find && try_find_at_once(context_, call)) return;
  if (command.run == run_insert && try_insert_at_once(context_, call)) return;
  const bool modifies =
      command.run == run_update || command.run == run_delete || command.run == run_find_and_modify;
  if (modifies && try_modify_at_once(context_, call, command.run)) return;
  if (command.runs == Runs::at_once) return call->finish(command.run(context_, *call));
  const auto routing = call->collection().empty()
                           ? nullptr
                           : find_collection(context_, call->database, call->collection());
  run_later(context_, std::move(call), command.runs, command.run,
            routing ? routing->container->number : 0);
}

}  // namespace orrery::mongo
