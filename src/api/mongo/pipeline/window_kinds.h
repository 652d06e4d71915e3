// How window functions are made known to the parser. Private to window_*.cc.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "api/mongo/pipeline/window.h"

namespace orrery::mongo {

using WindowFunctionPtr = std::shared_ptr<const WindowFunction>;

// {$name: argument, window: …}
struct WindowCall {
  std::string_view name;
  Value argument;
  Value window;  // undefined: none was given
  const std::optional<SortKey>& sort;
  const ParseContext& context;

  Answer<void> refuse_window() const;
  Answer<void> check_members(std::initializer_list<std::string_view> known) const;
  Answer<Expression> expression(std::string_view member) const;
};

struct WindowKind {
  std::string_view name;
  Answer<WindowFunctionPtr> (*parse)(const WindowCall& call);
};
// $derivative, $integral, $expMovingAvg, $covariancePop, $covarianceSamp, $linearFill
std::span<const WindowKind> window_calculus();

}  // namespace orrery::mongo
