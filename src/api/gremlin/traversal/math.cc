// See math.h.
#include "api/gremlin/traversal/math.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace orrery::gremlin {
namespace {

using Function = double (*)(double);
constexpr int kDepthMax = 64;

Function find_function(std::string_view name) {
  static constexpr std::pair<std::string_view, Function> kFunctions[] = {
      {"abs", [](double x) { return std::abs(x); }},
      {"acos", [](double x) { return std::acos(x); }},
      {"asin", [](double x) { return std::asin(x); }},
      {"atan", [](double x) { return std::atan(x); }},
      {"cbrt", [](double x) { return std::cbrt(x); }},
      {"ceil", [](double x) { return std::ceil(x); }},
      {"cos", [](double x) { return std::cos(x); }},
      {"cosh", [](double x) { return std::cosh(x); }},
      {"exp", [](double x) { return std::exp(x); }},
      {"floor", [](double x) { return std::floor(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"log10", [](double x) { return std::log10(x); }},
      {"log2", [](double x) { return std::log2(x); }},
      {"signum", [](double x) { return x > 0   ? 1.0
                                       : x < 0 ? -1.0
                                               : x; }},
      {"sin", [](double x) { return std::sin(x); }},
      {"sinh", [](double x) { return std::sinh(x); }},
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"tan", [](double x) { return std::tan(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
  };
  const auto* found =
      std::ranges::find(kFunctions, name, &std::pair<std::string_view, Function>::first);
  return found == std::end(kFunctions) ? nullptr : found->second;
}

class Evaluation {
 public:
  Evaluation(std::string_view text, const std::function<double(std::string_view)>& variable)
      : text_(text), variable_(variable) {}

  Result<double> run() {
    auto value = sum(0);
    if (!value) return value;
    skip();
    if (at_ < text_.size()) return error();
    return value;
  }

 private:
  std::unexpected<Error> error() const {
    return fail(Code::invalid, fmt::format("math('{}') cannot be read from character {} on",
                                           text_.substr(0, 200), at_ + 1));
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char next() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  Result<double> sum(int depth) {
    auto left = product(depth);
    while (left && (next() == '+' || next() == '-')) {
      const char op = text_[at_++];
      auto right = product(depth);
      if (!right) return right;
      left = op == '+' ? *left + *right : *left - *right;
    }
    return left;
  }
  Result<double> product(int depth) {
    auto left = power(depth);
    while (left && (next() == '*' || next() == '/' || next() == '%')) {
      const char op = text_[at_++];
      auto right = power(depth);
      if (!right) return right;
      left = op == '*' ? *left * *right : op == '/' ? *left / *right : std::fmod(*left, *right);
    }
    return left;
  }
  Result<double> power(int depth) {
    auto base = unary(depth);
    if (!base || next() != '^') return base;
    ++at_;
    if (depth > kDepthMax) return error();
    auto exponent = power(depth + 1);
    if (!exponent) return exponent;
    return std::pow(*base, *exponent);
  }
  Result<double> unary(int depth) {
    if (depth > kDepthMax) return error();
    const char c = next();
    if (c == '-' || c == '+') {
      ++at_;
      auto value = unary(depth + 1);
      if (value && c == '-') value = -*value;
      return value;
    }
    if (c == '(') {
      ++at_;
      auto value = sum(depth + 1);
      if (!value) return value;
      if (next() != ')') return error();
      ++at_;
      return value;
    }
    if ((c >= '0' && c <= '9') || c == '.') {
      double number = 0;
      const char* const from = text_.data() + at_;
      const auto [end, failed] = std::from_chars(from, text_.data() + text_.size(), number);
      if (failed != std::errc()) return error();
      at_ += static_cast<size_t>(end - from);
      return number;
    }
    const size_t from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    const std::string_view name = text_.substr(from, at_ - from);
    if (name.empty()) return error();
    if (const Function function = find_function(name)) {
      auto value = unary(depth + 1);
      if (value) value = function(*value);
      return value;
    }
    if (name == "pi") return 3.14159265358979323846;
    if (name == "e") return 2.71828182845904523536;
    return variable_(name);
  }

  const std::string_view text_;
  const std::function<double(std::string_view)>& variable_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<std::string>> math_variables(std::string_view expression) {
  std::vector<std::string> names;
  auto tried = evaluate_math(expression, [&](std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
    return 1.0;
  });
  if (!tried) return pass(tried.error());
  return names;
}

Result<double> evaluate_math(std::string_view expression,
                             const std::function<double(std::string_view)>& variable) {
  return Evaluation(expression, variable).run();
}

}  // namespace orrery::gremlin
