// See divided_read.h.
#include "api/mongo/documents/divided_read.h"

#include <memory>
#include <utility>
#include <vector>

namespace orrery::mongo {
namespace {

// More parts than threads, so that none waits long for the largest; and few enough that each may
// keep a good deal of what the stage may keep.
constexpr size_t kPartsOfThread = 4;
// What all parts together may allocate beside what the stage keeps.
constexpr size_t kBytesOfAll = size_t{256} << 20;

class PartSource final : public Source {
 public:
  explicit PartSource(MatchingDocuments& documents) : documents_(documents) {}
  Answer<std::optional<Value>> next(Run& /*run*/) override { return documents_.next_document(); }

 private:
  MatchingDocuments& documents_;
};

struct Part {
  ScanRange range;
  Budget budget = {};
  std::unique_ptr<MatchingDocuments> documents = nullptr;
  Answer<void> outcome = {};
};

// What the part's expressions are evaluated with: values are shared, the budget is its own.
void prepare_part(Run& run, const Run& whole, size_t parts) {
  run.database = whole.database;
  run.memory_limit = whole.memory_limit / parts;
  run.evaluation.now = whole.evaluation.now;
  run.evaluation.cluster_time = whole.evaluation.cluster_time;
  run.evaluation.variables = whole.evaluation.variables;
  run.evaluation.collation = whole.evaluation.collation;
}

}  // namespace

Answer<bool> read_divided(MatchingDocuments& documents, query::Helpers& helpers,
                          const std::function<bool()>& stop, Source::PartReader& reader, Run& run) {
  auto ranges = documents.part_ranges(kPartsOfThread * (helpers.threads() + 1));
  if (ranges.size() < 2) return false;
  const size_t count = ranges.size();
  std::vector<Part> parts(count);
  for (size_t i = 0; i < count; ++i) parts[i].range = std::move(ranges[i]);
  query::PartRun threads(&helpers, count);
  const auto read = [&](size_t at) {
    Part& part = parts[at];
    // Here, because memory is counted by threads.
    part.budget.start({.stop =
                           [&] {
                             threads.look();
                             return stop && stop();
                           },
                       .bytes = (run.memory_limit + kBytesOfAll) / count});
    Run own(part.budget);
    prepare_part(own, run, count);
    part.documents = documents.part(part.range, part.budget);
    PartSource source(*part.documents);
    part.outcome = reader.read(at, source, own);
    part.documents->pause();
  };
  reader.begin(count);
  bool is_whole = true;
  threads.run(query::PartRun::Needs::all_parts, read, [&](size_t at) {
    is_whole = parts[at].outcome.has_value();
    return is_whole;
  });
  bool is_late = false;
  for (const Part& part : parts) {
    if (part.documents) documents.count_part(*part.documents);
    is_late |= part.budget.ended() == Budget::Ended::time;
  }
  if (is_late) {
    run.evaluation.budget.end(Budget::Ended::time);
    return run.evaluation.over();
  }
  return is_whole;
}

}  // namespace orrery::mongo
