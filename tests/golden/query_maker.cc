// See query_maker.h.
#include "query_maker.h"

#include <utility>

namespace orrery::query {
namespace {

// How deep expressions of a query nest, and those of what stands in its SELECT.
constexpr int kFilterDepth = 3;
constexpr int kShownDepth = 2;

}  // namespace

std::string QueryMaker::item(size_t number) {
  std::string json = "{\"id\":\"" + std::to_string(number) + "\"";
  for (const char* name : {"a", "b", "n", "s"}) {
    if (below(5) == 0) continue;
    json += std::string(",\"") + name + "\":" + (*name == 'n' ? count() : scalar());
  }
  if (below(4) != 0) json += ",\"l\":" + (below(8) == 0 ? scalar() : array());
  if (below(3) != 0) json += ",\"o\":{\"a\":" + scalar() + ",\"n\":" + count() + "}";
  return json + "}";
}

std::string QueryMaker::scalar() {
  if (below(2) == 0) return one_of({"0", "1", "\"x\""});
  return one_of({"null", "true", "false", "0", "1", "2", "-1", "1.5", "\"\"", "\"x\"", "\"y\"",
                 "\"xy\"", "[1]", "{\"n\":1}"});
}

std::string QueryMaker::object() {
  std::string json = "{\"n\":" + std::to_string(below(3));
  if (below(3) != 0) {
    json += ",\"k\":[";
    for (size_t i = 0, size = below(3); i < size; ++i) json += (i == 0 ? "" : ",") + scalar();
    json += "]";
  }
  if (below(3) == 0) json += ",\"a\":" + scalar();
  return json + "}";
}

std::string QueryMaker::array() {
  std::string json = "[";
  for (size_t i = 0, size = below(4); i < size; ++i) {
    json += (i == 0 ? "" : ",") + (below(2) == 0 ? object() : scalar());
  }
  return json + "]";
}

std::string QueryMaker::query() {
  names_.clear();
  aliases_ = 0;
  const std::string from = container();
  const std::string filter = below(3) == 0 ? "" : where(kFilterDepth);
  const std::string tail = from + filter;
  switch (below(6)) {
    case 0:
      return "SELECT " + aggregates() + tail;
    case 1: {
      const std::string key = below(3) == 0 ? "(" + expression(kShownDepth) + ")" : path();
      const std::string shown = below(3) == 0 ? "VALUE COUNT(1)" : key + " AS k, " + aggregates();
      return "SELECT " + shown + tail + " GROUP BY " + key;
    }
    case 2:
      return "SELECT DISTINCT VALUE " + (below(3) == 0 ? expression(kShownDepth) : path()) + tail;
    case 3:
      if (below(2) == 0) return "SELECT VALUE " + aggregate(kShownDepth) + tail;
      [[fallthrough]];
    default:
      if (below(5) == 0) return "SELECT TOP " + count() + " " + shown() + tail + order();
      return "SELECT " + shown() + tail + order() + limit();
  }
}

std::string QueryMaker::container() {
  std::string from = " FROM c";
  switch (below(12)) {
    case 0:
      from = " FROM e IN c.l";
      names_.push_back({.text = "e"});
      break;
    case 1:
      from = " FROM c.o AS o";
      names_.push_back({.text = "o"});
      break;
    case 2:
      names_.push_back({.text = "c", .is_item = true});
      from = " FROM (SELECT VALUE c FROM c" + where(kShownDepth) + ") AS c";
      break;
    default:
      names_.push_back({.text = "c", .is_item = true});
  }
  for (size_t i = 0; i < 2 && below(4) == 0; ++i) from += " JOIN " + source(kShownDepth);
  return from;
}

std::string QueryMaker::source(int depth, bool may_hide) {
  const std::string alias = may_hide && below(10) == 0 ? names_[below(names_.size())].text
                                                       : "e" + std::to_string(++aliases_);
  std::string text;
  switch (depth > 0 ? below(8) : below(6)) {
    case 6:
      text = alias + " IN (" + rows(depth - 1) + ")";
      break;
    case 7:
      text = "(" + rows(depth - 1) + ") AS " + alias;
      break;
    case 5:
      text = (below(2) == 0 ? names_[below(names_.size())].text + ".o" : collection()) + " AS " +
             alias;
      break;
    default:
      text = alias + " IN " + collection();
  }
  names_.push_back({.text = alias});
  return text;
}

std::string QueryMaker::sources(int depth) {
  std::string text = " FROM " + source(depth, true);
  if (below(4) == 0) text += " JOIN " + source(depth);
  return text;
}

std::string QueryMaker::collection() {
  const Name& name = any_name();
  if (name.is_item) return name.text + ".l";
  return name.text + (below(2) == 0 ? ".k" : "");
}

const QueryMaker::Name& QueryMaker::any_name() {
  return below(2) == 0 ? names_.back() : names_[below(names_.size())];
}

std::string QueryMaker::path() {
  const Name& name = any_name();
  if (!name.is_item) return name.text + one_of({"", "", ".n", ".n", ".n", ".a", ".k", ".k[0]"});
  return name.text + one_of({".id", ".a", ".b", ".n", ".n", ".s", ".o.a", ".o.n", ".l[0]",
                             ".l[0].n", ".l", ".o", ".no"});
}

std::string QueryMaker::comparison() {
  const std::string left = path();
  return left + one_of({" = ", " = ", " = ", " != ", " < ", " <= ", " > ", " >= "}) +
         (below(5) == 0         ? path()
          : left.ends_with("n") ? count()
                                : scalar());
}

std::string QueryMaker::where(int depth) {
  if (below(3) == 0) return " WHERE " + expression(depth);
  std::string filter;
  for (size_t i = 0, size = 1 + below(2); i < size; ++i) {
    if (i > 0) filter += one_of({" AND ", " AND ", " OR "});
    filter += depth > 0 && below(5) < 2 ? exists(depth) : comparison();
  }
  return " WHERE " + filter;
}

// The form that an index answers: over elements, with a filter, and nothing else.
std::string QueryMaker::exists(int depth) {
  if (below(3) == 0) return "EXISTS(" + rows(depth - 1) + ")";
  const size_t outer = names_.size();
  const std::string alias = "e" + std::to_string(++aliases_);
  const std::string from = alias + " IN " + collection();
  names_.push_back({.text = alias});
  const std::string text = "EXISTS(SELECT VALUE " + (below(2) == 0 ? alias : count()) + " FROM " +
                           from + where(depth - 1) + ")";
  names_.resize(outer);
  return text;
}

std::string QueryMaker::expression(int depth) {
  if (depth == 0 || below(6) == 0) {
    return below(2) == 0 ? comparison() : below(2) == 0 ? path() : scalar();
  }
  const auto inner = [&] { return "(" + expression(depth - 1) + ")"; };
  switch (below(20)) {
    case 0:
      return inner() + one_of({" + ", " - ", " * "}) + inner();
    case 1:
      return inner() + one_of({" / 2", " % 3", " / -4"});
    case 2:
    case 3:
      return inner() + one_of({" = ", " != ", " < ", " <= ", " > ", " >= "}) + inner();
    case 4:
    case 5:
      return comparison();
    case 6:
    case 7:
    case 8:
      return inner() + one_of({" AND ", " OR "}) + inner();
    case 9:
      return "NOT " + inner();
    case 10:
      return inner() + one_of({" IN ", " NOT IN "}) + "(" + scalar() + ", " + path() + ")";
    case 11:
      return inner() + one_of({" BETWEEN ", " NOT BETWEEN "}) + scalar() + " AND " + scalar();
    case 12:
      return inner() + one_of({" ?? ", " || "}) + inner();
    case 13:
      return inner() + " ? " + inner() + " : " + inner();
    case 14:
    case 15:
      return call(depth);
    default:
      return subquery(depth);
  }
}

std::string QueryMaker::call(int depth) {
  if (below(3) == 0) {
    return "ARRAY_CONTAINS(" + (below(3) == 0 ? path() : collection()) + ", " +
           (below(3) == 0 ? expression(depth - 1) : scalar()) + ")";
  }
  return one_of({"IS_DEFINED", "IS_NUMBER", "ABS", "LENGTH", "ARRAY_LENGTH"}) + "(" +
         expression(depth - 1) + ")";
}

std::string QueryMaker::rows(int depth) {
  const size_t outer = names_.size();
  const std::string from = below(10) == 0 ? "" : sources(depth);
  const std::string filter = from.empty() || below(4) == 0 ? "" : where(depth);
  std::string text;
  if (!from.empty() && below(6) == 0) {
    text = "SELECT VALUE " + aggregate(depth) + from + filter;
  } else if (!from.empty() && below(10) == 0) {
    const std::string key = path();
    text = "SELECT VALUE " + key + from + filter + " GROUP BY " + key;
  } else {
    const std::string value = below(3) == 0   ? names_.back().text
                              : below(3) == 0 ? scalar()
                              : below(2) == 0 ? path()
                                              : expression(depth);
    const std::string head = below(12) == 0   ? "DISTINCT "
                             : below(12) == 0 ? "TOP " + std::to_string(below(3)) + " "
                                              : "";
    const std::string tail = below(8) == 0    ? " ORDER BY " + path() + one_of({"", " DESC"})
                             : below(10) == 0 ? limit()
                                              : "";
    text = "SELECT " + head + "VALUE " + value + from + filter + tail;
  }
  names_.resize(outer);
  return text;
}

std::string QueryMaker::subquery(int depth) {
  return one_of({"EXISTS(", "EXISTS(", "EXISTS(", "ARRAY(", "("}) + rows(depth - 1) + ")";
}

std::string QueryMaker::aggregate(int depth) {
  return one_of({"COUNT(", "SUM(", "AVG(", "MIN(", "MAX("}) +
         (below(3) == 0   ? "1"
          : below(3) == 0 ? expression(depth)
                          : path()) +
         ")";
}

std::string QueryMaker::aggregates() {
  std::string list;
  for (size_t i = 0, size = 1 + below(3); i < size; ++i) {
    list += (i == 0 ? "" : ", ") + aggregate(1) + " AS x" + std::to_string(i);
  }
  return list;
}

std::string QueryMaker::shown() {
  if (below(3) == 0 && names_.size() == 1) return "*";
  if (below(2) == 0) return "VALUE " + expression(kShownDepth);
  return names_[0].text + " AS i, " + path() + " AS x, (" + expression(kShownDepth) + ") AS y";
}

std::string QueryMaker::order() {
  switch (below(3)) {
    case 0:
      return "";
    case 1:
      return " ORDER BY " + path() + one_of({"", " ASC", " DESC"});
    default:
      return " ORDER BY " + path() + one_of({"", " DESC"}) + ", " + names_[0].text +
             (names_[0].is_item ? ".id" : ".n") + one_of({"", " DESC"});
  }
}

std::string QueryMaker::limit() {
  return below(5) == 0 ? " OFFSET " + count() + " LIMIT " + count() : "";
}

}  // namespace orrery::query
