// See budget.h.
#include "base/budget.h"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

thread_local int64_t counted_bytes = 0;

}  // namespace

CountedBytes::CountedBytes(size_t bytes) : bytes_(bytes) {
  counted_bytes += static_cast<int64_t>(bytes);
}

CountedBytes::~CountedBytes() {
  counted_bytes -= static_cast<int64_t>(bytes_);
}

int64_t CountedBytes::on_this_thread() {
  return counted_bytes;
}

void Budget::start(Limits limits) {
  limits_ = std::move(limits);
  ended_ = Ended::no;
  counted_at_start_ = counted_bytes;
  left_ = spent_ = std::min(kStepsBetweenLooks, limits_.steps);
}

void Budget::end(Ended why) {
  if (ended_ != Ended::no) return;
  ended_ = why;
  spent_ -= left_;
  left_ = 0;
}

bool Budget::is_within(uint64_t more) const {
  const auto counted =
      static_cast<uint64_t>(std::max<int64_t>(counted_bytes - counted_at_start_, 0));
  const uint64_t used = counted + held_;
  return used <= limits_.bytes && more <= limits_.bytes - used;
}

bool Budget::has_room(uint64_t bytes) {
  if (ended_ != Ended::no) return false;
  if (!is_within(bytes)) end(Ended::memory);
  return ended_ == Ended::no;
}

bool Budget::look(uint64_t steps) {
  if (ended_ != Ended::no) return true;
  const uint64_t taken = spent_ - left_ + steps;
  spent_ = taken;
  left_ = 0;
  if (!is_within(0)) {
    end(Ended::memory);
  } else if (taken > limits_.steps ||
             (taken >= limits_.free_steps && limits_.stop && limits_.stop())) {
    end(Ended::time);
  } else {
    left_ = std::min(kStepsBetweenLooks, limits_.steps - taken + 1);
    spent_ += left_;
  }
  return ended_ != Ended::no;
}

}  // namespace orrery
