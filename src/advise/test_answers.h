// What the advisor must and must not say of a made container, and the check that it does.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/advise.h"
#include "advise/sequences.h"
#include "advise/test_sets.h"

namespace orrery::advise::test {

struct Said {
  std::string key;
  std::string code;
};

struct Answer {
  std::vector<std::string> best = {};  // one of these; what ends in * is the beginning of a name
  std::vector<std::string> never_best = {};
  std::vector<Said> disqualified = {};
  std::vector<Said> warned = {};  // by a warning, or disqualified for the same
  std::vector<Said> not_warned = {};
  std::vector<std::string> no_key = {};  // no candidate, or a disqualified one
  Verdict verdict = Verdict::choose;
  std::vector<std::string> advice = {};
  std::vector<std::string> own_container = {};
  std::vector<std::string> notes = {};
};

struct Known {
  TestSet set;
  Answer answer;
};

// The server's own limits.
inline Settings settings() {
  Settings settings;
  settings.logical_limit_bytes = 10.0 * (1 << 30);
  settings.physical_limit_bytes = 50.0 * (1 << 30);
  settings.partition_throughput = 10'000;
  settings.longest_key_bytes = 2'048;
  return settings;
}

inline Report report_on(const TestSet& set, bool plain = false, bool with_secret = true) {
  PathTable paths;
  SetMaker maker(set, plain, with_secret);
  WorkloadReader workload_reader(paths);
  const auto lines = maker.workload();
  for (const std::string& line : lines) {
    const auto status = workload_reader.add_line(line);
    EXPECT_TRUE(status) << line << (status ? "" : status.error().message);
  }
  auto workload = workload_reader.finish();
  ItemReader items(paths, wanted_paths(*workload, settings()));
  for (const std::string& line : maker.items()) {
    const auto document = value::JsonDocument::parse(line);
    EXPECT_TRUE(document) << line;
    items.add(document->root(), line.size());
  }
  return advise(
      make_facts(paths, settings(), items.finish(), std::move(*workload), !lines.empty()));
}

inline const Scored* find_key(const Report& report, std::string_view name) {
  const auto found = std::ranges::find(report.candidates, name, &Scored::name);
  return found == report.candidates.end() ? nullptr : &*found;
}

inline bool says(const std::vector<Finding>& findings, std::string_view code) {
  return contains(findings, code, &Finding::code);
}

inline bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::any_of(names, [&](const std::string& one) {
    if (!one.ends_with('*')) return one == name;
    return name.starts_with(std::string_view(one).substr(0, one.size() - 1));
  });
}

inline void expect_findings(const Report& report, const Answer& answer) {
  for (const auto& [key, code] : answer.disqualified) {
    const Scored* one = find_key(report, key);
    EXPECT_TRUE(one != nullptr && says(one->hard, code)) << key << " " << code;
  }
  for (const auto& [key, code] : answer.warned) {
    const Scored* one = find_key(report, key);
    EXPECT_TRUE(one != nullptr && one->has(code)) << key << " " << code;
  }
  for (const auto& [key, code] : answer.not_warned) {
    const Scored* one = find_key(report, key);
    EXPECT_FALSE(one != nullptr && one->has(code)) << key << " " << code;
  }
  for (const std::string& key : answer.no_key) {
    const Scored* one = find_key(report, key);
    EXPECT_TRUE(one == nullptr || one->disqualified()) << key;
  }
}

inline void expect_answer(const Report& report, const Answer& answer) {
  ASSERT_FALSE(report.candidates.empty());
  const std::string& best = report.candidates.front().name;
  EXPECT_TRUE(answer.best.empty() || is_among(answer.best, best)) << best;
  EXPECT_FALSE(is_among(answer.never_best, best)) << best;
  EXPECT_EQ(to_text(report.verdict), to_text(answer.verdict));
  expect_findings(report, answer);
  for (const std::string& code : answer.advice) EXPECT_TRUE(says(report.advice, code)) << code;
  for (const std::string& code : answer.notes) EXPECT_TRUE(says(report.notes, code)) << code;
  for (const std::string& value : answer.own_container) {
    EXPECT_TRUE(contains(report.own_container, value)) << value;
  }
}

}  // namespace orrery::advise::test
