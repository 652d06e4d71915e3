// The items that the benchmarks write: sample_item.json with its @id, @pk and @text filled in, the
// same in every program of this folder and in run.mjs. About 1 KB once stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "catalog/model.h"

namespace orrery::bench {

inline constexpr uint64_t kLogicalPartitions = 1'000;

class Sample {
 public:
  static Result<Sample> load(const std::string& file);

  static std::string id(uint64_t number);                                  // item-0000000042
  static std::string partition_key(uint64_t number);                       // key-0042
  std::string body(uint64_t number) const;                                 // as a client sends it
  static Result<catalog::ContainerSpec> container(std::string_view name);  // all defaults

 private:
  std::string template_;
};

// The value of `--name VALUE` on the command line, or the default.
std::string_view option(int argc, char** argv, std::string_view name, std::string_view otherwise);
uint64_t number_option(int argc, char** argv, std::string_view name, uint64_t otherwise);

}  // namespace orrery::bench
