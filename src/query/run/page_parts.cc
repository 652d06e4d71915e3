// See page_parts.h.
#include "query/run/page_parts.h"

#include <algorithm>
#include <utility>

#include "value/ordered.h"

namespace orrery::query {
namespace {

bool can_run(const BoundExpr& expr) {
  if (expr.kind == BoundKind::user_call) return false;
  if (expr.kind == BoundKind::call && expr.function->depends == Depends::row) return false;
  if (expr.query && !can_run_in_parts(*expr.query)) return false;
  return std::ranges::all_of(expr.children, can_run);
}

}  // namespace

bool can_run_in_parts(const BoundQuery& query) {
  return std::ranges::all_of(query.sources, can_run, &BoundSource::collection) &&
         (!query.where || can_run(*query.where)) && std::ranges::all_of(query.group_by, can_run) &&
         std::ranges::all_of(query.aggregates, can_run, &BoundAggregate::argument) &&
         std::ranges::all_of(query.order_by, can_run, &BoundOrder::expr) &&
         std::ranges::all_of(query.items, [](const auto& item) { return can_run(item.second); });
}

std::unique_ptr<PageParts> PageParts::divide(const PageInput& input, const PageLimits& limits,
                                             std::string_view from_key) {
  if (limits.helpers == nullptr) return nullptr;
  std::string from;
  if (!from_key.empty()) {
    auto placement = value::take_ordered_bytes(from_key);
    if (!placement) return nullptr;
    from = std::move(*placement);
  }
  auto deadline = std::make_unique<Deadline>(limits);
  auto parts = input.space.divide(from, [at = deadline.get()] { return at->is_over(); });
  if (parts.size() < 2) return nullptr;
  return std::unique_ptr<PageParts>(
      new PageParts(input, limits, std::move(deadline), std::move(parts)));
}

PageParts::PageParts(const PageInput& input, const PageLimits& limits,
                     std::unique_ptr<Deadline> deadline, std::vector<ItemSpace::Part> parts)
    : input_(input),
      limits_(limits),
      deadline_(std::move(deadline)),
      run_(limits.helpers, parts.size()) {
  parts_.reserve(parts.size());
  for (ItemSpace::Part& part : parts) {
    parts_.push_back({.start = std::move(part.start),
                      .space = std::move(part.space),
                      .context = nullptr,
                      .input = nullptr,
                      .limits = {}});
  }
}

const PageInput& PageParts::begin(size_t part) {
  Part& one = parts_[part];
  one.context = std::make_unique<Context>();
  Context& context = *one.context;
  const size_t at_once = std::min(parts_.size(), limits_.helpers->threads() + 1);
  context.now_ticks = input_.context.now_ticks;
  context.item_number = input_.context.item_number;
  context.budget.start({.stop =
                            [this, &context] {
                              run_.look();
                              return context.budget.steps() >= limits_.free_steps &&
                                     deadline_->is_over();
                            },
                        .bytes = (kPageMemoryMax + kEvaluationBytesMax) / at_once});
  one.limits = limits_;
  one.limits.helpers = nullptr;
  one.limits.gives_parts = false;
  one.limits.stop = [this] { return deadline_->is_over(); };
  one.input = std::make_unique<PageInput>(*one.space, context, input_.plan);
  return *one.input;
}

bool PageParts::Deadline::is_over() {
  if (is_over_.load(std::memory_order_relaxed)) return true;
  if (!limits_.stop || !asking_.try_lock()) return false;  // another thread is asking
  if (limits_.stop()) is_over_.store(true, std::memory_order_relaxed);
  asking_.unlock();
  return is_over_.load(std::memory_order_relaxed);
}

bool PageParts::hold(size_t more) {
  // What wraps around is memory that was let go of.
  return more == 0 || held_.fetch_add(more, std::memory_order_relaxed) + more <= kPageMemoryMax;
}

std::string PageParts::start_key(size_t part) const {
  std::string key;
  value::append_ordered_bytes(key, parts_[part].start);
  return key;
}

}  // namespace orrery::query
