// The texts of these errors are part of the face: they name the member by its path, show its value
// cut short, and say what is expected. See definition_fields.h.
#include "api/cosmos/resources/definition_fields.h"

#include <cmath>

#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

using value::Node;
using value::Type;

constexpr size_t kMaxShown = 120;

std::string_view name_of(Type type) {
  switch (type) {
    case Type::undefined:
      return "nothing";
    case Type::null:
      return "null";
    case Type::boolean:
      return "true or false";
    case Type::number:
      return "a number";
    case Type::string:
      return "a string";
    case Type::array:
      return "an array";
    case Type::object:
      return "an object";
    default:
      return "another value";
  }
}

}  // namespace

Result<const Node*> checked_root(const Result<value::JsonDocument>& document) {
  if (!document) {
    return fail(Code::invalid, "The request body is not JSON: " + document.error().message);
  }
  const Node& root = document->root();
  if (root.type != Type::object) {
    return fail(Code::invalid, "The request body is " + std::string(root.raw.substr(0, 80)) +
                                   ": give an object like {\"id\":\"name\"}.");
  }
  return &root;
}

std::unexpected<Error> bad_field(std::string_view where, const Node& found,
                                 std::string_view advice) {
  std::string message(where);
  message += " is ";
  message += found.raw.substr(0, kMaxShown);
  if (found.raw.size() > kMaxShown) message += "…";
  message += ": ";
  message += advice;
  return fail(Code::invalid, std::move(message));
}

std::unexpected<Error> missing_field(std::string_view where, std::string_view advice) {
  return fail(Code::invalid, std::string(where) + " is missing: " + std::string(advice));
}

std::string join(std::string_view where, std::string_view member) {
  return where.empty() ? std::string(member) : std::string(where) + "." + std::string(member);
}

std::string element(std::string_view where, size_t index) {
  return std::string(where) + "[" + std::to_string(index) + "]";
}

Result<const Node*> optional_member(const Node& object, std::string_view where,
                                    std::string_view name, Type type) {
  const Node* member = object.find(name);
  if (member == nullptr || member->type == Type::null) return nullptr;
  if (member->type != type) {
    return bad_field(join(where, name), *member, "give " + std::string(name_of(type)) + ".");
  }
  return member;
}

Result<const Node*> required_member(const Node& object, std::string_view where,
                                    std::string_view name, Type type) {
  auto member = optional_member(object, where, name, type);
  if (!member) return pass(member.error());
  if (*member == nullptr) {
    return missing_field(join(where, name), "give " + std::string(name_of(type)) + ".");
  }
  return *member;
}

Result<std::string_view> choice_member(const Node& object, std::string_view where,
                                       std::string_view name,
                                       std::initializer_list<std::string_view> allowed,
                                       std::string_view otherwise) {
  auto member = optional_member(object, where, name, Type::string);
  if (!member) return pass(member.error());
  std::string advice = "use";
  std::string_view separator = " ";
  for (const std::string_view choice : allowed) {
    if (*member != nullptr && equals_ignore_case((*member)->text, choice)) return choice;
    advice += std::string(separator) + std::string(choice);
    separator = ", ";
  }
  if (*member != nullptr) return bad_field(join(where, name), **member, advice + ".");
  if (otherwise.empty()) return missing_field(join(where, name), advice + ".");
  return otherwise;
}

Result<std::optional<int64_t>> integer_member(const Node& object, std::string_view where,
                                              std::string_view name, int64_t min, int64_t max) {
  auto member = optional_member(object, where, name, Type::number);
  if (!member) return pass(member.error());
  if (*member == nullptr) return std::nullopt;
  const double number = (*member)->number;
  if (number != std::floor(number) || number < static_cast<double>(min) ||
      number > static_cast<double>(max)) {
    return bad_field(
        join(where, name), **member,
        "give a whole number from " + std::to_string(min) + " to " + std::to_string(max) + ".");
  }
  return static_cast<int64_t>(number);
}

void append_member(std::string& out, std::string_view name, std::string_view json) {
  if (!out.empty() && out.back() != '{') out += ',';
  value::append_json_string(out, name);
  out += ':';
  out += json;
}

}  // namespace orrery::cosmos
