// See workload.h.
#include "advise/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "advise/query_paths.h"
#include "advise/sequences.h"
#include "query/parse/parser.h"

namespace orrery::advise {
namespace {

using value::Node;
using value::Type;

constexpr size_t kMaxPaths = 1'024;
constexpr size_t kMaxListValues = 256;
constexpr size_t kMaxBatchItems = 100;

constexpr std::array<std::pair<std::string_view, RequestKind>, 8> kRequestKinds = {{
    {"query", RequestKind::query},
    {"read", RequestKind::read},
    {"create", RequestKind::create},
    {"upsert", RequestKind::upsert},
    {"replace", RequestKind::replace},
    {"patch", RequestKind::patch},
    {"delete", RequestKind::remove},
    {"batch", RequestKind::batch},
}};

const Node* present(const Node& record, std::string_view name) {
  const Node* member = record.find(name);
  return member == nullptr || member->type == Type::null ? nullptr : member;
}

// A number that is not there is `otherwise`.
Result<double> number(const Node& record, std::string_view name, double otherwise) {
  const Node* member = present(record, name);
  if (member == nullptr) return otherwise;
  if (member->type != Type::number || !(member->number >= 0) || member->number > 1e18) {
    return fail(Code::invalid, fmt::format("'{}' must be a number that is not negative, and is {}",
                                           name, member->raw));
  }
  return member->number;
}

// Of several; the first error ends it.
class Numbers {
 public:
  explicit Numbers(const Node& record) : record_(record) {}
  double take(std::string_view name, double otherwise) {
    auto value = number(record_, name, otherwise);
    if (value) return *value;
    if (status_) status_ = pass(std::move(value.error()));
    return otherwise;
  }
  Status status() { return std::move(status_); }

 private:
  const Node& record_;
  Status status_;
};

std::optional<std::string> from_hex(std::string_view text) {
  std::string out;
  if (text.size() % 2 != 0) return std::nullopt;
  for (size_t i = 0; i < text.size(); i += 2) {
    uint8_t byte = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (error != std::errc() || end != text.data() + i + 2) return std::nullopt;
    out.push_back(static_cast<char>(byte));
  }
  return out;
}

}  // namespace

std::optional<RequestKind> parse_request_kind(std::string_view name) {
  for (const auto& [text, operation] : kRequestKinds) {
    if (text == name) return operation;
  }
  return std::nullopt;
}

std::string_view to_text(RequestKind operation) {
  for (const auto& [text, known] : kRequestKinds) {
    if (known == operation) return text;
  }
  return "";
}

Result<uint32_t> WorkloadReader::path_of(std::string_view name) {
  auto path = paths_.add(name);
  if (path && paths_.size() > kMaxPaths) {
    return fail(
        Code::invalid,
        fmt::format("more than {} different paths: these are data, not a schema", kMaxPaths));
  }
  return path;
}

Result<std::vector<uint32_t>> WorkloadReader::paths_of(const Node* list, std::string_view what) {
  std::vector<uint32_t> out;
  if (list == nullptr) return out;
  if (list->type != Type::array) {
    return fail(Code::invalid, fmt::format("'{}' must be an array of paths", what));
  }
  for (const Node* one = list->first; one != nullptr; one = one->next) {
    if (one->type != Type::string) {
      return fail(Code::invalid, fmt::format("'{}' must be an array of paths", what));
    }
    auto path = path_of(one->text);
    if (!path) return pass(std::move(path.error()));
    out.push_back(*path);
  }
  return out;
}

Result<uint64_t> WorkloadReader::mark_of(const Node& node) {
  if (!work_.hashed) {
    std::string bytes = placement_bytes(node);
    if (bytes.empty()) {
      return fail(Code::invalid, fmt::format("{} cannot be the value of a key", node.raw));
    }
    const uint64_t mark = work_.marker.mark(bytes);
    work_.plain_values.push_back(std::move(bytes));
    return mark;
  }
  uint64_t mark = 0;
  const std::string_view text = node.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mark, 16);
  if (node.type != Type::string || text.size() != 16 || error != std::errc() ||
      end != text.data() + text.size()) {
    return fail(Code::invalid,
                fmt::format("{} is no mark: that has 16 hexadecimal digits", node.raw));
  }
  return mark;
}

Result<std::vector<Known>> WorkloadReader::known_of(const Node& object) {
  std::vector<Known> out;
  if (object.type != Type::object) return fail(Code::invalid, "'v' must be an object by path");
  for (const Node* member = object.first; member != nullptr; member = member->next) {
    auto path = path_of(member->name);
    if (!path) return pass(std::move(path.error()));
    auto mark = mark_of(*member);
    if (!mark) return pass(std::move(mark.error()));
    out.push_back({*path, *mark});
  }
  return out;
}

