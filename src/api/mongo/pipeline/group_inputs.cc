// See group_inputs.h.
#include "api/mongo/pipeline/group_inputs.h"

#include <algorithm>
#include <string_view>

#include "api/mongo/match/filter_fields.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr int kDepthMax = 100;

// Those that look at what their operands name, and at nothing else.
constexpr std::string_view kOperators[] = {
    "$sum",     "$avg",      "$min",        "$max",          "$first",      "$last",
    "$push",    "$count",    "$addToSet",   "$stdDevPop",    "$stdDevSamp", "$mergeObjects",
    "$add",     "$subtract", "$multiply",   "$divide",       "$mod",        "$abs",
    "$ceil",    "$floor",    "$round",      "$trunc",        "$cond",       "$ifNull",
    "$eq",      "$ne",       "$gt",         "$gte",          "$lt",         "$lte",
    "$and",     "$or",       "$not",        "$in",           "$cmp",        "$concat",
    "$toLower", "$toUpper",  "$substrCP",   "$substrBytes",  "$size",       "$arrayElemAt",
    "$type",    "$toInt",    "$toLong",     "$toDouble",     "$toString",   "$toDate",
    "$year",    "$month",    "$dayOfMonth", "$dayOfWeek",    "$dayOfYear",  "$hour",
    "$minute",  "$second",   "$week",       "$dateToString", "$dateTrunc",
};

bool add_inputs(const Value& spec, std::vector<std::string>& names, int depth) {
  if (depth > kDepthMax) return false;
  if (spec.is_string()) {
    const std::string_view text = spec.text();
    if (!text.starts_with('$')) return true;
    if (text.size() == 1 || text[1] == '$') return text == "$$NOW";
    add_field(text.substr(1), names);
    return true;
  }
  for (const Value::Member& member : spec.members()) {
    const bool is_operator = member.name.starts_with('$');
    if (is_operator && std::ranges::find(kOperators, member.name) == std::end(kOperators)) {
      return false;
    }
    if (!add_inputs(member.value, names, depth + 1)) return false;
  }
  for (const Value& element : spec.elements()) {
    if (!add_inputs(element, names, depth + 1)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::string>> inputs_of(const Value& stage) {
  std::vector<std::string> names;
  if (!stage.find("$count").is_undefined()) return names;
  const Value counted = stage.find("$sortByCount");
  const Value group = counted.is_undefined() ? stage.find("$group") : counted;
  if (group.is_undefined() || !add_inputs(group, names, 0)) return std::nullopt;
  return names;
}

}  // namespace orrery::mongo
