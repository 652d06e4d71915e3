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
  }
  if (receiver == nullptr) return done(nobody());
  receiver->receive(std::move(request), std::move(done));
}

}  // namespace orrery::peer
