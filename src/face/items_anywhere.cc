// See items_anywhere.h.
#include "face/items_anywhere.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/await.h"

namespace orrery::face {
namespace {

using cluster::RoutingPtr;
using cluster::WriteReply;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kWrite = "write";
constexpr std::string_view kRead = "read";
constexpr std::string_view kNotes = "notes";
constexpr std::string_view kHistory = "history";
constexpr std::string_view kUsage = "usage";
constexpr std::string_view kCatalog = "catalog";
// The statuses of answers. A node that does not have the partition answers kMovedStatus.
constexpr int kDone = 200;
constexpr int kFailed = 500;
constexpr uint32_t kElsewhereRetryMs = 500;
// Whom the sender stands for was authorized there.
constexpr std::string_view kPrincipal = "node";

// Nothing was done, as the partition is not here, or not as it was.
bool is_not_here(Code code) {
  return code == Code::elsewhere || code == Code::moved;
}

Error container_is_gone() {
  return {.code = Code::not_found, .message = "the container was dropped"};
}

// Since it was asked about as a whole.
Error was_split() {
  return {.code = Code::precondition_failed, .message = "the partition was split: try again"};
}

Error nobody_has_it(std::string why) {
  return {.code = Code::overloaded, .message = std::move(why), .retry_after_ms = kElsewhereRetryMs};
}

void send_back(net::Responder responder) {
  net::Response moved;
  moved.status = kMovedStatus;
  responder.send(std::move(moved));
}

void send_answer(net::Responder responder, Result<std::string> bytes) {
  if (!bytes && is_not_here(bytes.error().code)) return send_back(std::move(responder));
  net::Response response;
  response.status = bytes ? kDone : kFailed;
  response.body = bytes ? std::move(*bytes) : encode_error(bytes.error());
  responder.send(std::move(response));
}

Result<std::string> body_of(peer::ForwardAnswer answer) {
  if (answer.status == static_cast<uint32_t>(kDone)) return std::move(answer.body);
  return pass(decode_error(answer.body));
}

// A routing that has one of the partitions alone.
RoutingPtr only(const cluster::Routing& routing, const std::shared_ptr<cluster::Slot>& slot) {
  auto one = std::make_shared<cluster::Routing>();
  one->database = routing.database;
  one->container = routing.container;
  one->schema = routing.schema;
  one->prices = routing.prices;
  one->slots = {slot};
  one->shared_budget = routing.shared_budget;
  return one;
}

}  // namespace

// One write on its way.
class ItemsAnywhere::Errand : public std::enable_shared_from_this<Errand> {
 public:
  Errand(const ItemsAnywhere& items, RoutingPtr routing, std::vector<partition::Write> writes,
         bool wants_items, WriteDone done)
      : items_(items),
        forwarder_(*items.forwarder_),
        routing_(std::move(routing)),
        placement_(writes.front().placement),
        writes_(std::move(writes)),
        wants_items_(wants_items),
        done_(std::move(done)) {}

  void run() {
    if (RoutingPtr now = items_.engine_.find(routing_->container->number)) {
      routing_ = std::move(now);
    } else {
      return fail_with(container_is_gone());
    }
    const auto address = forwarder_.placement().address_of(*routing_->slot_of(placement_));
    if (!address) return run_here();
    if (address->empty()) return run_again("no node has the partition now", 0);
    send(*address);
  }

 private:
  void run_here() {
    items_.engine_.write(routing_, writes_, [self = shared_from_this()](WriteReply reply) {
      if (reply.error && is_not_here(reply.error->code)) {
        return self->run_again("the partition is being moved to another node", 0);
      }
      self->done_({.reply = std::move(reply)});
    });
  }

