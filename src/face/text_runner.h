// A face whose language people can use at the console is a TextRunner as well: it runs a text over
// a container, for the administrative pages (POST /admin/run).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http.h"

namespace orrery::face {

struct TextRequest {
  std::string database;
  std::string container;
  std::string text;
  std::string bindings;    // a JSON object: the values of names that the text uses; empty: none
  bool may_write = false;  // what the key that signed it allows
};

class TextRunner {
 public:
  virtual ~TextRunner() = default;
  // The answer is {"results":[…],"more":…}, "more" when some were left out, or {"code":…,
  // "message":…} with a status that is no success. On any thread; must not block.
  virtual void run_text(TextRequest request, net::Responder responder) = 0;
};
// By the names of their faces. They outlive whoever has them.
using TextRunners = std::vector<std::pair<std::string_view, TextRunner*>>;

}  // namespace orrery::face
