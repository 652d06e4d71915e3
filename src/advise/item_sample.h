// Statistics of any number of items in bounded memory: a random sample of the tracked properties,
// and for each of these how many values there are, which are the heaviest, and of what types.
//
// Which properties are tracked is decided after the first kFirstItems: those that the workload
// names, then those with the most values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/sketches.h"
#include "advise/time_value.h"
#include "advise/values.h"
#include "value/document.h"

namespace orrery::advise {

struct PathStatistics {
  uint32_t path = 0;
  double present = 0;  // items that have the property
  double nulls = 0;
  double numbers = 0;
  double strings = 0;
  double booleans = 0;
  double containers = 0;            // arrays and objects
  double longest = 0;               // bytes of the longest value
  double times = 0;                 // values that tell a time
  TimeForm form = TimeForm::month;  // the finest that was seen
  HyperLogLog distinct;
  SpaceSaving heaviest;  // by bytes of items
};

struct SampledItem {
  std::vector<std::string> values;  // by tracked path: placement bytes; empty: array or object
  std::vector<double> times;        // by tracked path: NaN: none
  std::string id;                   // with _rid, to tell versions from items of other keys
  double t = 0;                     // _ts, or the item's number
  double bytes = 0;
};

struct ItemSample {
  std::vector<PathStatistics> paths;  // the tracked ones
  std::vector<SampledItem> items;     // by t
  double read = 0;                    // items read, versions included
  double count = 0;                   // without earlier versions
  double bytes = 0;
  bool has_times = false;  // _ts
  double from = 0;
  double to = 0;
  // Versions: items that are there again, later.
  double updates = 0;
  std::vector<double> changed;  // by tracked path, of the updates
};

class ItemReader {
 public:
  static constexpr size_t kSample = 20'000;
  static constexpr size_t kFirstItems = 1'000;
  static constexpr size_t kTracked = 24;
  static constexpr size_t kMaxDepth = 5;
  // An object with more names than this has data for names.
  static constexpr size_t kMaxNames = 100;
  static constexpr double kLeastShare = 0.2;

  // `wanted`: paths to track in any case, the most important first.
  ItemReader(PathTable& paths, std::vector<uint32_t> wanted);
  // `bytes`: the size of the item as it is stored.
  void add(const value::Node& item, size_t bytes);
  ItemSample finish();

 private:
  struct FirstItem {
    std::string json;
    size_t bytes = 0;
  };
  void choose_paths();
  void count(const value::Node& item, size_t bytes);

  PathTable& paths_;
  std::vector<uint32_t> wanted_;
  std::vector<FirstItem> first_;
  bool chosen_ = false;
  Reservoir reservoir_;
  ItemSample sample_;
};

}  // namespace orrery::advise