  void send(const std::string& address) {
    if (message_.empty()) {
      const auto refused = std::ranges::find_if_not(writes_, can_travel);
      if (refused != writes_.end()) {
        return fail_with({.code = Code::unsupported,
                          .message = "such a write cannot be sent to the node that has its "
                                     "partition"});
      }
      message_ = encode_write_question({.container = routing_->container->number,
                                        .writes = writes_,
                                        .wants_items = wants_items_});
    }
    peer::OutgoingRequest request;
    request.face = items_.face_;
    request.method = kMethod;
    request.target = kWrite;
    request.body = message_;
    request.principal = kPrincipal;
    forwarder_.tell_apart(sending_, request);
    forwarder_.send(
        address, std::move(request), deadline_, [] { return true; },
        [self = shared_from_this(), address](Result<peer::ForwardAnswer> answer) {
          self->take(address, std::move(answer));
        });
  }

  void take(const std::string& address, Result<peer::ForwardAnswer> answer) {
    if (!answer) {
      const bool is_lost = answer.error().code == Code::internal || sending_.asked_again > 0;
      if (is_lost) return ask_again(address, answer.error());
      sending_ = {};
      return run_again(answer.error().message, 0);
    }
    if (answer->moved) {
      sending_ = {};
      return run_again(fmt::format("the node at {} does not have the partition", address),
                       answer->catalog_lsn);
    }
    auto bytes = body_of(std::move(*answer));
    if (!bytes) return fail_with(bytes.error());
    auto reply = decode_write_reply(*bytes);
    if (!reply) return fail_with(reply.error());
    done_({.reply = std::move(*reply)});
  }

  void ask_again(const std::string& address, const Error& error) {
    const auto pause = error.code == Code::not_found
                           ? std::nullopt
                           : forwarder_.ask_again(sending_, address, deadline_);
    if (pause) {
      return forwarder_.later(*pause, 0,
                              [self = shared_from_this(), address] { self->send(address); });
    }
    StoredItems unknown;
    unknown.reply.error =
        Error{.code = Code::internal,
              .message = error.message + ". It may be done or not: look before you repeat it"};
    unknown.is_unknown = true;
    done_(std::move(unknown));
  }

  void run_again(std::string why, uint64_t catalog_lsn) {
    const auto pause = Forwarder::pause_before(tries_);
    if (++tries_ >= kForwardTriesMax || steady_clock::now() + pause >= deadline_) {
      return fail_with(nobody_has_it(std::move(why)));
    }
    forwarder_.later(pause, catalog_lsn, [self = shared_from_this()] { self->run(); });
  }

  void fail_with(Error error) {
    StoredItems failed;
    failed.reply.error = std::move(error);
    done_(std::move(failed));
  }

