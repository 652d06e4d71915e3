// See pipeline_stream.h.
#include "api/mongo/documents/pipeline_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/call.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/collections/definition.h"
#include "api/mongo/documents/divided_read.h"
#include "api/mongo/pipeline/geo_near.h"

namespace orrery::mongo {
namespace {

using value::Value;

// Filters with expressions may use variables, which a scan's filter does not have.
bool has_expression(const Value& filter) {
  for (const Value::Member& member : filter.members()) {
    if (member.name == "$expr" || has_expression(member.value)) return true;
  }
  for (const Value& element : filter.elements()) {
    if (has_expression(element)) return true;
  }
  return false;
}

// One filter of those of the leading $match stages; undefined when the stages have to do it.
Value joined(const Leading& leading) {
  if (leading.filters.empty()) return {};
  for (const Value& filter : leading.filters) {
    if (has_expression(filter)) return {};
  }
  if (leading.filters.size() == 1) return leading.filters.front();
  return Value::make_object({{Value::make_string("$and"), Value::make_array(leading.filters)}});
}

// The field that $geoNear is of: the one that it names, or the one that has an index.
Answer<std::string> place_of(const GeoNear& stage, const cluster::Routing& routing) {
  const std::vector<std::string>& places = definition_of(routing).places;
  if (!stage.key.empty() && std::ranges::find(places, stage.key) != places.end()) return stage.key;
  if (stage.key.empty() && places.size() == 1) return places.front();
  if (stage.key.empty() && places.size() > 1) {
    return refuse(kIndexNotFound,
                  fmt::format("There is more than one 2dsphere index on {}.{}; unsure which to use "
                              "for $geoNear: say so in 'key'",
                              routing.database->name, routing.container->spec.name));
  }
  return refuse(kIndexNotFound,
                stage.key.empty()
                    ? std::string("$geoNear requires a 2dsphere index, but none "
                                  "were found")
                    : fmt::format("$geoNear requires a 2dsphere index on '{}'", stage.key));
}

}  // namespace

class PipelineStream::DocumentSource final : public Source {
 public:
  DocumentSource(PipelineStream& stream, std::unique_ptr<MatchingDocuments> documents)
      : stream_(stream), documents_(std::move(documents)) {
    stream_.opened_.push_back(documents_.get());
  }
  ~DocumentSource() override {
    stream_.closed_read_ += documents_->documents_read();
    stream_.closed_keys_ += documents_->keys_read();
    stream_.closed_charge_ += documents_->end_batch(0);
    std::erase(stream_.opened_, documents_.get());
  }
  Answer<std::optional<Value>> next(Run& /*run*/) override { return documents_->next_document(); }
  Answer<bool> read_in_parts(PartReader& reader, Run& run) override {
    query::Helpers* const helpers = stream_.context_.query_helpers;
    if (helpers == nullptr) return false;
    return read_divided(*documents_, *helpers, stream_.stop, reader, run);
  }