Status WorkloadReader::add_head(const Node& record) {
  if (has_head_ || !work_.requests.empty()) {
    return fail(Code::invalid, "the head must be one record, before the requests");
  }
  has_head_ = true;
  Numbers numbers(record);
  if (numbers.take("v", 1) != 1) {
    return fail(Code::invalid, "the head has another version than 1");
  }
  if (const Node* name = present(record, "container"); name != nullptr) {
    work_.container = name->text;
  }
  if (present(record, "throughput") != nullptr) work_.throughput = numbers.take("throughput", 0);
  if (present(record, "items") != nullptr) work_.items = numbers.take("items", 0);
  if (present(record, "bytes") != nullptr) work_.bytes = numbers.take("bytes", 0);
  work_.ttl_s = numbers.take("ttl_s", 0);
  work_.from = numbers.take("from", 0);
  work_.to = numbers.take("to", 0);
  work_.sampled_of = numbers.take("requests", 0);
  if (auto status = numbers.status(); !status) return status;
  if (const Node* key = present(record, "partitionKey"); key != nullptr) {
    auto paths = paths_of(key, "partitionKey");
    if (!paths) return pass(std::move(paths.error()));
    if (!paths->empty()) work_.partition_key = std::move(*paths);
  }
  const Node* hash = present(record, "hash");
  const std::string_view kind = hash == nullptr ? "none" : hash->text;
  if (kind != "none" && kind != "hmac-sha256-64") {
    return fail(Code::invalid,
                fmt::format("'hash' is {}, and must be none or hmac-sha256-64", hash->raw));
  }
  work_.hashed = kind != "none";
  const Node* secret = present(record, "key");
  if (work_.hashed && secret != nullptr) {
    const auto bytes = from_hex(secret->text);
    if (!bytes || bytes->empty()) {
      return fail(Code::invalid, "'key' must be hexadecimal digits");
    }
    auto marker = Marker::create(*bytes);
    if (!marker) return pass(std::move(marker.error()));
    work_.marker = std::move(*marker);
    work_.has_secret = true;
  }
  return {};
}

Status WorkloadReader::add_shape(const Node& record) {
  if (work_.shapes.size() == kMaxShapes) {
    return fail(Code::invalid, fmt::format("more than {} shapes", kMaxShapes));
  }
  Shape shape;
  Numbers numbers(record);
  shape.number = static_cast<uint64_t>(numbers.take("shape", 0));
  shape.count = numbers.take("count", 0);
  shape.ru = numbers.take("ru", 0);
  shape.asked = numbers.take("asked", 1);
  shape.pages = numbers.take("pages", 1);
  if (auto status = numbers.status(); !status) return status;
  if (contains(work_.shapes, shape.number, &Shape::number)) {
    return fail(Code::invalid, fmt::format("shape {} is there twice", shape.number));
  }
  const Node* name = present(record, "op");
  const auto operation = parse_request_kind(name == nullptr ? "" : name->text);
  if (!operation) {
    return fail(Code::invalid,
                fmt::format("'op' is {}, and must be query, read, create, upsert, replace, patch, "
                            "delete or batch",
                            name == nullptr ? "missing" : name->raw));
  }
  shape.operation = *operation;
  if (const Node* text = present(record, "text"); text != nullptr) shape.text = text->text;
  auto equal = paths_of(present(record, "eq"), "eq");
  auto in = paths_of(present(record, "in"), "in");
  auto range = paths_of(present(record, "range"), "range");
  for (const auto* paths : {&equal, &in, &range}) {
    if (!*paths) return pass(Error(paths->error()));
  }
  shape.equal = std::move(*equal);
  shape.in = std::move(*in);
  shape.range = std::move(*range);
  if (present(record, "eq") == nullptr && shape.operation == RequestKind::query &&
      !shape.text.empty()) {
    auto query = query::parse_query(shape.text);
    if (!query) {
      return fail(Code::invalid, fmt::format("the query '{}' cannot be read: {}", shape.text,
                                             query.error().message));
    }
    const QueryPaths named = advise::paths_of(*query);
    for (const auto& use : named.equal) shape.equal.push_back(paths_.add(use.path));
    for (const auto& use : named.in) shape.in.push_back(paths_.add(use.path));
    for (const auto& use : named.range) shape.range.push_back(paths_.add(use.path));
  }
  work_.shapes.push_back(std::move(shape));
  return {};
}

