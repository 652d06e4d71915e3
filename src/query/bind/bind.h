// The binder: from a parsed query and its parameters to one that can run.
//
// Names: the first source of the outermost FROM is the container, whatever it is called; every
// other source and every expression starts from an alias that is in scope (inner queries see the
// aliases of the outer ones). Errors carry their kind and the place in the text.
//
// A computed property of the container reads like a property at the top of its items, and hides one
// that an item has. It is not part of the item: `SELECT *` does not show it.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <string>

#include "query/bind/vector_paths.h"
#include "query/evaluate/bound.h"
#include "query/functions/context.h"
#include "query/parse/ast.h"
#include "query/parse/parser_error.h"
#include "value/value.h"

namespace orrery::query {

// By name, with the @.
using Parameters = std::map<std::string, value::Value, std::less<>>;

// By name: each is SELECT VALUE expression FROM alias, and nothing more.
using ComputedProperties = std::map<std::string, Query, std::less<>>;

// `functions`: resolves udf.name; the query must run with a Context that has the same ones. Null:
// there are none. `vectors`: the container's vector policy. `context`: its budget pays for constant
// folding, and the query is refused when it runs out; null: a budget of their own. `order`: the one
// that ORDER BY sorts in; an index of the container that has another is of no use for it.
std::expected<std::shared_ptr<const BoundQuery>, SyntaxError> bind_query(
    const Query& query, const Parameters& parameters, const ComputedProperties& computed = {},
    UserFunctions* functions = nullptr, const VectorPaths& vectors = {}, Context* context = nullptr,
    value::ValueOrder order = value::ValueOrder::json);

}  // namespace orrery::query
