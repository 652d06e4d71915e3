// Functions that the index answers: see index_planner.h.
#include <algorithm>
#include <array>
#include <utility>

#include "query/plan/index_planner.h"
#include "value/geometry.h"
#include "value/spatial.h"

namespace orrery::query {
namespace {

using value::Type;
using value::Value;

// The second argument and, if there is a third, that it is false: no ignoring of case.
bool minds_case(const BoundExpr& call) {
  return call.children.size() < 3 ||
         (call.children[2].is_constant() && call.children[2].constant.is_false());
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

IndexNode IndexPlanner::plan_call(const BoundExpr& expr, bool wanted) {
  const std::string_view name = expr.function->name;
  if (name.starts_with("IS_")) {
    if (const auto ref = indexed_path(expr.children[0])) return plan_type_test(*ref, expr, wanted);
  }
  if (is_one_of(name, {"STARTSWITH", "STRINGEQUALS", "CONTAINS", "ENDSWITH", "REGEXMATCH"})) {
    return plan_text_call(expr, wanted);
  }
  if (name.starts_with("ARRAY_CONTAINS")) return plan_array_contains(expr, wanted);
  if (is_one_of(name, {"ST_WITHIN", "ST_INTERSECTS"})) {
    return wanted ? plan_spatial(expr, 0) : everything(false);
  }
  return plan_test(expr, wanted);
}

IndexNode IndexPlanner::plan_type_test(const PathRef& ref, const BoundExpr& expr, bool wanted) {
  const std::string_view function = expr.function->name;
  const PathTerms terms = terms_of(ref.path);
  TermRanges found;
  if (function == "IS_DEFINED") {
    found = terms.all();
  } else if (function == "IS_PRIMITIVE") {
    found = terms.primitives();
  } else {
    static constexpr std::array<std::pair<std::string_view, Type>, 7> kTypes = {{
        {"IS_NULL", Type::null},
        {"IS_BOOL", Type::boolean},
        {"IS_BOOLEAN", Type::boolean},
        {"IS_NUMBER", Type::number},
        {"IS_STRING", Type::string},
        {"IS_ARRAY", Type::array},
        {"IS_OBJECT", Type::object},
    }};
    const auto type =
        std::ranges::find(kTypes, function, &std::pair<std::string_view, Type>::first);
    // Of the numbers, which are integers? Of the strings, which are dates?
    if (type == kTypes.end()) return plan_test(expr, wanted);
    found = terms.of_type(type->second);
  }
  if (wanted) return in_ranges(ref, std::move(found));
  // They answer for what is not there too: it is none of these.
  std::vector<IndexNode> parts;
  parts.push_back(in_ranges(ref, without(terms.all(), found)));
  parts.push_back(lacking(ref));
  return any_of(std::move(parts));
}

IndexNode IndexPlanner::plan_text_call(const BoundExpr& expr, bool wanted) {
  const auto ref = indexed_path(expr.children[0]);
  const auto text = constant_of(expr.children[1]);
  if (!ref || !text) return plan_test(expr, wanted);
  if (!text->is_string()) return nothing();  // undefined of every row
  const PathTerms terms = terms_of(ref->path);
  const TermRanges strings = terms.of_type(Type::string);
  const std::string_view name = expr.function->name;
  if (minds_case(expr) && (name == "STARTSWITH" || name == "STRINGEQUALS")) {
    TermRanges found = name == "STARTSWITH" ? terms.starting_with(text->text())
                                            : terms.compared(Binary::equal, *text);
    return in_ranges(*ref, wanted ? std::move(found) : without(strings, found));
  }
  return plan_test(expr, wanted, strings);
}

IndexNode IndexPlanner::plan_spatial(const BoundExpr& call, double distance_m) {
  for (const size_t side : {0, 1}) {
    const auto ref = path_of(call.children[side]);
    const auto constant = constant_of(call.children[1 - side]);
    if (!ref || !constant) continue;
    // In the typed order shapes are on the sphere; the functions are of the ellipsoid.
    if (policy_.definition().order != value::ValueOrder::json ||
        !policy_.covers_spatially(ref->path)) {
      return everything(false);
    }
    const auto shape = value::geo::parse_shape(*constant);
    if (!shape || !(distance_m >= 0)) return nothing();
    TermRanges cells{.ranges = {}, .is_exact = false};
    const std::string path = value::term_path(ref->path);
    for (auto& [from, to] : value::spatial_ranges(path, *shape, distance_m)) {
      cells.ranges.push_back({.from = std::move(from), .to = std::move(to)});
    }
    PathRef of_cells = *ref;
    of_cells.variable = IndexNode::kAny;  // a shape lies in several
    IndexNode node = in_ranges(of_cells, std::move(cells));
    node.is_spatial = true;
    return node;
  }
  return everything(false);
}

IndexNode IndexPlanner::plan_array_contains(const BoundExpr& expr, bool wanted) {
  const std::string_view name = expr.function->name;
  if (const auto list = constant_of(expr.children[0])) {
    // ARRAY_CONTAINS(@list, c.x) says what IN says.
    const auto ref = indexed_path(expr.children[1]);
    if (!ref || name != "ARRAY_CONTAINS" || expr.children.size() > 2 || !list->is_array()) {
      return plan_test(expr, wanted);
    }
    const PathTerms terms = terms_of(ref->path);
    std::vector<TermRanges> points;
    points.reserve(list->size());
    for (const Value element : list->elements()) {
      points.push_back(terms.compared(Binary::equal, element));
    }
    TermRanges found = union_of(std::move(points));
    return in_ranges(*ref, wanted ? std::move(found) : without(terms.all(), found));
  }
  const auto array = path_of(expr.children[0]);
  if (!array || !wanted) return everything(false);
  const bool has_flag = name == "ARRAY_CONTAINS" && expr.children.size() > 2;
  // With or without the flag for a partial match: entries tell no more than that.
  std::vector<IndexNode> parts;
  for (size_t i = 1; i < expr.children.size() - (has_flag ? 1 : 0); ++i) {
    const auto element = constant_of(expr.children[i]);
    parts.push_back(element ? plan_element(*array, *element) : everything(false));
  }
  if (has_flag) parts.back().is_exact = false;
  return name == "ARRAY_CONTAINS_ANY" ? any_of(std::move(parts)) : all_of(std::move(parts));
}

IndexNode IndexPlanner::plan_element(const PathRef& array, const Value& element) {
  if (element.is_undefined()) return nothing();
  PathRef ref = array;
  ref.path.steps.push_back({.name = "", .array = true});
  ref.is_exact = array.variable == IndexNode::kOnly;
  ref.variable = IndexNode::kAny;
  if (!element.is_object()) {
    if (!policy_.covers(ref.path)) return everything(false);
    return in_ranges(ref, terms_of(ref.path).compared(Binary::equal, element));
  }
  // An object has the members that are asked for; entries do not tell whether they are all in one.
  std::vector<IndexNode> parts;
  ref.is_exact = false;
  for (const Value::Member& member : element.members()) {
    PathRef of_member = ref;
    of_member.path.steps.push_back({.name = std::string(member.name), .array = false});
    if (!policy_.covers(of_member.path)) continue;
    const PathTerms terms = terms_of(of_member.path);
    parts.push_back(in_ranges(of_member, terms.compared(Binary::equal, member.value)));
  }
  if (parts.empty() && policy_.covers(ref.path)) {
    parts.push_back(in_ranges(ref, terms_of(ref.path).of_type(Type::object)));
  }
  parts.push_back(everything(false));
  return all_of(std::move(parts));
}

}  // namespace orrery::query
