// Makes containers whose right partition key is known: items and a workload as NDJSON, from a
// description. The same description gives the same bytes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "advise/sketches.h"
#include "advise/time_value.h"
#include "advise/values.h"
#include "value/json.h"
#include "value/json_quoted.h"
#include "value/path.h"

namespace orrery::advise::test {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  double share() { return static_cast<double>(random_.next() >> 11) / 9007199254740992.0; }
  size_t below(size_t n) { return static_cast<size_t>(share() * static_cast<double>(n)); }
  // One of n by weights 1/(i+1)^s, or by the given first shares and the rest evenly.
  size_t zipf(size_t n, double s) {
    return by_weight(
        n, [s](size_t i) { return std::pow(1.0 / (static_cast<double>(i) + 1), s); }, s);
  }
  size_t heads(size_t n, const std::vector<double>& first) {
    double at = share();
    for (size_t i = 0; i < first.size(); ++i) {
      if (at < first[i]) return i;
      at -= first[i];
    }
    return first.size() + below(n - first.size());
  }
  std::string unique() { return fmt::format("{:016x}", random_.next()); }
  std::string quoted_id() { return "\"" + unique() + "\""; }

 private:
  template <class Weight>
  size_t by_weight(size_t n, Weight weight, double tag) {
    auto& sums = sums_[{n, tag}];
    if (sums.empty()) {
      double total = 0;
      for (size_t i = 0; i < n; ++i) sums.push_back(total += weight(i));
    }
    const auto at = std::ranges::lower_bound(sums, share() * sums.back());
    return std::min(n - 1, static_cast<size_t>(at - sums.begin()));
  }
  Random random_;
  std::map<std::pair<size_t, double>, std::vector<double>> sums_;
};

// Whom each of `count` belongs to, as `pick` draws it: the same every time.
template <class Pick>
std::vector<size_t> owners(size_t count, Pick pick) {
  Dice dice(13);
  std::vector<size_t> all(count);
  for (size_t& one : all) one = pick(dice);
  return all;
}

// An item: JSON texts of its values by path.
using Item = std::map<std::string, std::string>;

// An object under construction: a value, or members by name.
struct Members {
  std::string json;
  std::map<std::string, Members> below;

  std::string text() const {
    if (below.empty()) return json;
    std::string out = "{";
    for (const auto& [name, one] : below) {
      out += fmt::format("{}{}:{}", out.size() > 1 ? "," : "", value::quoted(name), one.text());
    }
    return out + "}";
  }
};

inline std::string to_json(const Item& item, double t) {
  Members root;
  for (const auto& [path, json] : item) {
    Members* at = &root;
    for (const auto& step : value::parse_property_path(path).value().steps) {
      at = &at->below[step.name];
    }
    at->json = json;
  }
  root.below["_ts"].json = fmt::format("{:.0f}", t);
  return root.text();
}

struct TestOperation {
  double share = 0;
  std::string op = {};
  std::string text = {};
  std::vector<std::string> equal = {};
  std::map<std::string, double> range_s = {};  // width by path
  std::map<std::string, size_t> lists = {};
  double work_ru = 1;
  double age_s = 0;  // how far back it asks, on average
  size_t batch = 0;
  std::vector<std::string> same = {};  // of the items of a batch
};

struct TestSet {
  std::string name = {};
  double items = 0;  // of the container
  double gigabytes = 0;
  double throughput = 0;
  std::string partition_key = "null";
  double ttl_s = 0;
  double days = 100;
  double ru_s = 0;
  // Makes an item of time t; `asking`: as those that reads ask for.
  std::function<Item(Dice&, double t, bool asking)> make = {};
  std::vector<std::string> times = {};         // paths that tell the time
  std::map<std::string, double> changes = {};  // share of updates, by path
  std::vector<TestOperation> operations = {};  // empty: no workload
  double refused = 0;                          // requests, for one that was answered
  double noise = 0;                            // share of queries by some other property
  size_t sampled_items = 4'000;
  size_t sampled_requests = 4'000;
};

class SetMaker {
 public:
  // `with_secret`: of a workload with marks.
  SetMaker(const TestSet& set, bool plain, bool with_secret = true)
      : set_(set),
        plain_(plain),
        with_secret_(with_secret),
        marker_(*Marker::create("secret of tests")) {}

  std::vector<std::string> items() {
    Dice dice(11);
    std::vector<double> times;
    for (size_t i = 0; i < set_.sampled_items; ++i) times.push_back(at(dice.share()));
    std::ranges::sort(times);
    std::vector<std::string> lines;
    for (const double t : times) lines.push_back(to_json(set_.make(dice, t, false), t));
    return lines;
  }

