// See tree.h.
#include "api/gremlin/parse/tree.h"

namespace orrery::gremlin {

size_t count_calls(const Chain& chain) {
  size_t calls = chain.calls.size();
  for (const StepCall& call : chain.calls) {
    for (const Argument& argument : call.arguments) {
      if (argument.chain) calls += count_calls(*argument.chain);
    }
  }
  return calls;
}

std::string print(const Predicate& predicate) {
  std::string out = predicate.op + "(";
  const size_t named = out.size();
  for (const Value& value : predicate.values) {
    if (out.size() > named) out += ",";
    out += value.print();
  }
  for (const auto& part : predicate.parts) {
    if (out.size() > named) out += ",";
    out += print(*part);
  }
  return out + ")";
}

std::string print(const Argument& argument) {
  if (argument.chain) return "[" + print(*argument.chain) + "]";
  if (argument.predicate) return print(*argument.predicate);
  return argument.value.print();
}

std::string print(const StepCall& call) {
  std::string out = call.name + "(";
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (i > 0) out += ",";
    out += print(call.arguments[i]);
  }
  return out + ")";
}

std::string print(const Chain& chain) {
  std::string out;
  for (const StepCall& call : chain.calls) {
    if (!out.empty()) out += ".";
    out += print(call);
  }
  return out;
}

}  // namespace orrery::gremlin
