// See switchboard.h.
#include "peer/switchboard.h"

namespace orrery::peer {
namespace {

std::unexpected<Error> nobody() {
  return fail(Code::overloaded,
              "the node is starting or stopping, or of another version: this was not run");
}

}  // namespace

void Switchboard::add(std::string prefix, Answerer& answerer) {
  MutexLock lock(mutex_);
  answerers_.emplace_back(std::move(prefix), &answerer);
}

void Switchboard::set_receiver(ForwardReceiver& receiver) {
  MutexLock lock(mutex_);
  receiver_ = &receiver;
}

bool Switchboard::finish_receiving(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  MutexLock lock(mutex_);
  receiver_ = nullptr;
  while (receiving_ > 0) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) return false;
    answered_.wait_for(mutex_, until - now);
  }
  return true;
}

void Switchboard::clear() {
  MutexLock lock(mutex_);
  answerers_.clear();
  receiver_ = nullptr;
}

void Switchboard::answer(std::string kind, std::string bytes, Done done) {
  Answerer* answerer = nullptr;
  {
    MutexLock lock(mutex_);
    for (const auto& [prefix, one] : answerers_) {
      if (kind.starts_with(prefix)) answerer = one;
    }
  }
  if (answerer == nullptr) return done(nobody());
  answerer->answer(std::move(kind), std::move(bytes), std::move(done));
}

void Switchboard::receive(IncomingRequest request, ForwardDone done) {
  ForwardReceiver* receiver = nullptr;
  {
    MutexLock lock(mutex_);
    receiver = receiver_;
    if (receiver != nullptr) ++receiving_;
  }
  if (receiver == nullptr) return done(nobody());
  receiver->receive(std::move(request),
                    [this, done = std::move(done)](Result<ForwardAnswer> answer) mutable {
                      done(std::move(answer));
                      MutexLock lock(mutex_);
                      --receiving_;
                      answered_.notify_all();
                    });
}

}  // namespace orrery::peer
