// Records what containers are asked, for the advisor: shapes of requests with counts and charges,
// counts over time, and a random sample of single requests.
//
// No value is kept. Of a value that could be a key there is a mark: an HMAC under a secret of this
// recording, which is never written to disk and goes with the process. Times are kept as distances
// from now. Names of properties are kept, except where an object has so many that they are data.
//
// Bounded: kMaxContainers containers, kHours hours of `per_hour` requests each, kMaxShapes shapes.
// About 2 MB a container.
//
// Threading: any thread. take() touches nothing but a counter of its thread; only requests that it
// chooses, some hundreds a second of each thread at most, go on to record() and its lock.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/sketches.h"
#include "advise/values.h"
#include "advise/workload.h"
#include "base/clock.h"
#include "base/keyed_hash.h"
#include "base/thread_annotations.h"
#include "value/document.h"
#include "value/path.h"

namespace orrery::advise {

// Properties of an item that was updated, and whether their values have changed.
using UpdatedProperties = std::map<std::string, bool>;
UpdatedProperties updated_properties(const value::Node& before, const value::Node& after);

// One request, as the face saw it.
struct Observed {
  uint32_t container = 0;
  RequestKind operation = RequestKind::read;
  double ru = 0;
  double asked = 1;                         // partitions that it asked
  double weight = 1;                        // requests that it stands for
  std::string_view query;                   // of a query: its text
  const value::Node* parameters = nullptr;  // [{"name":"@a","value":…}, …], or null
  UpdatedProperties updated = {};           // of a write to an item that was there
};

// What a request that is kept has of its items: as JSON, with marks for values.
class Details {
 public:
  Details(const Marker& marker, double now_s) : marker_(marker), now_s_(now_s) {}

  void add_known(const value::Path& path, const value::Node& value);
  void add_list(const value::Path& path, const std::vector<const value::Node*>& values);
  // Bounds that are times; null: open.
  void add_range(const value::Path& path, const value::Node* from, const value::Node* to);
  // All properties of an item: of a write, or as one of a batch.
  void add_item(const value::Node& item);
  void add_batch_item(const value::Node& item);

  // Members of a record of the workload, each with a comma before it.
  std::string json() const;

 private:
  void add_properties(const value::Node& item, std::string& out);
  void add_time(const value::Path& path, const value::Node& value);
  std::string mark(const value::Node& value) const;

  const Marker& marker_;
  double now_s_;
  std::string known_;
  std::string lists_;
  std::string times_;
  std::string items_;
};

// What the head of a recording says besides.
struct RecordedContainer {
  std::string name;
  double throughput = 0;
  std::vector<std::string> partition_key;
  double items = 0;
  double bytes = 0;
  double ttl_s = 0;
};

class Recorder {
 public:
  static constexpr size_t kMaxContainers = 16;
  static constexpr size_t kMaxShapes = 256;
  static constexpr size_t kMaxTexts = 1'024;  // of queries, each leading to a shape
  static constexpr int64_t kHours = 7 * 24;
  static constexpr int64_t kBucketS = 300;
  static constexpr size_t kMaxRequestBytes = 4'096;  // of one that is kept
  static constexpr size_t kMaxUpdatedPaths = 256;

  // `per_hour`: requests of a container that are kept; 0: nothing is recorded.
  Recorder(uint64_t per_hour, const Clock& clock);

  // How many requests this one stands for; 0: it is not to be recorded. Of few requests all are
  // taken, of many one in so many.
  uint32_t take() {
    if (per_hour_ == 0) return 0;
    Pace& pace = pace_;
    if (pace.left > 1) {
      --pace.left;
      return 0;
    }
    return next(pace);
  }

  using Describe = std::function<void(Details&)>;
  // `describe` is called if the request is kept. For queries it is not needed.
  void record(const Observed& observed, const Describe& describe = {});

  // Requests that were refused for want of throughput. They count nowhere else: a client sends them
  // again.
  void record_throttled(uint32_t container, double requests);

  // The recording as a workload (docs/formats/workload.md). `with_secret`: with that of its marks.
  std::string lines(uint32_t container, const RecordedContainer& about, bool with_secret) const;

 private:
  // When the thread's next request is taken.
  struct Pace {
    uint32_t left = 0;
    uint32_t period = 1;
    uint32_t taken = 0;
    int64_t since_us = 0;
  };
  struct Shape {
    RequestKind operation = RequestKind::read;
    std::string text;
    std::vector<std::string> equal;
    std::vector<std::string> in;
    std::vector<std::string> range;
    double count = 0;
    double ru = 0;
    double asked = 0;  // the sum over all
  };
  struct Kept {
    int64_t t = 0;
    uint32_t shape = 0;
    double ru = 0;
    std::string members;
  };
  struct Hour {
    double seen = 0;
    std::vector<Kept> requests;
  };
  struct Sums {
    double requests = 0;
    double ru = 0;
    double throttled = 0;
  };
  struct Updates {
    double seen = 0;
    double changed = 0;
  };
  struct Recording {
    int64_t from_s = 0;
    int64_t last_s = 0;
    double requests = 0;
    std::vector<Shape> shapes;
    KeyedMap<std::string, uint32_t> by_text;  // operation and text as sent
    std::map<int64_t, Hour> hours;
    std::map<int64_t, Sums> buckets;
    std::map<std::string, Updates> updates;  // of items, by path
  };

  uint32_t next(Pace& pace) const;
  Recording* recording_of(uint32_t container, int64_t now_s) ORRERY_REQUIRES(mutex_);
  // Of the bucket that now is in; those that are too old go.
  static Sums& sums_of(Recording& recording, int64_t now_s);
  uint32_t shape_of(Recording& recording, const Observed& observed) ORRERY_REQUIRES(mutex_);

  static thread_local Pace pace_;
  const Clock& clock_;
  const std::string secret_;
  const std::optional<Marker> marker_;  // nothing: there is no HMAC here, so nothing is recorded
  const uint64_t per_hour_;
  mutable Mutex mutex_;
  std::map<uint32_t, Recording> recordings_ ORRERY_GUARDED_BY(mutex_);
  Random random_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::advise