  const ItemsAnywhere& items_;
  Forwarder& forwarder_;
  RoutingPtr routing_;
  const std::string placement_;
  const std::vector<partition::Write> writes_;
  const bool wants_items_;
  std::string message_;  // made at the first sending
  const Forwarder::TimePoint deadline_ = steady_clock::now() + kForwardTimeMax;
  int tries_ = 0;
  Sending sending_;
  WriteDone done_;
};

ItemsAnywhere::ItemsAnywhere(cluster::Engine& engine, Forwarder* forwarder, std::string_view face,
                             Complete complete)
    : engine_(engine), forwarder_(forwarder), face_(face), complete_(std::move(complete)) {}

bool ItemsAnywhere::is_elsewhere(const cluster::Routing& routing,
                                 std::string_view placement) const {
  return forwarder_ != nullptr &&
         forwarder_->placement().address_of(*routing.slot_of(placement)).has_value();
}

void ItemsAnywhere::write(RoutingPtr routing, std::vector<partition::Write> transaction,
                          bool wants_items, WriteDone done) {
  if (forwarder_ == nullptr) {
    return engine_.write(
        std::move(routing), std::move(transaction),
        [done = std::move(done)](WriteReply reply) mutable { done({.reply = std::move(reply)}); });
  }
  std::make_shared<Errand>(*this, std::move(routing), std::move(transaction), wants_items,
                           std::move(done))
      ->run();
}

StoredItems ItemsAnywhere::write_and_wait(RoutingPtr routing,
                                          std::vector<partition::Write> transaction) {
  if (forwarder_ == nullptr) {
    return {.reply = engine_.write_and_wait(std::move(routing), std::move(transaction))};
  }
  auto stored = await<StoredItems>([&](auto done) {
    write(std::move(routing), std::move(transaction), false, std::move(done));
  });
  if (stored) return std::move(*stored);
  StoredItems failed{.reply = {}, .is_unknown = true};
  failed.reply.error = stored.error();
  return failed;
}

Status ItemsAnywhere::patiently(const std::function<Status()>& attempt) const {
  const auto deadline = steady_clock::now() + kForwardTimeMax;
  for (int tries = 0;; ++tries) {
    Status done = attempt();
    if (done || forwarder_ == nullptr) return done;
    const Code code = done.error().code;
    if (!is_not_here(code) && code != Code::retry) return done;
    const auto pause = Forwarder::pause_before(tries);
    if (tries + 1 >= kForwardTriesMax || steady_clock::now() + pause >= deadline) {
      return pass(nobody_has_it(done.error().message));
    }
    std::this_thread::sleep_for(pause);
  }
}

Result<peer::ForwardAnswer> ItemsAnywhere::send(const std::string& address, std::string_view what,
                                                std::string_view body,
                                                Forwarder::TimePoint deadline) const {
  peer::OutgoingRequest request;
  request.face = face_;
  request.method = kMethod;
  request.target = what;
  request.body = body;
  request.principal = kPrincipal;
  auto answer = await<Result<peer::ForwardAnswer>>([&](auto done) {
    forwarder_->send(address, std::move(request), deadline, [] { return true; }, std::move(done));
  });
  if (!answer) return pass(answer.error());
  if (!*answer) return fail(Code::retry, answer->error().message);
  if ((*answer)->moved) {
    return fail(Code::retry,
                fmt::format("the node at {} does not have what it was asked for", address));
  }
  return std::move(**answer);
}

Status ItemsAnywhere::learn_catalog() const {
  if (forwarder_ == nullptr) return {};
  const auto deadline = steady_clock::now() + kForwardTimeMax;
  return patiently([&]() -> Status {
    const auto address = forwarder_->placement().coordinator_address();
    if (!address) return {};  // it is this node's own
    if (address->empty()) return fail(Code::retry, "no node has the catalog now");
    auto answer = send(*address, kCatalog, encode_question({}), deadline);
    if (!answer) return pass(answer.error());
    return forwarder_->placement().wait_for_catalog(answer->catalog_lsn, deadline);
  });
}

template <class T>
Result<T> ItemsAnywhere::ask(const cluster::Routing& routing, std::string_view what,
                             const PartitionQuestion& question, const Here<T>& here,
                             Result<T> (*decode)(std::string_view), Patience patience) const {
  const auto deadline = steady_clock::now() + kForwardTimeMax;
  Result<T> outcome = fail(Code::retry, "");
  const std::function<Status()> attempt = [&]() -> Status {
    const RoutingPtr now = engine_.find(routing.container->number);
    if (!now) return pass(container_is_gone());
    const auto address = forwarder_->placement().address_of(*now->slot_of(question.placement));
    if (!address) {
      outcome = here(now);
      return outcome ? Status() : pass(outcome.error());
    }
    if (address->empty()) return fail(Code::retry, "no node has the partition now");
    auto answer = send(*address, what, encode_question(question), deadline);
    if (!answer) return pass(answer.error());
    auto bytes = body_of(std::move(*answer));
    if (!bytes) return pass(bytes.error());
    outcome = decode(*bytes);
    return outcome ? Status() : pass(outcome.error());
  };
  const Status done = patience == Patience::waits ? patiently(attempt) : attempt();
  if (!done) return pass(done.error());
  return outcome;
}

Result<cluster::ReadReply> ItemsAnywhere::read(const RoutingPtr& routing,
                                               std::string_view placement, std::string_view row) {
  using Reply = cluster::ReadReply;
  const Here<Reply> here = [&](const RoutingPtr& now) -> Result<Reply> {
    auto read = await<Result<Reply>>([&](auto done) {
      engine_.read(now, std::string(placement), std::string(row), {}, std::move(done));
    });
    if (!read) return pass(read.error());
    return std::move(*read);
  };
  if (forwarder_ == nullptr) return here(routing);
  return ask<Reply>(*routing, kRead,
                    {.container = routing->container->number,
                     .placement = std::string(placement),
                     .row = std::string(row)},
                    here, decode_read);
}

Result<std::vector<partition::KeptNote>> ItemsAnywhere::notes(const RoutingPtr& routing,
                                                              std::string_view min,
                                                              std::string_view max,
                                                              std::string_view owner,
                                                              uint64_t number) {
  using Notes = std::vector<partition::KeptNote>;
  if (forwarder_ == nullptr) return engine_.notes(routing, owner, number);
  Notes all;
  std::string from(min);
  int splits = 0;
  while (from < max) {
    const RoutingPtr now = engine_.find(routing->container->number);
    if (!now) return all;
    const std::string end = now->slot_of(from)->range.max;
    const Here<Notes> here = [&](const RoutingPtr& newest) -> Result<Notes> {
      const auto& slot = newest->slot_of(from);
      if (slot->range.max != end) return pass(was_split());
      return engine_.notes(only(*newest, slot), owner, number);
    };
    auto some = ask<Notes>(*routing, kNotes,
                           {.container = routing->container->number,
                            .placement = from,
                            .max = end,
                            .owner = std::string(owner),
                            .number = number},
                           here, decode_notes);
    if (!some && some.error().code == was_split().code && ++splits < kForwardTriesMax) {
      std::this_thread::sleep_for(Forwarder::pause_before(splits));
      continue;
    }
    if (!some) return some;
    std::ranges::move(*some, std::back_inserter(all));
    from = end;
  }
  return all;
}

Result<cluster::HistoryReply> ItemsAnywhere::history(const RoutingPtr& routing,
                                                     std::string_view min, std::string_view max,
                                                     const cluster::ChangesFrom& from,
                                                     size_t most) {
  using Reply = cluster::HistoryReply;
  const Here<Reply> here = [&](const RoutingPtr& now) {
    return engine_.history(now, min, max, from, most, {});
  };
  if (forwarder_ == nullptr) return here(routing);
  auto page = ask<Reply>(*routing, kHistory,
                         {.container = routing->container->number,
                          .placement = std::string(min),
                          .min = std::string(min),
                          .max = std::string(max),
                          .from = from,
                          .most = most},
                         here, decode_history, Patience::does_not_wait);
  if (!page && (page.error().code == Code::retry || page.error().code == Code::elsewhere)) {
    return fail(Code::moved, page.error().message);
  }
  return page;
}

Result<PartitionUsage> ItemsAnywhere::usage_here(const cluster::Routing& routing,
                                                 std::string_view placement) {
  auto all = engine_.status(routing.container->number);
  if (!all) return pass(all.error());
  PartitionUsage usage;
  for (const cluster::PartitionStatus& status : *all) {
    const bool is_it = status.range.min <= placement && placement < status.range.max;
    if (forwarder_ != nullptr && !is_it) continue;
    usage.items += status.usage.items;
    usage.bytes += status.usage.bytes;
    usage.index_bytes += status.index_bytes;
    usage.is_indexed = usage.is_indexed && status.indexed_percent == 100;
  }
  return usage;
}

Result<PartitionUsage> ItemsAnywhere::usage(const RoutingPtr& routing) {
  if (forwarder_ == nullptr) return usage_here(*routing, {});
  PartitionUsage all;
  for (const auto& slot : routing->slots) {
    const std::string& placement = slot->range.min;
    const Here<PartitionUsage> here = [&](const RoutingPtr& now) {
      return usage_here(*now, placement);
    };
    auto one = ask<PartitionUsage>(
        *routing, kUsage, {.container = routing->container->number, .placement = placement}, here,
        decode_usage);
    if (!one) return one;
    all.items += one->items;
    all.bytes += one->bytes;
    all.index_bytes += one->index_bytes;
    all.is_indexed = all.is_indexed && one->is_indexed;
  }
  return all;
}

// ---- at the node that has the partition

void ItemsAnywhere::answer(const net::Request& request, const Forwarded& forwarded,
                           net::Responder responder) {
  if (forwarded.principal != kPrincipal) {
    return send_answer(std::move(responder), fail(Code::forbidden, "only nodes ask for items so"));
  }
  if (request.target == kWrite) return answer_write(request.body, std::move(responder));
  auto question = decode_question(request.body);
  if (!question) return send_answer(std::move(responder), pass(question.error()));
  if (request.target == kRead) return answer_read(*question, std::move(responder));
  forwarder_->later(milliseconds(0), 0,
                    [this, what = std::string(request.target), question = std::move(*question),
                     responder = std::move(responder)]() mutable {
                      send_answer(std::move(responder), run(what, question));
                    });
}

void ItemsAnywhere::answer_write(std::string_view body, net::Responder responder) {
  auto question = decode_write_question(body);
  if (!question) return send_answer(std::move(responder), pass(question.error()));
  const RoutingPtr routing = engine_.find(question->container);
  if (!routing || is_elsewhere(*routing, question->writes.front().placement)) {
    return send_back(std::move(responder));
  }
  for (partition::Write& write : question->writes) {
    write.schema = routing->schema;
    if (auto whole = complete_(write, *routing); !whole) {
      return send_answer(std::move(responder), pass(whole.error()));
    }
  }
  engine_.write(routing, std::move(question->writes),
                [responder = std::move(responder),
                 wants_items = question->wants_items](WriteReply reply) mutable {
                  if (reply.error && is_not_here(reply.error->code)) {
                    return send_back(std::move(responder));
                  }
                  send_answer(std::move(responder), encode_write_reply(reply, wants_items));
                });
}

void ItemsAnywhere::answer_read(const PartitionQuestion& question, net::Responder responder) {
  const RoutingPtr routing = engine_.find(question.container);
  if (!routing || is_elsewhere(*routing, question.placement)) {
    return send_back(std::move(responder));
  }
  engine_.read(routing, question.placement, question.row, {},
               [responder = std::move(responder)](Result<cluster::ReadReply> reply) mutable {
                 if (!reply) return send_answer(std::move(responder), pass(reply.error()));
                 send_answer(std::move(responder), encode_read(*reply));
               });
}

Result<std::string> ItemsAnywhere::run(std::string_view what, const PartitionQuestion& question) {
  if (what == kCatalog) {
    if (forwarder_->placement().coordinator_address()) {
      return fail(Code::elsewhere, "another node has the catalog");
    }
    if (auto current = engine_.check_current(); !current) return pass(current.error());
    return std::string();
  }
  const RoutingPtr routing = engine_.find(question.container);
  if (!routing || is_elsewhere(*routing, question.placement)) {
    return fail(Code::elsewhere, "another node has the partition");
  }
  if (what == kNotes) {
    const auto& slot = routing->slot_of(question.placement);
    if (slot->range.max != question.max) return pass(was_split());
    auto found = engine_.notes(only(*routing, slot), question.owner, question.number);
    if (!found) return pass(found.error());
    return encode_notes(*found);
  }
  if (what == kHistory) {
    auto page =
        engine_.history(routing, question.min, question.max, question.from, question.most, {});
    if (!page) return pass(page.error());
    return encode_history(*page);
  }
  if (what == kUsage) {
    auto usage = usage_here(*routing, question.placement);
    if (!usage) return pass(usage.error());
    return encode_usage(*usage);
  }
  return fail(Code::unsupported, fmt::format("items know no question '{}'", what));
}

}  // namespace orrery::face