 private:
  PipelineStream& stream_;
  const std::unique_ptr<MatchingDocuments> documents_;
};

PipelineStream::PipelineStream(const HandlerContext& context, const PipelineQuery& query,
                               int64_t now_ms)
    : context_(context), query_(query), now_ms_(now_ms), run_(budget) {
  run_.collections = this;
  run_.database = query_.database;
  run_.evaluation.now = Value::make_date({now_ms, 0});
  run_.evaluation.cluster_time = Value::make_timestamp(cluster_time(now_ms));
  run_.evaluation.collation = query_.collation.get();
}

PipelineStream::~PipelineStream() {
  source_.reset();
}

Answer<std::unique_ptr<PipelineStream>> PipelineStream::open(const HandlerContext& context,
                                                             const PipelineQuery& query,
                                                             int64_t now_ms) {
  std::unique_ptr<PipelineStream> made(new PipelineStream(context, query, now_ms));
  PipelineContext parsing;
  parsing.collation = query.collation;
  if (query.let.is_object()) {
    auto defined = define_variables(query.let, parsing.expressions, made->run_.evaluation);
    if (!defined) return pass(std::move(defined.error()));
  }
  auto pipeline = Pipeline::parse(query.stages, parsing);
  if (!pipeline) return pass(std::move(pipeline.error()));
  made->pipeline_ = std::make_unique<const Pipeline>(std::move(*pipeline));
  if (made->pipeline_->outside()) {
    return refuse(kNotImplemented,
                  fmt::format("{} is not implemented", made->pipeline_->outside()->name));
  }
  std::unique_ptr<Source> input;
  size_t skipped = 0;
  if (made->pipeline_->makes_documents()) {
    input = make_source({});
  } else {
    if (query.collection.empty()) {
      return refuse(kInvalidNamespace,
                    "{aggregate: 1} is not valid for a pipeline that needs a "
                    "collection");
    }
    auto read = made->documents_of(query.database, query.collection, *made->pipeline_, query.hint);
    if (!read) return pass(std::move(read.error()));
    made->reads_ = made->opened_.front()->reads();
    if (read->filter.is_object()) made->filter_ = read->filter;
    input = std::move(read->documents);
    skipped = read->stages;
  }
  auto source = made->pipeline_->open(std::move(input), made->run_, skipped);
  if (!source) return pass(std::move(source.error()));
  made->source_ = std::move(*source);
  return made;
}

Answer<PipelineStream::Input> PipelineStream::documents_of(const std::string& database,
                                                           const std::string& collection,
                                                           const Pipeline& pipeline,
                                                           const Value& hint) {
  const Leading& leading = pipeline.leading();
  Input input;
  input.filter = joined(leading);
  FindQuery find{.filter = input.filter.is_object() ? input.filter : Value::make_object({}),
                 .let = {},
                 .collation = query_.collation,
                 .hint = hint,
                 .is_natural = true,
                 .pinned = query_.pinned};
  // The stages that are left out are the first ones.
  const bool has_filter = input.filter.is_object() || leading.filters.empty();
  if (has_filter) find.fields = leading.fields;
  std::optional<Sort> sort;
  if (has_filter && leading.sort.is_object()) {
    auto parsed = Sort::parse(leading.sort, query_.collation);
    // What is wrong with it, the stage tells.
    if (parsed && !parsed->parts().empty()) {
      sort = std::move(*parsed);
      std::optional<uint64_t> most;
      if (leading.limit) most = static_cast<uint64_t>(*leading.limit + leading.skip.value_or(0));
      want_order(find, *sort, most);
    }
  }
  auto routing = find_collection(context_, database, collection);
  if (!routing && !std::exchange(has_learned_, true) && context_.items.learn_catalog()) {
    routing = find_collection(context_, database, collection);
  }
  if (query_.pinned) {
    auto checked = query_.pinned->check_name(database, collection, routing);
    if (!checked) return pass(std::move(checked.error()));
  }
  std::string place;
  if (pipeline.geo_near() && routing) {
    auto chosen = place_of(*pipeline.geo_near(), *routing);
    if (!chosen) return pass(std::move(chosen.error()));
    place = std::move(*chosen);
    input.filter = near_filter(*pipeline.geo_near(), place);
    find.filter = input.filter;
    find.let = query_.let;
    find.fields.reset();
  }
  auto documents = MatchingDocuments::open(context_, std::move(routing), find, budget, now_ms_);
  if (!documents) return pass(std::move(documents.error()));
  if (has_filter) input.stages = leading.match_stages;
  if (sort && (*documents)->gives(*sort)) ++input.stages;
  input.documents = std::make_unique<DocumentSource>(*this, std::move(*documents));
  if (!place.empty()) {
    input.documents = with_distances(*pipeline.geo_near(), place, std::move(input.documents));
  }
  return input;
}

Answer<std::unique_ptr<Source>> PipelineStream::read(const std::string& database,
                                                     const std::string& collection,
                                                     const Pipeline& pipeline, Run& run) {
  if (pipeline.makes_documents()) return pipeline.open(make_source({}), run);
  auto input = documents_of(database, collection, pipeline, {});
  if (!input) return pass(std::move(input.error()));
  return pipeline.open(std::move(input->documents), run, input->stages);
}

Answer<std::optional<Value>> PipelineStream::next_document() {
  return source_->next(run_);
}

Answer<bool> PipelineStream::next(std::string& bson) {
  auto document = source_->next(run_);
  if (!document) return pass(std::move(document.error()));
  if (!*document) return false;
  auto bytes = to_bson(**document);
  if (!bytes) return pass(std::move(bytes.error()));
  bson = std::move(*bytes);
  return true;
}

Answer<void> PipelineStream::begin_batch() {
  return opened_.empty() ? Answer<void>() : opened_.front()->begin_batch();
}

double PipelineStream::end_batch(size_t bytes_returned) {
  double charge = std::exchange(closed_charge_, 0);
  for (MatchingDocuments* documents : opened_) {
    charge += documents->end_batch(std::exchange(bytes_returned, 0));
  }
  return charge;
}

// What its stages keep is not known from outside: as much as one may.
size_t PipelineStream::memory() const {
  return size_t{1} << 20;
}

uint64_t PipelineStream::documents_read() const {
  uint64_t all = closed_read_;
  for (const MatchingDocuments* documents : opened_) all += documents->documents_read();
  return all;
}

uint64_t PipelineStream::keys_read() const {
  uint64_t all = closed_keys_;
  for (const MatchingDocuments* documents : opened_) all += documents->keys_read();
  return all;
}

}  // namespace orrery::mongo
