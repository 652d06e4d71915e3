// Files of CSV from outside: whatever the bytes and wherever they are cut, the same records come;
// each is JSON (unless its bytes are no UTF-8), and written as CSV it is read back as it was.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/csv.h"
#include "transfer/record_parser.h"
#include "value/json.h"

namespace {

using orrery::Status;
using orrery::transfer::CsvOptions;
using orrery::transfer::ParsedRecord;
using orrery::value::JsonDocument;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Parsed {
  std::vector<ParsedRecord> records;
  bool failed = false;
};

Parsed parse(const CsvOptions& options, std::string_view bytes, size_t piece) {
  Parsed parsed;
  const auto parser = orrery::transfer::make_csv_parser(options);
  Status done;
  for (size_t at = 0; at < bytes.size() && done; at += piece) {
    done = parser->feed(bytes.substr(at, piece), parsed.records);
  }
  if (done) done = parser->finish(parsed.records);
  parsed.failed = !done;
  return parsed;
}

void require_round_trip(const JsonDocument& record, bool nested) {
  auto columns = orrery::transfer::columns_of(record.root(), nested);
  if (!columns || columns->empty()) return;
  std::string header;
  std::string row;
  for (const auto& column : *columns) {
    if (!header.empty()) {
      header += ',';
      row += ',';
    }
    orrery::transfer::append_name_cell(header, column.name, ',');
    orrery::transfer::append_cell(row, column.node, ',');
  }
  CsvOptions options;
  options.nested = nested;
  const std::string text = header + "\r\n" + row + "\r\n";
  const Parsed back = parse(options, text, text.size());
  require(!back.failed && back.records.size() == 1 && back.records[0].reason.empty());
  require(back.records[0].text == record.text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t piece = 1 + data[0] % 7;
  CsvOptions options;
  options.nested = (data[1] & 1) != 0;
  if ((data[1] & 2) != 0) options.columns = {"a", "b"};
  if ((data[1] & 4) != 0) options.delimiter = ';';
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Parsed whole = parse(options, text, text.size() + 1);
  const Parsed pieces = parse(options, text, piece);
  require(whole.failed == pieces.failed && whole.records.size() == pieces.records.size());
  for (size_t i = 0; i < whole.records.size(); ++i) {
    require(whole.records[i].text == pieces.records[i].text &&
            whole.records[i].reason == pieces.records[i].reason);
    if (!whole.records[i].reason.empty()) continue;
    const auto record = JsonDocument::parse(whole.records[i].text);
    if (record) require_round_trip(*record, options.nested);
  }
  return 0;
}
