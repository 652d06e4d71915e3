// What an operator can set of a face: its ports and its options. A face declares them. The command
// line, configuration files, the manual and completion take them up, and know none by name.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::face {

struct Port {
  std::string_view name;  // of --NAME-port, of the listener in metrics, and of the ready line
  uint16_t usual;         // with --all-faces
  std::string_view help;
};

struct Option {
  // Of --NAME. "table-flavour" is also "flavour" in the section [table] of a configuration file.
  std::string_view name;
  // What may be given. "a|b": one of these. "N": a whole number. Any other word: a text.
  std::string_view value;
  std::string_view help;
  std::string_view initial = {};
};

using GivenOptions = std::map<std::string, std::string, std::less<>>;  // by name

// What holds for a face: what was given, and the defaults of the rest.
class OptionValues {
 public:
  // Code::invalid when a value is not what its option takes.
  static Result<OptionValues> create(std::span<const Option> declared, const GivenOptions& given);

  // Of options that were declared; a number of those that take one.
  const std::string& text(std::string_view name) const { return values_.find(name)->second; }
  uint32_t number(std::string_view name) const;

 private:
  GivenOptions values_;
};

}  // namespace orrery::face
