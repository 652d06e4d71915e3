// Stages that pass documents on: $match, $sort, $limit, $skip, $unwind, $sample, $documents.
#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "api/mongo/bson/stable_order.h"
#include "api/mongo/expression/sort_key.h"
#include "api/mongo/match/match.h"
#include "api/mongo/pipeline/stage.h"

namespace orrery::mongo {
namespace {

class MatchStage : public MapStage {
 public:
  MatchStage(Value filter, Matcher matcher)
      : filter_(std::move(filter)), matcher_(std::move(matcher)) {}
  Document map(const Value& document, Run& run) const override {
    auto matches = matcher_.matches(document, run.evaluation);
    if (!matches) return pass(std::move(matches.error()));
    return *matches ? std::optional(document) : std::nullopt;
  }
  const Value& filter() const { return filter_; }

 private:
  Value filter_;
  Matcher matcher_;
};

Answer<StagePtr> parse_match(std::string_view, const Value& spec, StageParser& parser) {
  if (!spec.is_object()) {
    return refuse(15959, "the match filter must be an expression in an object");
  }
  const Value filter = spec.to_owned();
  auto matcher = Matcher::parse(filter, {.collation = parser.context.collation,
                                         .context = parser.context.expressions,
                                         .sorts_by_distance = true});
  if (!matcher) return pass(std::move(matcher.error()));
  if (matcher->near() != nullptr) {
    return refuse(5626500, "$geoNear, $near, and $nearSphere are not allowed in this context");
  }
  return std::make_shared<MatchStage>(filter, std::move(*matcher));
}

class SortStage : public GatherStage {
 public:
  SortStage(Value spec, SortKey key, std::optional<size_t> limit)
      : spec_(std::move(spec)), key_(std::move(key)), limit_(limit) {}
  Answer<std::vector<Value>> gather(Source& input, Run& run) const override {
    Kept kept;
    auto documents = read_all(input, run, kept);
    if (!documents) return documents;
    return sort_documents(std::move(*documents), key_, run, limit_);
  }
  const Value& spec() const { return spec_; }
  const SortKey& key() const { return key_; }

 private:
  Value spec_;
  SortKey key_;
  std::optional<size_t> limit_;
};

Answer<StagePtr> parse_sort(std::string_view, const Value& spec, StageParser&) {
  auto key = SortKey::parse(spec);
  if (!key) return pass(std::move(key.error()));
  return std::make_shared<SortStage>(spec.to_owned(), std::move(*key), std::nullopt);
}

class LimitStage : public Stage {
 public:
  LimitStage(int64_t count, bool is_skip) : count_(count), is_skip_(is_skip) {}
  Answer<SourcePtr> open(SourcePtr input, Run&) const override {
    return std::make_unique<Part>(std::move(input), count_, is_skip_);
  }
  int64_t count() const { return count_; }
  bool is_skip() const { return is_skip_; }

 private:
  class Part : public Source {
   public:
    Part(SourcePtr input, int64_t count, bool is_skip)
        : input_(std::move(input)), count_(count), is_skip_(is_skip) {}
    Document next(Run& run) override {
      while (is_skip_ && count_ > 0) {
        auto document = input_->next(run);
        if (!document || !*document) return document;
        --count_;
      }
      if (is_skip_) return input_->next(run);
      if (count_ == 0) return std::nullopt;
      --count_;
      return input_->next(run);
    }

   private:
    SourcePtr input_;
    int64_t count_;
    bool is_skip_;
  };

  int64_t count_;
  bool is_skip_;
};

Answer<StagePtr> parse_limit(std::string_view name, const Value& spec, StageParser&) {
  const bool is_skip = name == "$skip";
  const auto count = exact_integer(spec);
  if (!count) {
    return refuse(
        is_skip ? 5107200 : 5107201,
        fmt::format("invalid argument to {} stage: Expected an integer: {}", name, shown(spec)));
  }
  if (*count < 0) {
    return refuse(is_skip ? 5107200 : 5107201,
                  fmt::format("invalid argument to {} stage: Expected a non-negative number in: {}",
                              name, *count));
  }
  if (!is_skip && *count == 0) return refuse(15958, "the limit must be positive");
  return std::make_shared<LimitStage>(*count, is_skip);
}

struct UnwindOptions {
  std::vector<std::string> path = {};
  std::optional<std::vector<std::string>> index = std::nullopt;
  bool keeps_empty = false;
};

class UnwindStage : public Stage {
 public:
  explicit UnwindStage(UnwindOptions options) : options_(std::move(options)) {}
  Answer<SourcePtr> open(SourcePtr input, Run&) const override {
    return std::make_unique<Unwound>(std::move(input), options_);
  }

