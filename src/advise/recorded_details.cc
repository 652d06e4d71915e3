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
constexpr size_t kMaxBatchItems = 16;
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

void Details::add_properties(const Node& object, value::Path& prefix, std::string& out) {
  if (object.count > ItemReader::kMaxNames) return;
  for (const Node* member = object.first; member != nullptr; member = member->next) {
    if (paths_ >= ItemReader::kTracked) return;
    if (prefix.steps.empty() && contains(kOwnNames, member->name)) continue;
    prefix.steps.push_back({.name = std::string(member->name)});
    if (member->type == Type::object) {
      if (prefix.steps.size() < ItemReader::kMaxDepth) add_properties(*member, prefix, out);
    } else if (can_be_key(*member)) {
      ++paths_;
      add_member(out, prefix, mark(*member));
      if (items_.empty()) add_time(prefix, *member);
    }
    prefix.steps.pop_back();
  }
}

void Details::add_item(const Node& item) {
  value::Path prefix;
  add_properties(item, prefix, known_);
}

void Details::add_batch_item(const Node& item) {
  if (std::ranges::count(items_, '{') >= static_cast<ptrdiff_t>(kMaxBatchItems)) return;
  value::Path prefix;
  std::string values;
  paths_ = 0;
  add_properties(item, prefix, values);
  items_ += (items_.empty() ? "{" : ",{") + values + "}";
}

void Details::add_changed(const value::Path& path) {
  changed_.push_back(to_string(path));
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
