// See sample.h.
#include "sample.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <random>

#include "api/cosmos/resources/container_definition.h"

namespace orrery::bench {
namespace {

// Letters and digits that do not compress to nothing; the same for the same number.
std::string text(uint64_t number) {
  constexpr size_t kTextBytes = 434;
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .";
  std::minstd_rand random(static_cast<uint32_t>(number + 1));
  std::string out(kTextBytes, ' ');
  for (char& letter : out) letter = kLetters[(random() >> 8) % kLetters.size()];
  return out;
}

// Spread over a wide range, hardly any two alike.
uint64_t score(uint64_t number) {
  return number * 0x9E3779B97F4A7C15ULL >> 24;
}

}  // namespace

Result<Sample> Sample::load(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return fail(Code::invalid, fmt::format("cannot read {}", file));
  Sample sample;
  sample.template_.assign(std::istreambuf_iterator<char>(in), {});
  while (sample.template_.ends_with('\n')) sample.template_.pop_back();
  return sample;
}

std::string Sample::id(uint64_t number) {
  return fmt::format("item-{:010}", number);
}

std::string Sample::partition_key(uint64_t number) {
  return fmt::format("key-{:04}", number % kLogicalPartitions);
}

std::string Sample::body(uint64_t number) const {
  std::string out = template_;
  auto fill = [&out](std::string_view mark, const std::string& with) {
    if (const size_t at = out.find(mark); at != std::string::npos)
      out.replace(at, mark.size(), with);
  };
  fill("@id", id(number));
  fill("@pk", partition_key(number));
  fill("@serial", std::to_string(number));
  fill("@batch", std::to_string(number / 10));
  fill("@group", fmt::format("group-{}", number % 100));
  fill("@score", std::to_string(score(number)));
  fill("@text", text(number));
  return out;
}

Result<catalog::ContainerSpec> Sample::container(std::string_view name) {
  return cosmos::parse_container_definition(fmt::format(
      R"({{"id":"{}","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}}})", name));
}

std::string_view option(int argc, char** argv, std::string_view name, std::string_view otherwise) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (name == argv[i]) return argv[i + 1];
  }
  return otherwise;
}

uint64_t number_option(int argc, char** argv, std::string_view name, uint64_t otherwise) {
  const std::string text(option(argc, argv, name, ""));
  return text.empty() ? otherwise : std::stoull(text);
}

}  // namespace orrery::bench
