// Windows of window.h: how they are written, and which documents are in them.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "api/mongo/pipeline/window.h"

namespace orrery::mongo {
namespace {

Answer<WindowBound> parse_bound(const Value& spec, bool is_range) {
  if (spec.is_string()) {
    if (spec.text() == "unbounded") return WindowBound{.is_unbounded = true};
    if (spec.text() == "current") return WindowBound{.offset = make_int32(0)};
  } else if (spec.is_number() && !is_nan(spec)) {
    if (is_range) return WindowBound{.offset = spec.to_owned()};
    const auto count = exact_integer(spec);
    if (count && *count >= std::numeric_limits<int32_t>::min() &&
        *count <= std::numeric_limits<int32_t>::max()) {
      return WindowBound{.offset = make_int64(*count)};
    }
  }
  return refuse(kFailedToParse,
                fmt::format("a window's bounds must be 'unbounded', 'current' or {}, "
                            "not {}",
                            is_range ? "numbers" : "integers", shown(spec)));
}

// The position that lies the offset away from another.
Answer<Value> moved(const Value& position, const WindowBound& bound,
                    const std::optional<TimeUnit>& unit) {
  if (!unit) return add(position, bound.offset);
  const auto amount = exact_integer(bound.offset);
  if (!amount) return refuse(kFailedToParse, "a window with a unit must have integral bounds");
  auto ms = add_units(position.date().ms, *unit, *amount, TimeZone());
  if (!ms) return pass(std::move(ms.error()));
  return make_date(*ms);
}

}  // namespace

Answer<Window> Window::parse(const Value& spec, const std::optional<SortKey>& sort) {
  Window window;
  if (spec.is_undefined()) return window;
  if (!spec.is_object()) return refuse(kFailedToParse, "'window' field must be an object");
  const Value documents = spec.find("documents");
  const Value range = spec.find("range");
  const Value unit = spec.find("unit");
  for (const auto& [name, member] : spec.members()) {
    if (name != "documents" && name != "range" && name != "unit") {
      return refuse(kFailedToParse, fmt::format("'window' field has no member '{}'", name));
    }
  }
  if (documents.is_undefined() == range.is_undefined()) {
    if (spec.size() == 0) return window;
    return refuse(kFailedToParse, "'window' field needs either 'documents' or 'range'");
  }
  window.is_range = !range.is_undefined();
  if (!unit.is_undefined()) {
    if (!window.is_range)
      return refuse(kFailedToParse, "'unit' is only for windows with a 'range'");
    const auto found = unit.is_string() ? time_unit_of(unit.text()) : std::nullopt;
    if (!found)
      return refuse(kFailedToParse, fmt::format("unknown time unit value: {}", shown(unit)));
    window.unit = found;
  }
  const Value& bounds = window.is_range ? range : documents;
  if (!bounds.is_array() || bounds.size() != 2) {
    return refuse(kFailedToParse, "a window's bounds must be an array of two");
  }
  auto lower = parse_bound(bounds.at(0), window.is_range);
  if (!lower) return pass(std::move(lower.error()));
  auto upper = parse_bound(bounds.at(1), window.is_range);
  if (!upper) return pass(std::move(upper.error()));
  window.lower = std::move(*lower);
  window.upper = std::move(*upper);
  if (!window.lower.is_unbounded && !window.upper.is_unbounded &&
      compare(window.lower.offset, window.upper.offset, nullptr) > 0) {
    return refuse(5339900,
                  fmt::format("Lower bound must not exceed upper bound: {}", shown(bounds)));
  }
  if (window.is_range) {
    if (!sort || sort->parts().size() != 1 || sort->parts()[0].is_descending) {
      return refuse(5339902,
                    "Range-based bounds require a sortBy that is a single ascending field");
    }
  } else if (!window.is_whole() && !sort) {
    return refuse(5339901, "Document-based bounds require a sortBy");
  }
  return window;
}

Answer<std::vector<Frame>> frames_of(const Window& window, const Partition& partition, Run& run) {
  const size_t size = partition.documents.size();
  std::vector<Frame> frames(size, Frame{.begin = 0, .end = size});
  if (window.is_whole()) return frames;
  if (!window.is_range) {
    const auto place = [&](size_t at, const WindowBound& bound, int64_t more) {
      const int64_t moved_to = static_cast<int64_t>(at) + bound.offset.integer() + more;
      return static_cast<size_t>(std::clamp<int64_t>(moved_to, 0, static_cast<int64_t>(size)));
    };
    for (size_t i = 0; i < size; ++i) {
      if (!window.lower.is_unbounded) frames[i].begin = place(i, window.lower, 0);
      if (!window.upper.is_unbounded) frames[i].end = place(i, window.upper, 1);
      frames[i].end = std::max(frames[i].end, frames[i].begin);
    }
    return frames;
  }
  for (const Value& position : partition.positions) {
    const bool is_right = window.unit ? position.type() == Type::date : position.is_number();
    if (!is_right) {
      return refuse(
          window.unit ? 5429513 : 5429414,
          fmt::format("Invalid range: Expected the sortBy field to be a {}, but it was {}",
                      window.unit ? "Date" : "number", type_name(position)));
    }
  }
  const auto& positions = partition.positions;
  const auto less = [](const Value& a, const Value& b) { return compare(a, b, nullptr) < 0; };
  for (size_t i = 0; i < size; ++i) {
    if (run.evaluation.budget.spend(32)) return run.evaluation.over();
    if (!window.lower.is_unbounded) {
      auto from = moved(positions[i], window.lower, window.unit);
      if (!from) return pass(std::move(from.error()));
      frames[i].begin = static_cast<size_t>(
          std::lower_bound(positions.begin(), positions.end(), *from, less) - positions.begin());
    }
    if (!window.upper.is_unbounded) {
      auto to = moved(positions[i], window.upper, window.unit);
      if (!to) return pass(std::move(to.error()));
      frames[i].end = static_cast<size_t>(
          std::upper_bound(positions.begin(), positions.end(), *to, less) - positions.begin());
    }
    frames[i].end = std::max(frames[i].end, frames[i].begin);
  }
  return frames;
}

Answer<std::vector<Value>> values_of(const Expression& expression, const Partition& partition,
                                     Run& run) {
  std::vector<Value> values;
  values.reserve(partition.documents.size());
  for (const Value& document : partition.documents) {
    auto value = expression.evaluate(run.evaluation, document);
    if (!value) return pass(std::move(value.error()));
    values.push_back(std::move(*value));
  }
  return values;
}

Answer<Value> axis_value(std::string_view name, const Value& position, bool has_unit) {
  if (position.type() == Type::date) {
    if (!has_unit) {
      return refuse(5624900, fmt::format("{} with a sortBy of dates needs a 'unit'", name));
    }
    return make_int64(position.date().ms);
  }
  if (!position.is_number()) {
    return refuse(5624901, fmt::format("{}: the sortBy field must be a number or a date, but is {}",
                                       name, type_name(position)));
  }
  if (has_unit) {
    return refuse(5624902, fmt::format("{} with a 'unit' needs a sortBy of dates", name));
  }
  return position;
}

}  // namespace orrery::mongo
