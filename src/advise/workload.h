// What a container is asked: shapes of requests, counts over time, and a sample of single requests.
// Read from NDJSON (docs/formats/workload.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/sketches.h"
#include "advise/values.h"
#include "base/result.h"

namespace orrery::advise {

enum class RequestKind : uint8_t { query, read, create, upsert, replace, patch, remove, batch };
std::optional<RequestKind> parse_request_kind(std::string_view name);
std::string_view to_text(RequestKind operation);
// The caller has the whole item, and so every part of its key.
inline bool has_body(RequestKind operation) {
  return operation == RequestKind::create || operation == RequestKind::upsert ||
         operation == RequestKind::replace || operation == RequestKind::batch;
}

struct Shape {
  uint64_t number = 0;  // as the file has it
  RequestKind operation = RequestKind::query;
  std::string text;
  std::vector<uint32_t> equal;  // paths that are compared with =, or that the caller has
  std::vector<uint32_t> in;
  std::vector<uint32_t> range;
  double count = 0;
  double ru = 0;
  double asked = 1;  // partitions that one page asked
  double pages = 1;
};

struct Bucket {
  double t = 0;
  double s = 0;
  double requests = 0;
  double ru = 0;
  double throttled = 0;
};

struct PathChange {
  uint32_t path = 0;
  double replaced = 0;
  double changed = 0;
};

struct Known {
  uint32_t path = 0;
  uint64_t mark = 0;
};

struct KnownTime {
  uint32_t path = 0;
  double lag_s = 0;
  double width_s = 0;
};

struct KnownList {
  uint32_t path = 0;
  std::vector<uint64_t> marks;
};

struct Request {
  double t = 0;
  uint32_t shape = 0;  // its place in Workload::shapes
  double ru = 0;
  std::vector<Known> known;
  std::vector<KnownList> lists;
  std::vector<KnownTime> times;
  std::vector<std::vector<Known>> batch;  // of its items
};

struct Workload {
  std::string container;
  std::optional<double> throughput;
  std::optional<std::vector<uint32_t>> partition_key;
  std::optional<double> items;
  std::optional<double> bytes;
  double ttl_s = 0;  // 0: none
  double from = 0;
  double to = 0;
  double sampled_of = 0;  // requests that the sample stands for
  bool hashed = false;
  Marker marker;
  bool has_secret = false;

  std::vector<Shape> shapes;
  std::vector<Bucket> buckets;
  std::vector<PathChange> changes;
  std::vector<Request> requests;
  // Bytes behind marks, from a workload in plain values.
  std::vector<std::string> plain_values;
};

// Takes a workload line by line. Of more than kMaxRequests it keeps a random sample.
class WorkloadReader {
 public:
  static constexpr size_t kMaxRequests = 20'000;
  static constexpr size_t kMaxShapes = 1'024;
  static constexpr size_t kMaxBuckets = 100'000;

  explicit WorkloadReader(PathTable& paths) : paths_(paths), reservoir_(kMaxRequests, kSeed) {}
  // An error says what is wrong with the line; the caller knows its number.
  Status add_line(std::string_view line);
  Result<Workload> finish();

 private:
  static constexpr uint64_t kSeed = 1;

  Status add_head(const value::Node& record);
  Status add_shape(const value::Node& record);
  Status add_bucket(const value::Node& record);
  Status add_change(const value::Node& record);
  Status add_request(const value::Node& record);
  Result<uint32_t> path_of(std::string_view name);
  Result<std::vector<uint32_t>> paths_of(const value::Node* list, std::string_view what);
  Result<uint64_t> mark_of(const value::Node& node);
  Result<std::vector<Known>> known_of(const value::Node& object);

  PathTable& paths_;
  Workload work_;
  Reservoir reservoir_;
  bool has_head_ = false;
};

}  // namespace orrery::advise
