// See fiber.h.
#include "nodes/simulation/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ORRERY_FIBER_ASAN 1
#include <sanitizer/common_interface_defs.h>
#endif
#if __has_feature(thread_sanitizer)
#define ORRERY_FIBER_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#endif

namespace orrery::nodes::simulation {
namespace {

constexpr size_t kStackBytes = 256ULL << 10;

}  // namespace

Fibers::Fibers() {
#ifdef ORRERY_FIBER_TSAN
  main_thread_ = __tsan_get_current_fiber();
#endif
}

Fibers::~Fibers() {
  for (const auto& fiber : all_) {
    ::munmap(fiber->stack_, kStackBytes);
#ifdef ORRERY_FIBER_TSAN
    __tsan_destroy_fiber(fiber->thread_);
#endif
  }
}

Fiber* Fibers::make(std::move_only_function<void()> work) {
  Fiber* fiber = nullptr;
  if (!free_.empty()) {
    fiber = free_.back();
    free_.pop_back();
  } else {
    all_.push_back(std::make_unique<Fiber>());
    fiber = all_.back().get();
    fiber->stack_ = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fiber->stack_ == MAP_FAILED) std::abort();
#ifdef ORRERY_FIBER_TSAN
    fiber->thread_ = __tsan_create_fiber(0);
#endif
    ::getcontext(&fiber->context_);
    fiber->context_.uc_stack.ss_sp = fiber->stack_;
    fiber->context_.uc_stack.ss_size = kStackBytes;
    fiber->context_.uc_link = nullptr;
    const auto self = reinterpret_cast<uintptr_t>(this);
    ::makecontext(&fiber->context_, reinterpret_cast<void (*)()>(&Fibers::enter), 2,
                  static_cast<unsigned>(self), static_cast<unsigned>(self >> 32));
  }
  fiber->work_ = std::move(work);
  fiber->done_ = false;
  return fiber;
}

// A fiber that is done waits here for other work.
void Fibers::enter(unsigned low, unsigned high) {
  auto* fibers =
      reinterpret_cast<Fibers*>(static_cast<uintptr_t>(low) | (static_cast<uintptr_t>(high) << 32));
#ifdef ORRERY_FIBER_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &fibers->main_stack_, &fibers->main_stack_size_);
#endif
  fibers->run(fibers->running_);
}

void Fibers::run(Fiber* fiber) {
  for (;;) {
    fiber->work_();
    fiber->work_ = nullptr;
    fiber->done_ = true;
    switch_back(fiber);
  }
}

void Fibers::resume(Fiber* fiber) {
  running_ = fiber;
  switch_to(fiber);
  running_ = nullptr;
  if (fiber->done_) free_.push_back(fiber);
}

void Fibers::suspend() {
  switch_back(running_);
}

void Fibers::switch_to(Fiber* fiber) {
#ifdef ORRERY_FIBER_ASAN
  __sanitizer_start_switch_fiber(&main_fake_stack_, fiber->stack_, kStackBytes);
#endif
#ifdef ORRERY_FIBER_TSAN
  __tsan_switch_to_fiber(fiber->thread_, 0);
#endif
  ::swapcontext(&main_, &fiber->context_);
#ifdef ORRERY_FIBER_ASAN
  __sanitizer_finish_switch_fiber(main_fake_stack_, nullptr, nullptr);
#endif
}

void Fibers::switch_back(Fiber* fiber) {
#ifdef ORRERY_FIBER_ASAN
  __sanitizer_start_switch_fiber(&fiber->fake_stack_, main_stack_, main_stack_size_);
#endif
#ifdef ORRERY_FIBER_TSAN
  __tsan_switch_to_fiber(main_thread_, 0);
#endif
  ::swapcontext(&fiber->context_, &main_);
#ifdef ORRERY_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fiber->fake_stack_, &main_stack_, &main_stack_size_);
#endif
}

}  // namespace orrery::nodes::simulation