Status WorkloadReader::add_bucket(const Node& record) {
  if (work_.buckets.size() == kMaxBuckets) {
    return fail(Code::invalid, fmt::format("more than {} records of time", kMaxBuckets));
  }
  Numbers numbers(record);
  const Bucket bucket{.t = numbers.take("t", 0),
                      .s = numbers.take("s", 300),
                      .requests = numbers.take("requests", 0),
                      .ru = numbers.take("ru", 0),
                      .throttled = numbers.take("throttled", 0)};
  if (auto status = numbers.status(); !status) return status;
  if (bucket.s <= 0) return fail(Code::invalid, "'s' must be above 0");
  work_.buckets.push_back(bucket);
  return {};
}

Status WorkloadReader::add_change(const Node& record) {
  const Node* name = present(record, "path");
  auto path = path_of(name == nullptr ? "" : name->text);
  if (!path) return pass(std::move(path.error()));
  Numbers numbers(record);
  work_.changes.push_back({.path = *path,
                           .replaced = numbers.take("replaced", 0),
                           .changed = numbers.take("changed", 0)});
  return numbers.status();
}

Status WorkloadReader::add_request(const Node& record) {
  Request request;
  Numbers numbers(record);
  request.t = numbers.take("t", 0);
  request.ru = numbers.take("ru", 0);
  const auto shape = static_cast<uint64_t>(numbers.take("shape", 0));
  if (auto status = numbers.status(); !status) return status;
  const auto found = std::ranges::find(work_.shapes, shape, &Shape::number);
  if (found == work_.shapes.end()) {
    return fail(Code::invalid, fmt::format("there is no shape {} above this request", shape));
  }
  request.shape = static_cast<uint32_t>(found - work_.shapes.begin());
  if (const Node* known = present(record, "v"); known != nullptr) {
    auto values = known_of(*known);
    if (!values) return pass(std::move(values.error()));
    request.known = std::move(*values);
  }
  if (const Node* lists = present(record, "in"); lists != nullptr) {
    for (const Node* list = lists->first; list != nullptr; list = list->next) {
      auto path = path_of(list->name);
      if (!path) return pass(std::move(path.error()));
      KnownList one{.path = *path, .marks = {}};
      for (const Node* mark = list->first; mark != nullptr; mark = mark->next) {
        if (one.marks.size() == kMaxListValues) break;
        auto value = mark_of(*mark);
        if (!value) return pass(std::move(value.error()));
        one.marks.push_back(*value);
      }
      request.lists.push_back(std::move(one));
    }
  }
  if (const Node* times = present(record, "time"); times != nullptr) {
    for (const Node* one = times->first; one != nullptr; one = one->next) {
      auto path = path_of(one->name);
      if (!path) return pass(std::move(path.error()));
      if (one->type != Type::array || one->count != 2 || one->first->type != Type::number ||
          one->first->next->type != Type::number) {
        return fail(Code::invalid,
                    fmt::format("'time' of {} must be [lag, width] in seconds", one->name));
      }
      request.times.push_back({.path = *path,
                               .lag_s = one->first->number,
                               .width_s = std::max(0.0, one->first->next->number)});
    }
  }
  if (const Node* items = present(record, "items"); items != nullptr) {
    for (const Node* item = items->first; item != nullptr; item = item->next) {
      if (request.batch.size() == kMaxBatchItems) break;
      auto values = known_of(*item);
      if (!values) return pass(std::move(values.error()));
      request.batch.push_back(std::move(*values));
    }
  }
  const size_t place = reservoir_.offer();
  if (place == Reservoir::kNone) return {};
  if (place == work_.requests.size()) {
    work_.requests.push_back(std::move(request));
  } else {
    work_.requests[place] = std::move(request);
  }
  return {};
}

Status WorkloadReader::add_line(std::string_view line) {
  auto document = value::JsonDocument::parse(line);
  if (!document) return pass(std::move(document.error()));
  const Node& record = document->root();
  const Node* kind = record.type == Type::object ? record.find("k") : nullptr;
  if (kind == nullptr) return fail(Code::invalid, "a record must be an object with 'k'");
  if (kind->text == "head") return add_head(record);
  if (kind->text == "shape") return add_shape(record);
  if (kind->text == "time") return add_bucket(record);
  if (kind->text == "change") return add_change(record);
  if (kind->text == "req") return add_request(record);
  return fail(Code::invalid,
              fmt::format("'k' is {}, and must be head, shape, time, change or req", kind->raw));
}

Result<Workload> WorkloadReader::finish() {
  sort_stable(work_.requests, std::less(), &Request::t);
  sort_stable(work_.buckets, std::less(), &Bucket::t);
  return std::move(work_);
}

}  // namespace orrery::advise
