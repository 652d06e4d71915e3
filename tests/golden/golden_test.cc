// Runs the golden files: see README.md beside this file. The folder is given by the environment
// variable ORRERY_GOLDEN (set by CMake).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "query/bind.h"
#include "query/execute.h"
#include "query/parser.h"
#include "value/json.h"
#include "value/value.h"

namespace orrery::query {
namespace {

using value::Value;

struct GoldenCase {
  std::string file;
  size_t line = 0;
  std::string title;
  std::vector<std::string> items;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string query;
  bool ordered = false;
  std::optional<std::string> error;
  std::optional<size_t> count;
  std::vector<std::string> rows;
};

std::vector<GoldenCase> read_file(const std::filesystem::path& path) {
  std::vector<GoldenCase> cases;
  std::vector<std::string> items;
  enum class Part { none, items, query, rows } part = Part::none;
  std::ifstream in(path);
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    if (line.starts_with("# items")) {
      items.clear();
      part = line == "# items none" ? Part::none : Part::items;
    } else if (line.starts_with("# ")) {
      GoldenCase& made = cases.emplace_back();
      made.file = path.filename().string();
      made.line = number;
      made.title = line.substr(2);
      made.items = items;
      part = Part::query;
    } else if (line.starts_with("----") && part == Part::query) {
      GoldenCase& current = cases.back();
      current.ordered = line == "---- ordered";
      if (line.starts_with("---- error ")) current.error = line.substr(11);
      if (line.starts_with("---- count ")) current.count = std::stoul(line.substr(11));
      part = Part::rows;
    } else if (line.empty() && part != Part::query) {
      continue;
    } else if (part == Part::items) {
      items.push_back(line);
    } else if (part == Part::query) {
      GoldenCase& current = cases.back();
      const size_t equals = line.find(" = ");
      if (current.query.empty() && line.starts_with("@") && equals != std::string::npos) {
        current.parameters.emplace_back(line.substr(0, equals), line.substr(equals + 3));
      } else {
        current.query += line + "\n";
      }
    } else if (part == Part::rows) {
      cases.back().rows.push_back(line);
    }
  }
  return cases;
}

std::vector<GoldenCase> all_cases() {
  const char* folder = std::getenv("ORRERY_GOLDEN");  // NOLINT(concurrency-mt-unsafe)
  std::vector<GoldenCase> all;
  if (folder == nullptr) return all;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".sql") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) std::ranges::move(read_file(file), std::back_inserter(all));
  return all;
}

// The items of a case, in the order of their keys.
class ListSource final : public DocumentSource {
 public:
  ListSource(const std::vector<Document>& documents, size_t from)
      : documents_(documents), at_(from) {}
  Result<const Document*> next() override {
    return at_ < documents_.size() ? &documents_[at_++] : nullptr;
  }

 private:
  const std::vector<Document>& documents_;
  size_t at_;
};

Value parse_value(const std::string& text) {
  auto document = value::JsonDocument::parse(text);
  EXPECT_TRUE(document) << text;
  return document ? Value::make_document(std::move(*document)) : Value();
}

Result<std::vector<Value>> run(const GoldenCase& golden, size_t page_rows) {
  auto parsed = parse_query(golden.query);
  if (!parsed) return pass(to_error(parsed.error()));
  Parameters parameters;
  for (const auto& [name, text] : golden.parameters) parameters[name] = parse_value(text);
  auto bound = bind_query(*parsed, parameters);
  if (!bound) return pass(to_error(bound.error()));
  std::vector<Document> documents;
  for (const std::string& item : golden.items) {
    documents.push_back({"key", std::to_string(documents.size()), item});
  }
  const OpenSource open = [&](const Position* from,
                              bool inclusive) -> Result<std::unique_ptr<DocumentSource>> {
    size_t start = 0;
    if (from != nullptr) start = std::stoul(from->row) + (inclusive ? 0 : 1);
    return std::make_unique<ListSource>(documents, start);
  };
  std::vector<Value> rows;
  std::optional<Position> position;
  PageLimits limits;
  limits.rows = page_rows;
  do {
    Context context;
    auto page = run_page(**bound, open, position ? &*position : nullptr, limits, context);
    if (!page) return pass(page.error());
    EXPECT_LE(page->rows.size(), page_rows);
    for (const std::string& row : page->rows) rows.push_back(parse_value(row));
    position = page->next;
  } while (position);
  return rows;
}

std::string text_of(const std::vector<Value>& rows) {
  std::string text;
  for (const Value& row : rows) text += row.to_json() + "\n";
  return text;
}

TEST(GoldenTest, EveryFile) {
  const std::vector<GoldenCase> cases = all_cases();
  ASSERT_FALSE(cases.empty()) << "set ORRERY_GOLDEN to the folder of the golden files";
  for (const GoldenCase& golden : cases) {
    SCOPED_TRACE(golden.file + ":" + std::to_string(golden.line) + " " + golden.title);
    for (size_t page_rows : {1000, 7, 1}) {
      auto rows = run(golden, page_rows);
      if (golden.error) {
        ASSERT_FALSE(rows) << "the query should be refused, and gave\n" << text_of(*rows);
        EXPECT_NE(rows.error().message.find(*golden.error), std::string::npos)
            << rows.error().message;
        continue;
      }
      if (!rows) {
        ADD_FAILURE() << rows.error().message;
        break;
      }
      if (golden.count) {
        EXPECT_EQ(rows->size(), *golden.count) << text_of(*rows);
        continue;
      }
      std::vector<Value> expected;
      for (const std::string& row : golden.rows) expected.push_back(parse_value(row));
      if (!golden.ordered) {
        std::ranges::sort(expected);
        std::ranges::sort(*rows);
      }
      EXPECT_EQ(text_of(*rows), text_of(expected)) << "with pages of " << page_rows;
    }
  }
}

}  // namespace
}  // namespace orrery::query
