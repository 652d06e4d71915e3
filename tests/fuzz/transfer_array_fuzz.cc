// Files of JSON from outside, as arrays and as NDJSON: whatever the bytes and wherever they are
// cut, the same records come, and what parses as an array has its elements as records.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/record_parser.h"
#include "value/json.h"

namespace {

using orrery::Status;
using orrery::transfer::Format;
using orrery::transfer::ParsedRecord;
using orrery::value::JsonDocument;
using orrery::value::Node;
using orrery::value::Type;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Parsed {
  std::vector<ParsedRecord> records;
  bool failed = false;
};

Parsed parse(Format format, std::string_view bytes, size_t piece) {
  Parsed parsed;
  const auto parser = orrery::transfer::make_parser(format, {});
  Status done;
  for (size_t at = 0; at < bytes.size() && done; at += piece) {
    done = parser->feed(bytes.substr(at, piece), parsed.records);
  }
  if (done) done = parser->finish(parsed.records);
  parsed.failed = !done;
  return parsed;
}

void require_same(const Parsed& a, const Parsed& b) {
  require(a.failed == b.failed && a.records.size() == b.records.size());
  for (size_t i = 0; i < a.records.size(); ++i) {
    require(a.records[i].text == b.records[i].text && a.records[i].reason == b.records[i].reason &&
            a.records[i].line == b.records[i].line);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const size_t piece = 1 + data[0] % 7;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const Format format : {Format::array, Format::ndjson}) {
    require_same(parse(format, text, text.size() + 1), parse(format, text, piece));
  }
  const auto document = JsonDocument::parse(text);
  if (!document || document->root().type != Type::array) return 0;
  const Parsed parsed = parse(Format::array, text, piece);
  require(!parsed.failed && parsed.records.size() == document->root().count);
  size_t at = 0;
  for (const Node* one = document->root().first; one != nullptr; one = one->next) {
    const auto element = JsonDocument::parse(parsed.records[at++].text);
    require(element && element->text() == one->raw);
  }
  return 0;
}
