// A page whose items are read by several threads: the parts of its space, and the time and memory
// that they share. Each part has a context of its own; the query and its index plan are shared.
//
// The parts together may keep as much memory as a page may. When they would keep more, the page is
// made again by one thread, which can leave rows to later pages as it goes.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_annotations.h"
#include "query/evaluate/bound.h"
#include "query/plan/index_plan.h"
#include "query/run/page.h"
#include "query/run/part_run.h"

namespace orrery::query {

// Whether each item can be evaluated by itself on any thread: not where functions of users, or
// functions that depend on the rows before, are called.
bool can_run_in_parts(const BoundQuery& query);

class PageParts {
 public:
  // Null when there is nothing to divide, or nobody to help. `from_key`: where the page starts;
  // empty: at the first item. All that is passed outlives it.
  static std::unique_ptr<PageParts> divide(const PageInput& input, const PageLimits& limits,
                                           std::string_view from_key);

  size_t count() const { return parts_.size(); }
  // As PartRun::run.
  void run(PartRun::Needs needs, const std::function<void(size_t)>& work,
           const std::function<bool(size_t)>& take) {
    run_.run(needs, work, take);
  }

  // Of the part, for the thread that works on it. The budget starts here.
  const PageInput& begin(size_t part);
  const PageLimits& limits(size_t part) const { return parts_[part].limits; }
  // Reports memory that a part keeps more than before (wraps around for less). False: all together
  // keep too much.
  bool hold(size_t more);

  // After the part was worked on.
  ItemSpace& space(size_t part) const { return *parts_[part].space; }
  const Context& context(size_t part) const { return *parts_[part].context; }
  // The place between the part and the one before it, as the key of an item.
  std::string start_key(size_t part) const;

 private:
  struct Part {
    std::string start;  // a placement key
    std::unique_ptr<ItemSpace> space;
    std::unique_ptr<Context> context;
    std::unique_ptr<PageInput> input;
    PageLimits limits;
  };

  // Whether the page's time is over, for any thread.
  class Deadline {
   public:
    explicit Deadline(const PageLimits& limits) : limits_(limits) {}
    bool is_over();

   private:
    const PageLimits& limits_;
    std::atomic<bool> is_over_ = false;
    Mutex asking_;  // limits_.stop is for one thread at a time
  };

  PageParts(const PageInput& input, const PageLimits& limits, std::unique_ptr<Deadline> deadline,
            std::vector<ItemSpace::Part> parts);

  const PageInput& input_;
  const PageLimits& limits_;
  const std::unique_ptr<Deadline> deadline_;
  std::vector<Part> parts_;
  PartRun run_;
  std::atomic<size_t> held_ = 0;
};

}  // namespace orrery::query