  std::vector<std::string> workload() {
    if (set_.operations.empty()) return {};
    Dice dice(12);
    constexpr double kWindow = 7 * 86'400.0;
    std::vector<double> times;
    while (times.size() < set_.sampled_requests) {
      const double t = end() - kWindow * dice.share();
      // Twice as many at noon as at midnight.
      if (2 * dice.share() < 1.5 - 0.5 * std::cos(2 * std::numbers::pi * t / 86'400)) {
        times.push_back(t);
      }
    }
    std::ranges::sort(times);
    std::vector<std::string> requests;
    std::map<double, std::pair<double, double>> hours;
    // The last one is that of the noise.
    std::vector<std::pair<double, double>> by_shape(set_.operations.size() + 1);
    double ru_in_all = 0;
    for (const double t : times) {
      const bool is_noise = set_.noise > 0 && dice.share() < set_.noise;
      const size_t shape = is_noise ? set_.operations.size() : pick(dice);
      double ru = 0;
      std::string line =
          request(dice, t, is_noise ? unrelated(dice, t) : set_.operations[shape], ru);
      requests.push_back(fmt::format("{{\"k\":\"req\",\"t\":{:.0f},\"shape\":{},\"ru\":{:.2f}{}}}",
                                     t, shape, ru, line));
      auto& hour = hours[std::floor(t / 3600) * 3600];
      ++hour.first;
      hour.second += ru;
      ++by_shape[shape].first;
      by_shape[shape].second += ru;
      ru_in_all += ru;
    }
    const double scale = set_.ru_s * kWindow / ru_in_all;
    std::vector<std::string> lines;
    lines.push_back(fmt::format(
        "{{\"k\":\"head\",\"v\":1,\"container\":\"test/{}\",\"throughput\":{},\"partitionKey\":{},"
        "\"items\":{},\"bytes\":{:.0f},\"ttl_s\":{},\"from\":{:.0f},\"to\":{:.0f},\"hash\":\"{}\","
        "\"key\":{}}}",
        set_.name, set_.throughput, set_.partition_key, set_.items, set_.gigabytes * (1 << 30),
        set_.ttl_s > 0 ? fmt::format("{}", set_.ttl_s) : "null", end() - kWindow, end(),
        plain_ ? "none" : "hmac-sha256-64",
        plain_ || !with_secret_ ? "null" : "\"736563726574206f66207465737473\""));
    for (size_t i = 0; i < set_.operations.size(); ++i) {
      lines.push_back(shape_line(i, set_.operations[i], by_shape[i], scale));
    }
    if (set_.noise > 0) {
      lines.push_back(shape_line(by_shape.size() - 1, {.op = "query"}, by_shape.back(), scale));
    }
    for (const auto& [t, sums] : hours) {
      lines.push_back(fmt::format(
          "{{\"k\":\"time\",\"t\":{:.0f},\"s\":3600,\"requests\":{:.0f},"
          "\"ru\":{:.0f},\"throttled\":{:.0f}}}",
          t, sums.first * scale, sums.second * scale, sums.first * scale * set_.refused));
    }
    for (const auto& [path, share] : set_.changes) {
      lines.push_back(
          fmt::format("{{\"k\":\"change\",\"path\":\"{}\",\"replaced\":1000,\"changed\":{:.0f}}}",
                      path, 1000 * share));
    }
    lines.insert(lines.end(), requests.begin(), requests.end());
    return lines;
  }

 private:
  double end() const { return 1'800'000'000; }
  double at(double share) const { return end() - set_.days * 86'400 * (1 - share); }
  double asked() const { return std::max(1.0, std::ceil(set_.throughput / 10'000)); }

  size_t pick(Dice& dice) const {
    double total = 0;
    for (const TestOperation& one : set_.operations) total += one.share;
    double left = dice.share() * total;
    for (size_t i = 0; i < set_.operations.size(); ++i) {
      left -= set_.operations[i].share;
      if (left < 0) return i;
    }
    return set_.operations.size() - 1;
  }

  // A query by one property of an item, whichever.
  TestOperation unrelated(Dice& dice, double t) const {
    const Item item = set_.make(dice, t, true);
    return {.op = "query",
            .equal = {std::next(item.begin(), static_cast<int>(dice.below(item.size())))->first}};
  }

  // `sums`: of the sampled requests, how many and their RU.
  std::string shape_line(size_t number, const TestOperation& one, std::pair<double, double> sums,
                         double scale) const {
    std::vector<std::string> in;
    std::vector<std::string> range;
    for (const auto& [path, count] : one.lists) in.push_back(path);
    for (const auto& [path, width] : one.range_s) range.push_back(path);
    return fmt::format(
        "{{\"k\":\"shape\",\"shape\":{},\"op\":\"{}\",\"text\":{},\"eq\":{},\"in\":{},\"range\":{},"
        "\"count\":{:.0f},\"ru\":{:.0f},\"asked\":{},\"pages\":1}}",
        number, one.op, value::quoted(one.text), list(one.equal), list(in), list(range),
        sums.first * scale, sums.second * scale, one.op == "query" ? asked() : 1);
  }

  static std::string list(const std::vector<std::string>& texts) {
    std::string out = "[";
    for (const std::string& one : texts) out += (out.size() > 1 ? "," : "") + value::quoted(one);
    return out + "]";
  }

  std::string mark(const std::string& json) const {
    if (plain_) return json;
    const auto document = value::JsonDocument::parse(json);
    return fmt::format("\"{:016x}\"", marker_.mark(placement_bytes(document->root())));
  }

  std::string known(const Item& item, const std::vector<std::string>* only) const {
    std::string out = "{";
    for (const auto& [path, json] : item) {
      if (only != nullptr && std::ranges::find(*only, path) == only->end()) continue;
      if (json.starts_with('[')) continue;
      out += fmt::format("{}{}:{}", out.size() > 1 ? "," : "", value::quoted(path), mark(json));
    }
    return out + "}";
  }

  std::string request(Dice& dice, double t, const TestOperation& one, double& ru) const {
    const double age = one.age_s > 0 ? -std::log(1 - dice.share()) * one.age_s : 0;
    const bool body = one.op == "create" || one.op == "replace" || one.op == "batch";
    const Item item = set_.make(dice, t - age, !body);
    std::string line;
    std::string lags;
    const auto add_lag = [&](const std::string& path, double width) {
      lags += fmt::format("{}{}:[{:.0f},{:.0f}]", lags.empty() ? "" : ",", value::quoted(path), age,
                          width);
    };
    if (one.op == "batch") {
      line = ",\"items\":[";
      for (size_t i = 0; i < one.batch; ++i) {
        Item other = set_.make(dice, t, false);
        for (const std::string& path : one.same) other[path] = item.at(path);
        line += (i == 0 ? "" : ",") + known(i == 0 ? item : other, nullptr);
      }
      line += "]";
      ru = 6.5 * static_cast<double>(one.batch);
    } else if (body) {
      line = ",\"v\":" + known(item, nullptr);
      for (const std::string& path : set_.times) add_lag(path, 0);
      ru = one.op == "replace" ? 11 : 6.5;
    } else {
      line = ",\"v\":" + known(item, &one.equal);
      for (const std::string& path : set_.times) {
        if (std::ranges::find(one.equal, path) != one.equal.end()) add_lag(path, 0);
      }
      for (const auto& [path, width] : one.range_s) add_lag(path, width);
      std::string lists;
      for (const auto& [path, count] : one.lists) {
        lists += fmt::format("{}{}:[", lists.empty() ? "" : ",", value::quoted(path));
        for (size_t i = 0; i < count; ++i) {
          lists += (i == 0 ? "" : ",") + mark(set_.make(dice, t, true).at(path));
        }
        lists += "]";
      }
      if (!lists.empty()) line += ",\"in\":{" + lists + "}";
      ru = one.op == "query"   ? 2 * asked() + one.work_ru * (0.5 + dice.share())
           : one.op == "patch" ? 11
                               : 1;
    }
    if (!lags.empty()) line += ",\"time\":{" + lags + "}";
    return line;
  }

  const TestSet& set_;
  bool plain_;
  bool with_secret_;
  Marker marker_;
};

// Values as JSON.
inline std::string named(std::string_view prefix, size_t number) {
  return fmt::format("\"{}{:05}\"", prefix, number);
}
inline std::string number(size_t value) {
  return fmt::format("{}", value);
}
inline std::string decimal(Dice& dice, double least, double most) {
  return fmt::format("{:.3f}", least + (most - least) * dice.share());
}
inline std::string chance(Dice& dice, double of_true) {
  return dice.share() < of_true ? "true" : "false";
}
inline std::string day(double t) {
  return value::quoted(date_text(t));
}
inline std::string instant(double t) {
  return fmt::format("\"{}T{:02}:{:02}:{:02}Z\"", date_text(t),
                     static_cast<int>(std::fmod(t, 86'400) / 3600),
                     static_cast<int>(std::fmod(t, 3600) / 60), static_cast<int>(std::fmod(t, 60)));
}
template <class... Choice>
std::string one_of(Dice& dice, Choice... choices) {
  const std::vector<std::string> all = {value::quoted(choices)...};
  return all[dice.below(all.size())];
}

}  // namespace orrery::advise::test
