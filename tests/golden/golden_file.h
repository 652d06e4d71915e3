// A file of golden queries, as README.md beside this file tells.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace orrery::query {

struct GoldenCase {
  std::string file;
  size_t line = 0;
  std::string title;
  std::vector<std::string> items;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string query;
  bool ordered = false;
  bool single = false;  // clients cannot merge it
  std::optional<std::string> error;
  std::optional<size_t> count;
  std::optional<std::string> index;  // what is used of an index of everything
  std::vector<std::string> rows;
};

// Of all files in the folder that the environment variable ORRERY_GOLDEN names.
std::vector<GoldenCase> all_golden_cases();

}  // namespace orrery::query
