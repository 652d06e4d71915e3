// Makes up items and queries over them for random tests. The same seed gives the same everywhere:
// only the bits of the generator are used, no distributions of the library.
//
// Queries nest: a subquery stands wherever an expression or a source may, and every name of the
// queries around it can be read in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace orrery::query {

class QueryMaker {
 public:
  explicit QueryMaker(uint32_t seed) : random_(seed) {}

  std::string item(size_t number);
  std::string query();

 private:
  // What a path may start with.
  struct Name {
    std::string text;
    bool is_item = false;
  };

  size_t below(size_t end) { return random_() % end; }
  template <size_t N>
  std::string one_of(const char* const (&choices)[N]) {
    return choices[below(N)];
  }

  std::string count() { return std::to_string(below(5)); }
  std::string scalar();
  std::string array();
  std::string object();

  // What the container is called and how the query reads it.
  std::string container();
  // `may_hide`: its alias may be that of a query around it.
  std::string source(int depth, bool may_hide = false);
  std::string sources(int depth);
  // An array of an item, or of an element.
  std::string collection();
  // Of those in scope, often the innermost.
  const Name& any_name();
  std::string path();
  std::string comparison();
  std::string expression(int depth);
  std::string call(int depth);
  std::string where(int depth);
  std::string exists(int depth);

  // A query whose rows are values that it makes of names around it.
  std::string rows(int depth);
  std::string subquery(int depth);
  std::string aggregate(int depth);
  std::string aggregates();
  std::string shown();
  std::string order();
  std::string limit();

  std::mt19937 random_;
  std::vector<Name> names_;  // the innermost last
  size_t aliases_ = 0;
};

}  // namespace orrery::query
