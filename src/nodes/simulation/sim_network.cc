// See sim_network.h.
#include "nodes/simulation/sim_network.h"

#include <utility>

namespace orrery::nodes::simulation {

struct SimLink::Call {
  peer::Done done;

  void finish(Result<std::string> result) {
    if (!done) return;
    peer::Done told = std::exchange(done, nullptr);
    told(std::move(result));
  }
};

int64_t SimLink::delay_us() {
  if (world_.happens(world_.troubles.message_slow)) {
    ++world_.counts.messages_slow;
    return world_.between(5'000, 1'500'000);
  }
  return world_.between(100, 1'500);
}

void SimLink::call(const std::string& address, std::string kind, std::string bytes,
                   std::chrono::milliseconds deadline, peer::Done done) {
  const auto call = std::make_shared<Call>();
  call->done = std::move(done);
  if (process_.dead) return call->finish(fail(Code::overloaded, "the process is dead"));
  ++world_.counts.messages;
  world_.at(world_.now_us() + deadline.count() * 1000, [call, &process = process_] {
    if (!process.dead) call->finish(fail(Code::internal, "no answer by the deadline"));
  });
  if (world_.happens(world_.troubles.message_lost)) {
    ++world_.counts.messages_lost;
    return;
  }
  const int copies = world_.happens(world_.troubles.message_doubled) ? 2 : 1;
  if (copies == 2) ++world_.counts.messages_doubled;
  for (int i = 0; i < copies; ++i) {
    world_.at(world_.now_us() + delay_us(),
              [this, address, kind, bytes, call] { deliver(address, kind, bytes, call); });
  }
}

void SimLink::deliver(const std::string& address, const std::string& kind, const std::string& bytes,
                      const std::shared_ptr<Call>& call) {
  const auto listener = network_.listeners.find(address);
  if (listener == network_.listeners.end()) return;
  Process& receiver = *listener->second.process;
  if (receiver.dead || world_.is_cut(process_.node, receiver.node)) return;
  peer::Answerer* const answerer = listener->second.answerer;
  // The answer goes the same way back. It may be given by no fiber.
  auto answered = [this, &receiver, call](Result<std::string> result) {
    if (receiver.dead) return;
    if (world_.happens(world_.troubles.message_lost)) {
      ++world_.counts.messages_lost;
      return;
    }
    world_.at(world_.now_us() + delay_us(), [this, &receiver, call, result = std::move(result)] {
      if (process_.dead || world_.is_cut(process_.node, receiver.node)) return;
      call->finish(result);
    });
  };
  world_.spawn(receiver, [answerer, kind, bytes, answered = std::move(answered)]() mutable {
    answerer->answer(kind, bytes, std::move(answered));
  });
}

}  // namespace orrery::nodes::simulation
