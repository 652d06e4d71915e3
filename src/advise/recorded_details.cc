// What is kept of one request: marks and distances in time (recorder.h).
#include <fmt/format.h>

#include <cmath>

#include "advise/item_sample.h"
#include "advise/recorder.h"
#include "advise/sequences.h"
#include "advise/time_value.h"
#include "value/json_quoted.h"

namespace orrery::advise {
namespace {

using value::Node;
using value::quoted;
using value::Type;

constexpr size_t kMaxValueBytes = 100;
constexpr size_t kMaxListed = 64;
constexpr size_t kMaxRecordedBatchItems = 16;
// Of an item: what the service adds is never a key.
constexpr std::string_view kOwnNames[] = {"_rid", "_self", "_etag", "_attachments", "_ts"};

bool can_be_key(const Node& node) {
  return node.type == Type::null || node.type == Type::boolean || node.type == Type::number ||
         (node.type == Type::string && node.text.size() <= kMaxValueBytes);
}

void add_member(std::string& out, const value::Path& path, std::string_view json) {
  if (!out.empty()) out += ',';
  out += quoted(to_string(path));
  out += ':';
  out += json;
}

// Calls `take` with the path and the value of each property that could be a key, of the first
// kTracked.
template <class Take>
class PropertyWalk {
 public:
  explicit PropertyWalk(const Take& take) : take_(take) {}

  void walk(const Node& object) {
    if (object.count > ItemReader::kMaxNames) return;
    for (const Node* member = object.first; member != nullptr; member = member->next) {
      if (taken_ >= ItemReader::kTracked) return;
      if (path_.steps.empty() && contains(kOwnNames, member->name)) continue;
      path_.steps.push_back({.name = std::string(member->name)});
      if (member->type == Type::object) {
        if (path_.steps.size() < ItemReader::kMaxDepth) walk(*member);
      } else if (can_be_key(*member)) {
        ++taken_;
        take_(path_, *member);
      }
      path_.steps.pop_back();
    }
  }

 private:
  const Take& take_;
  value::Path path_;
  size_t taken_ = 0;
};

template <class Take>
void each_property(const Node& item, const Take& take) {
  PropertyWalk<Take>(take).walk(item);
}

}  // namespace

std::string Details::mark(const Node& value) const {
  return fmt::format("\"{:016x}\"", marker_.mark(placement_bytes(value)));
}

void Details::add_time(const value::Path& path, const Node& value) {
  const auto time = parse_time(value);
  if (time) add_member(times_, path, fmt::format("[{:.0f},0]", std::round(now_s_ - time->s)));
}

void Details::add_known(const value::Path& path, const Node& value) {
  if (!can_be_key(value)) return;
  add_member(known_, path, mark(value));
  add_time(path, value);
}

void Details::add_list(const value::Path& path, const std::vector<const Node*>& values) {
  std::string list;
  size_t count = 0;
  for (const Node* one : values) {
    if (!can_be_key(*one) || ++count > kMaxListed) continue;
    list += (list.empty() ? "" : ",") + mark(*one);
  }
  if (!list.empty()) add_member(lists_, path, "[" + list + "]");
}

void Details::add_range(const value::Path& path, const Node* from, const Node* to) {
  const auto begin = from == nullptr ? std::nullopt : parse_time(*from);
  const auto end = to == nullptr ? std::nullopt : parse_time(*to);
  if (!begin) return;
  const double newest = end ? end->s : now_s_;
  add_member(times_, path,
             fmt::format("[{:.0f},{:.0f}]", std::round(now_s_ - newest),
                         std::round(std::max(0.0, newest - begin->s))));
}

void Details::add_properties(const Node& item, std::string& out) {
  each_property(item, [&](const value::Path& path, const Node& value) {
    add_member(out, path, mark(value));
    if (items_.empty()) add_time(path, value);
  });
}

void Details::add_item(const Node& item) {
  add_properties(item, known_);
}

void Details::add_batch_item(const Node& item) {
  if (std::ranges::count(items_, '{') >= static_cast<ptrdiff_t>(kMaxRecordedBatchItems)) return;
  std::string values;
  add_properties(item, values);
  items_ += (items_.empty() ? "{" : ",{") + values + "}";
}

UpdatedProperties updated_properties(const Node& before, const Node& after) {
  UpdatedProperties updated;
  std::map<std::string, std::string> values;
  each_property(before, [&](const value::Path& path, const Node& value) {
    values.emplace(to_string(path), placement_bytes(value));
  });
  each_property(after, [&](const value::Path& path, const Node& value) {
    auto was = values.extract(to_string(path));
    updated.emplace(to_string(path), was.empty() || was.mapped() != placement_bytes(value));
  });
  // Those that it has no more.
  for (const auto& [path, value] : values) updated.emplace(path, true);
  return updated;
}

std::string Details::json() const {
  std::string out;
  if (!known_.empty()) out += ",\"v\":{" + known_ + "}";
  if (!lists_.empty()) out += ",\"in\":{" + lists_ + "}";
  if (!times_.empty()) out += ",\"time\":{" + times_ + "}";
  if (!items_.empty()) out += ",\"items\":[" + items_ + "]";
  return out;
}

}  // namespace orrery::advise
