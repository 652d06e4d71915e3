// The items that the benchmarks write, about 1 KB once stored: sample_item.json with its @id, @pk
// and @text filled in, the same in every program of this folder and in run.mjs; or query_item.json,
// which has more to ask for: @serial is the item's number, @batch is shared by 10 neighbours,
// @group by one item in 100, @score is the item's own.
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
