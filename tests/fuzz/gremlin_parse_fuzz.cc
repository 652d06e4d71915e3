// The text of a traversal from outside: whatever parses is printed, compiled, and run over a small
// graph in memory.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/gremlin/parse/parser.h"
#include "api/gremlin/traversal/compile.h"
#include "api/gremlin/traversal/memory_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::gremlin;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto chain = parse_traversal(text, {});
  if (!chain) {
    if (chain.error().message.empty()) std::abort();
    return 0;
  }
  (void)print(*chain);
  MemoryGraph graph;
  auto vertex = std::make_shared<Vertex>();
  vertex->label = "a";
  if (!graph.add(vertex)) std::abort();
  Run run(graph, {.loops = 2, .memory = 1 << 20});
  auto compiled = compile(*chain, run);
  if (!compiled) {
    if (compiled.error().message.empty()) std::abort();
    return 0;
  }
  if (count_calls(*chain) > 8) return 0;
  (void)compiled->traversal->all(run, run.seed());
  return 0;
}
