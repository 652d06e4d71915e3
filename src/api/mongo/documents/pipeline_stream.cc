// See pipeline_stream.h.
#include "api/mongo/documents/pipeline_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/call.h"
#include "api/mongo/collections/collections.h"

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
  Answer<std::optional<Value>> next(Run& /*run*/) override {
    auto found = documents_->next();
    if (!found) return pass(std::move(found.error()));
    if (!*found) return std::optional<Value>();
    return std::move((*found)->document);
  }

 private:
  PipelineStream& stream_;
  const std::unique_ptr<MatchingDocuments> documents_;
};

PipelineStream::PipelineStream(const Context& context, const PipelineQuery& query, int64_t now_ms)
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

Answer<std::unique_ptr<PipelineStream>> PipelineStream::open(const Context& context,
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
    const Value filter = joined(made->pipeline_->leading());
    if (filter.is_object()) skipped = made->pipeline_->leading().match_stages;
    auto documents = made->documents_of(query.database, query.collection, filter, query.hint);
    if (!documents) return pass(std::move(documents.error()));
    made->reads_ = made->opened_.front()->reads();
    if (filter.is_object()) made->filter_ = filter;
    input = std::move(*documents);
  }
  auto source = made->pipeline_->open(std::move(input), made->run_, skipped);
  if (!source) return pass(std::move(source.error()));
  made->source_ = std::move(*source);
  return made;
}

Answer<std::unique_ptr<Source>> PipelineStream::documents_of(const std::string& database,
                                                             const std::string& collection,
                                                             const Value& filter,
                                                             const Value& hint) {
  auto documents =
      MatchingDocuments::open(context_, find_collection(context_, database, collection),
                              {.filter = filter.is_object() ? filter : Value::make_object({}),
                               .let = {},
                               .collation = query_.collation,
                               .hint = hint,
                               .is_natural = true,
                               .transaction = query_.transaction},
                              budget, now_ms_);
  if (!documents) return pass(std::move(documents.error()));
  return std::make_unique<DocumentSource>(*this, std::move(*documents));
}

Answer<std::unique_ptr<Source>> PipelineStream::read(const std::string& database,
                                                     const std::string& collection,
                                                     const Pipeline& pipeline, Run& run) {
  if (pipeline.makes_documents()) return pipeline.open(make_source({}), run);
  const Value filter = joined(pipeline.leading());
  auto documents = documents_of(database, collection, filter, {});
  if (!documents) return pass(std::move(documents.error()));
  return pipeline.open(std::move(*documents), run,
                       filter.is_object() ? pipeline.leading().match_stages : 0);
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
