// Aggregation pipelines: parsed once, then opened over a source of documents, which they pull.
//
// Stages that need all of their input (sort, group, windows, …) keep it in memory, within
// Run::memory_limit (error 292 beyond); the others pass on one document at a time.
//
// A Pipeline is immutable and may be used by any thread; a Run and the sources opened with it
// belong to one, and sources may not outlive the Pipeline and the Run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/expression/expression.h"
#include "value/value.h"

namespace orrery::mongo {

class Collections;
class Pipeline;

inline constexpr size_t kStageMemory = size_t{100} << 20;
inline constexpr size_t kMaxStages = 1000;

// What a pipeline runs with: its evaluation (variables, now, collation, budget), and the outside.
struct Run {
  explicit Run(Budget& budget) : evaluation(budget) {}

  Evaluation evaluation;
  Collections* collections = nullptr;  // null: no other collections may be read
  std::string database = {};
  size_t memory_limit = kStageMemory;  // of each stage that keeps documents
};

// Documents, one after the other.
class Source {
 public:
  virtual ~Source() = default;
  // Nothing at the end, and from then on.
  virtual Answer<std::optional<Value>> next(Run& run) = 0;

  // What is done with the documents of each of several parts. The parts in their order have all
  // documents in the order of next().
  class PartReader {
   public:
    virtual ~PartReader() = default;
    virtual void begin(size_t parts) = 0;
    // Once for each part, on any thread, several at a time. `run` is the part's own.
    virtual Answer<void> read(size_t part, Source& documents, Run& run) = 0;
  };
  // Has all documents read, in parts. In the place of the first next(). False: it does not divide
  // them, or a part could not be read, because of an error or because together they need too much
  // memory. Then next() gives them all, and what was read is of no use.
  virtual Answer<bool> read_in_parts(PartReader& /*reader*/, Run& /*run*/) { return false; }
};

// The documents of a vector.
std::unique_ptr<Source> make_source(std::vector<Value> documents);

// What other collections give.
class Collections {
 public:
  virtual ~Collections() = default;
  // What comes out of `pipeline` over the documents of a collection: the implementation may answer
  // its leading() stages by itself, and opens the others with `run`. A collection that is not there
  // is empty. The pipeline and the run outlive the source.
  virtual Answer<std::unique_ptr<Source>> read(const std::string& database,
                                               const std::string& collection,
                                               const Pipeline& pipeline, Run& run) = 0;
};

// The first stages as what a store could do by itself.
struct Leading {
  std::vector<Value> filters = {};              // of $match stages, all of which hold
  Value sort = {};                              // of a $sort behind them; undefined: none
  std::optional<int64_t> skip = std::nullopt;   // behind the sort
  std::optional<int64_t> limit = std::nullopt;  // behind the skip
  size_t stages = 0;        // how many stages these are: open() can leave them out
  size_t match_stages = 0;  // how many of them are $match
  // The members of documents that the stages behind $match look at; unset: any.
  std::optional<std::vector<std::string>> fields = std::nullopt;
};

// $out or $merge at the end, which the caller does with the documents that come out.
struct Output {
  enum class When : uint8_t {
    replace,
    merge,
    keep_existing,
    fail,
    pipeline,
    insert,
    discard,
  };
  bool is_merge = false;  // $merge; else $out, which replaces the whole collection
  std::string database = {};
  std::string collection = {};
  std::vector<std::string> on = {"_id"};
  When when_matched = When::merge;
  When when_not_matched = When::insert;
  std::shared_ptr<const Pipeline> update = nullptr;  // of When::pipeline
  // Names and expressions of `let`; with `update`, $$new is the document that came out. They take
  // the slots behind the command's own variables.
  std::vector<std::pair<std::string, Expression>> let = {};
  // The variables that `update` was parsed with.
  std::vector<std::string> variables = {};
};

// $geoNear at the start, which the caller reads documents by (geo_near.h).
struct GeoNear {
  Value point;           // GeoJSON
  std::string key = {};  // the field; empty: the one with an index
  Value query = {};      // a filter
  std::optional<double> min_distance_m = std::nullopt;
  std::optional<double> max_distance_m = std::nullopt;
  double unit_m = 1;      // distances are told in it
  double multiplier = 1;  // and then by this
  std::string distance_field = {};
  std::string places_field = {};  // empty: the place is not told
};

// A stage that tells of the collection itself, first in its pipeline ($collStats, $indexStats,
// $listSessions, $currentOp, $changeStream, …): the caller makes its documents.
struct OutsideStage {
  std::string name;  // with its $
  Value spec;
};

// A parsed stage.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual Answer<std::unique_ptr<Source>> open(std::unique_ptr<Source> input, Run& run) const = 0;
  // Whether it may be in an update's pipeline: $addFields, $set, $project, $unset, $replaceRoot,
  // $replaceWith.
  virtual bool is_for_updates() const { return false; }
};

struct PipelineContext {
  ParseContext expressions = {};
  std::shared_ptr<const Collation> collation = nullptr;  // of filters; Run's is of everything else
  bool is_nested = false;  // in $facet, $lookup or $unionWith: no $out, $merge
  bool is_in_facet = false;
  bool is_update = false;  // of an update command: only stages for updates
  int depth = 0;           // of pipelines in pipelines
};

class Pipeline {
 public:
  // `stages` is the array of a command.
  static Answer<Pipeline> parse(const Value& stages, const PipelineContext& context);

  // The documents that come out, without the first `skipped` stages (see leading()).
  Answer<std::unique_ptr<Source>> open(std::unique_ptr<Source> input, Run& run,
                                       size_t skipped = 0) const;
  // One document through a pipeline of an update.
  Answer<Value> apply(const Value& document, Run& run) const;

  size_t size() const { return stages_.size(); }
  const Leading& leading() const { return leading_; }
  const std::optional<Output>& output() const { return output_; }
  const std::optional<OutsideStage>& outside() const { return outside_; }
  const std::optional<GeoNear>& geo_near() const { return geo_near_; }
  // Whether its first stage makes documents itself ($documents): its input is not read.
  bool makes_documents() const { return makes_documents_; }
  // The collections that it reads beside its own.
  const std::vector<std::string>& reads() const { return reads_; }

 private:
  std::vector<std::shared_ptr<const Stage>> stages_;
  Leading leading_;
  std::optional<Output> output_;
  std::optional<OutsideStage> outside_;
  std::optional<GeoNear> geo_near_;
  bool makes_documents_ = false;
  std::vector<std::string> reads_;
};

}  // namespace orrery::mongo