 private:
  // The value at a path of objects only: arrays on the way have none.
  static Value at_path(const Value& document, const std::vector<std::string>& steps) {
    Value value = document;
    for (const std::string& step : steps) value = value.find(step);
    return value;
  }

  class Unwound : public Source {
   public:
    Unwound(SourcePtr input, const UnwindOptions& options)
        : input_(std::move(input)), options_(options) {}
    Document next(Run& run) override {
      for (;;) {
        if (at_ < elements_.size()) {
          if (run.evaluation.budget.spend(1)) return run.evaluation.over();
          const size_t at = at_++;
          return std::optional(with(elements_[at], static_cast<int64_t>(at)));
        }
        auto document = input_->next(run);
        if (!document || !*document) return document;
        document_ = std::move(**document);
        elements_.clear();
        at_ = 0;
        const Value value = at_path(document_, options_.path);
        if (value.is_array()) {
          for (const Value& element : value.elements()) elements_.push_back(element);
          if (elements_.empty() && options_.keeps_empty) return std::optional(with({}, -1));
        } else if (is_nullish(value)) {
          if (options_.keeps_empty) return std::optional(with(value, -1));
        } else {
          return std::optional(with(value, -1));
        }
      }
    }

   private:
    Value with(const Value& element, int64_t index) const {
      Value made = set_path(document_, options_.path, element);
      if (!options_.index) return made;
      return set_path(made, *options_.index, index < 0 ? Value::make_null() : make_int64(index));
    }

    SourcePtr input_;
    const UnwindOptions& options_;
    Value document_;
    std::vector<Value> elements_;
    size_t at_ = 0;
  };

  UnwindOptions options_;
};

Answer<StagePtr> parse_unwind(std::string_view, const Value& spec, StageParser&) {
  UnwindOptions options;
  Value path = spec;
  if (spec.is_object()) {
    path = {};
    for (const auto& [name, member] : spec.members()) {
      if (name == "path") {
        path = member;
        if (!path.is_string()) {
          return refuse(28808,
                        fmt::format("expected a string as the path for $unwind stage, got {}",
                                    type_name(path)));
        }
      } else if (name == "preserveNullAndEmptyArrays") {
        if (!member.is_bool()) {
          return refuse(28809, fmt::format("expected a boolean for the preserveNullAndEmptyArrays "
                                           "option to $unwind stage, got {}",
                                           type_name(member)));
        }
        options.keeps_empty = member.boolean();
      } else if (name == "includeArrayIndex") {
        if (!member.is_string() || member.text().empty()) {
          return refuse(28810, fmt::format("expected a non-empty string for the includeArrayIndex "
                                           "option to $unwind stage, got {}",
                                           type_name(member)));
        }
        if (member.text().starts_with('$')) {
          return refuse(28822,
                        fmt::format("includeArrayIndex option to $unwind stage should not be "
                                    "prefixed with a '$': {}",
                                    member.text()));
        }
        auto steps = parse_path(member.text());
        if (!steps) return pass(std::move(steps.error()));
        options.index = std::move(*steps);
      } else {
        return refuse(28811, fmt::format("unrecognized option to $unwind stage: {}", name));
      }
    }
  } else if (!spec.is_string()) {
    return refuse(15981, fmt::format("expected either a string or an object as specification for "
                                     "$unwind stage, got {}",
                                     type_name(spec)));
  }
  if (!path.is_string() || path.text().empty()) {
    return refuse(28812, "no path specified to $unwind stage");
  }
  if (!path.text().starts_with('$')) {
    return refuse(28818, fmt::format("path option to $unwind stage should be prefixed with a '$': "
                                     "{}",
                                     path.text()));
  }
  auto steps = parse_path(path.text().substr(1));
  if (!steps) return pass(std::move(steps.error()));
  options.path = std::move(*steps);
  return std::make_shared<UnwindStage>(std::move(options));
}

class SampleStage : public GatherStage {
 public:
  explicit SampleStage(size_t size) : size_(size) {}
  Answer<std::vector<Value>> gather(Source& input, Run& run) const override {
    // Reservoir sampling: each document is as likely as any other to be among the sample.
    thread_local std::mt19937_64 generator(std::random_device{}());
    std::vector<Value> sample;
    Kept kept;
    for (size_t seen = 0;; ++seen) {
      auto document = input.next(run);
      if (!document) return pass(std::move(document.error()));
      if (!*document) break;
      if (sample.size() < size_) {
        if (auto room = kept.add((*document)->memory(), run); !room) {
          return pass(std::move(room.error()));
        }
        sample.push_back((*document)->to_owned());
        continue;
      }
      const size_t place = std::uniform_int_distribution<size_t>(0, seen)(generator);
      if (place < size_) sample[place] = (*document)->to_owned();
    }
    std::ranges::shuffle(sample, generator);
    return sample;
  }

