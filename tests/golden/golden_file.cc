// See golden_file.h.
#include "golden_file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace orrery::query {
namespace {

void read_expectation(const std::string& line, GoldenCase& golden) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word == "ordered") golden.ordered = true;
    if (word == "single") golden.single = true;
    if (word == "count") words >> golden.count.emplace();
    if (word == "error" || word == "index") {
      auto& rest = word == "error" ? golden.error : golden.index;
      std::getline(words >> std::ws, rest.emplace());
      return;
    }
  }
}

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
      read_expectation(line, cases.back());
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

}  // namespace

std::vector<GoldenCase> all_golden_cases() {
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

}  // namespace orrery::query
