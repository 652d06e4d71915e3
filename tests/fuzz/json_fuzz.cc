// JSON from outside: whatever the bytes, parsing ends; what parses is a sound tree whose text reads
// back as itself, whose strings and numbers can be written again, and which can be indexed.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "value/json.h"
#include "value/terms.h"

namespace {

using orrery::value::IndexPolicy;
using orrery::value::JsonDocument;
using orrery::value::Node;
using orrery::value::Type;

void require(bool condition) {
  if (!condition) std::abort();
}

// Counts the nodes and checks that views, counts and scalars agree.
size_t walk(const Node& node) {
  size_t nodes = 1;
  uint32_t children = 0;
  for (const Node* child = node.first; child != nullptr; child = child->next) {
    ++children;
    require(child->raw.data() > node.raw.data());
    require(child->raw.data() + child->raw.size() < node.raw.data() + node.raw.size());
    if (node.type == Type::object) require(node.find(child->name) == child);
    nodes += walk(*child);
  }
  require(children == node.count);
  std::string written;
  if (node.type == Type::string) {
    orrery::value::append_json_string(written, node.text);
    require(JsonDocument::parse(written).value().root().text == node.text);
  } else if (node.type == Type::number) {
    orrery::value::append_json_number(written, node.number);
    require(JsonDocument::parse(written).value().root().number == node.number);
  } else {
    require(node.type != Type::undefined);
  }
  return nodes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = JsonDocument::parse(text);
  if (!document) {
    require(!document.error().message.empty());
    return 0;
  }
  require(document->text().size() <= size);
  require(document->root().raw == document->text());
  const size_t nodes = walk(document->root());

  const auto again = JsonDocument::parse(document->text());
  require(again && again->text() == document->text());
  require(walk(again->root()) == nodes);

  size_t terms = 0;
  IndexPolicy::everything().each_term(document->root(), [&](std::string_view term) {
    require(!term.empty());
    ++terms;
  });
  require(terms == nodes - 1);
  return 0;
}
