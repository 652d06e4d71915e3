// GraphSON: values between JSON and a traversal. Three forms go out: untyped (GraphSON 1, what
// clients of the service expect whatever they ask for), version 2 and version 3. All come in.
//
// Pure; any thread may call. Recursion is bounded by kNestingMax.
#pragma once

#include <cstdint>
#include <string>

#include "api/gremlin/parse/tree.h"
#include "api/gremlin/value/elements.h"
#include "base/result.h"
#include "value/document.h"

namespace orrery::gremlin {

enum class GraphSon : uint8_t { untyped, v2, v3 };

// A value, a predicate, or the bytecode of a traversal.
Result<Argument> read_graphson(const value::Node& node, size_t depth = 0);
// "step" and "source" of bytecode.
Result<Chain> read_bytecode(const value::Node& node, size_t depth = 0);

// Code::too_large when it nests too deep.
Status append_graphson(std::string& out, const Value& value, GraphSon form, size_t depth = 0);
// As one result of bytecode: with its bulk.
Status append_traverser(std::string& out, const Value& value, uint64_t bulk, GraphSon form);

}  // namespace orrery::gremlin