 private:
  size_t size_;
};

Answer<StagePtr> parse_sample(std::string_view, const Value& spec, StageParser&) {
  if (!spec.is_object()) return refuse(28745, "the $sample stage specification must be an object");
  for (const auto& [name, member] : spec.members()) {
    if (name != "size")
      return refuse(28748, fmt::format("unrecognized option to $sample: {}", name));
  }
  const Value size = spec.find("size");
  if (size.is_undefined()) return refuse(28749, "$sample stage must specify a size");
  if (!size.is_number()) return refuse(28746, "size argument to $sample must be a number");
  const auto count = truncated_integer(size);
  if (!count || *count <= 0) return refuse(28747, "size argument to $sample must be positive");
  return std::make_shared<SampleStage>(static_cast<size_t>(*count));
}

class DocumentsStage : public Stage {
 public:
  explicit DocumentsStage(Expression documents) : documents_(std::move(documents)) {}
  Answer<SourcePtr> open(SourcePtr, Run& run) const override {
    auto value = documents_.evaluate(run.evaluation, Value::make_object({}));
    if (!value) return pass(std::move(value.error()));
    if (!value->is_array()) {
      return refuse(5858203, fmt::format("$documents must be an array of objects, but is {}",
                                         type_name(*value)));
    }
    std::vector<Value> documents;
    for (const Value& document : value->elements()) {
      if (!document.is_object()) {
        return refuse(40228, fmt::format("$documents must be an array of objects, but has an "
                                         "element of type {}",
                                         type_name(document)));
      }
      documents.push_back(document);
    }
    return make_source(std::move(documents));
  }

 private:
  Expression documents_;
};

Answer<StagePtr> parse_documents(std::string_view, const Value& spec, StageParser& parser) {
  auto documents = Expression::parse(spec, parser.context.expressions);
  if (!documents) return pass(std::move(documents.error()));
  return std::make_shared<DocumentsStage>(std::move(*documents));
}

constexpr std::array kFlowStages = {
    StageKind{"$match", parse_match},         StageKind{"$sort", parse_sort},
    StageKind{"$limit", parse_limit},         StageKind{"$skip", parse_limit},
    StageKind{"$unwind", parse_unwind},       StageKind{"$sample", parse_sample},
    StageKind{"$documents", parse_documents},
};

}  // namespace

std::span<const StageKind> flow_stages() {
  return kFlowStages;
}

const Value* filter_of(const Stage& stage) {
  const auto* const match = dynamic_cast<const MatchStage*>(&stage);
  return match == nullptr ? nullptr : &match->filter();
}

const Value* sort_of(const Stage& stage) {
  const auto* const sort = dynamic_cast<const SortStage*>(&stage);
  return sort == nullptr ? nullptr : &sort->spec();
}

std::optional<int64_t> skip_of(const Stage& stage) {
  const auto* const skip = dynamic_cast<const LimitStage*>(&stage);
  return skip == nullptr || !skip->is_skip() ? std::nullopt : std::optional(skip->count());
}

std::optional<int64_t> limit_of(const Stage& stage) {
  const auto* const limit = dynamic_cast<const LimitStage*>(&stage);
  return limit == nullptr || limit->is_skip() ? std::nullopt : std::optional(limit->count());
}

StagePtr limited_sort(const StagePtr& sort, int64_t limit) {
  const auto& whole = dynamic_cast<const SortStage&>(*sort);
  return std::make_shared<SortStage>(whole.spec(), whole.key(), static_cast<size_t>(limit));
}

Answer<std::vector<Value>> sort_documents(std::vector<Value> documents, const SortKey& key,
                                          Run& run, std::optional<size_t> limit) {
  struct Keyed {
    std::vector<Value> key;
    Value document;
  };
  const Collation* const collation = run.evaluation.collation;
  std::vector<Keyed> keyed;
  keyed.reserve(documents.size());
  for (Value& document : documents) {
    if (run.evaluation.budget.spend(16)) return run.evaluation.over();
    std::vector<Value> parts = key.of(document, collation);
    keyed.push_back({.key = std::move(parts), .document = std::move(document)});
  }
  sort_stably(keyed, [&](const Keyed& a, const Keyed& b) {
    return key.compare(a.key, b.key, collation) < 0;
  });
  if (limit && keyed.size() > *limit) keyed.resize(*limit);
  documents.clear();
  for (Keyed& one : keyed) documents.push_back(std::move(one.document));
  return documents;
}

}  // namespace orrery::mongo
