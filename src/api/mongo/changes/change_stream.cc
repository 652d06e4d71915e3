// See change_stream.h.
#include "api/mongo/changes/change_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/call.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/documents/document_key.h"
#include "api/mongo/update/update.h"

namespace orrery::mongo {
namespace {

using partition::EventKind;
using Image = ChangeStreamOptions::Image;

void put(std::vector<Value::Field>& fields, std::string_view name, Value value) {
  fields.push_back({Value::make_string(std::string(name)), std::move(value)});
}

Value string_of(std::string_view text) {
  return Value::make_string(std::string(text));
}

// What may be behind $changeStream: stages that take one document at a time.
bool may_follow(std::string_view stage) {
  constexpr std::string_view kStages[] = {"$addFields",   "$match",       "$project", "$redact",
                                          "$replaceRoot", "$replaceWith", "$set",     "$unset"};
  return std::ranges::find(kStages, stage) != std::end(kStages);
}

Answer<Image> image_argument(const Value& spec, std::string_view member, bool is_before) {
  const Value given = spec.find(member);
  if (given.is_undefined()) return Image::none;
  const std::string_view text = given.is_string() ? given.text() : std::string_view();
  if (text == (is_before ? "off" : "default")) return Image::none;
  if (text == "whenAvailable") return Image::when_available;
  if (text == "required") return Image::required;
  if (text == "updateLookup" && !is_before) return Image::lookup;
  return refuse(kBadValue, fmt::format("$changeStream: '{}' cannot be {}", member, shown(given)));
}

std::string_view operation_name(EventKind kind) {
  switch (kind) {
    case EventKind::create:
      return "insert";
    case EventKind::edit:
      return "update";
    case EventKind::replace:
      return "replace";
    case EventKind::remove:
    case EventKind::expire:
      break;
  }
  return "delete";
}

Value description_of(const Value& before, const Value& after) {
  UpdateDescription description = describe_update(before, after);
  std::vector<Value> removed;
  for (const std::string& path : description.removed) removed.push_back(string_of(path));
  std::vector<Value> truncated;
  for (const UpdateDescription::Truncated& array : description.truncated) {
    std::vector<Value::Field> fields;
    put(fields, "field", string_of(array.path));
    put(fields, "newSize",
        Value::make_integer(static_cast<int64_t>(array.new_size), NumberKind::int32));
    truncated.push_back(Value::make_object(std::move(fields)));
  }
  std::vector<Value::Field> fields;
  put(fields, "updatedFields", Value::make_object(std::move(description.updated)));
  put(fields, "removedFields", Value::make_array(std::move(removed)));
  put(fields, "truncatedArrays", Value::make_array(std::move(truncated)));
  return Value::make_object(std::move(fields));
}

Value document_key(const cluster::Routing& routing, const Value& document) {
  std::vector<Value::Field> fields;
  for (const Value::Member& member : definition_of(routing).shard_key.members()) {
    if (member.name != "_id") put(fields, member.name, find_path(document, member.name));
  }
  put(fields, "_id", document.find("_id"));
  return Value::make_object(std::move(fields));
}

}  // namespace

constexpr std::array<std::string_view, 7> kKnown = {
    "fullDocument",         "fullDocumentBeforeChange", "resumeAfter",       "startAfter",
    "startAtOperationTime", "allChangesForCluster",     "showExpandedEvents"};

Answer<ChangeStreamOptions> parse_change_stream(const Value& spec) {
  if (!spec.is_object()) return refuse(kTypeMismatch, "$changeStream must be an object");
  for (const Value::Member& member : spec.members()) {
    if (std::ranges::find(kKnown, member.name) != kKnown.end()) continue;
    return refuse(40415,
                  fmt::format("BSON field '$changeStream.{}' is an unknown field.", member.name));
  }
  ChangeStreamOptions options;
  auto after = image_argument(spec, "fullDocument", false);
  if (!after) return pass(std::move(after.error()));
  auto before = image_argument(spec, "fullDocumentBeforeChange", true);
  if (!before) return pass(std::move(before.error()));
  options.after = *after;
  options.before = *before;
  options.is_of_everything = is_truthy(spec.find("allChangesForCluster"));
  int starts = 0;
  for (const std::string_view name : {"resumeAfter", "startAfter"}) {
    const Value token = spec.find(name);
    if (token.is_undefined()) continue;
    auto position = read_token(token);
    if (!position) return pass(std::move(position.error()));
    if (position->is_invalidated && name == "resumeAfter") {
      return refuse(kInvalidResumeToken,
                    "Attempting to resume a change stream using 'resumeAfter' is not allowed from "
                    "an invalidate notification: use startAfter");
    }
    options.start.after = std::move(*position);
    ++starts;
  }
  if (const Value time = spec.find("startAtOperationTime"); !time.is_undefined()) {
    if (time.type() != Type::timestamp) {
      return refuse(kTypeMismatch, "startAtOperationTime must be a timestamp");
    }
    options.start.since_s = static_cast<int64_t>(time.timestamp() >> 32);
    ++starts;
  }
  if (starts > 1) {
    return refuse(40674,
                  "Only one type of resume option is allowed: resumeAfter, startAfter or "
                  "startAtOperationTime");
  }
  return options;
}

// What the pipeline reads: nothing new is no end.
class ChangeStream::Events final : public Source {
 public:
  explicit Events(ChangeStream& stream) : stream_(stream) {}
  Answer<std::optional<Value>> next(Run& /*run*/) override { return stream_.next_event(); }

 private:
  ChangeStream& stream_;
};

ChangeStream::ChangeStream(const HandlerContext& context, const PipelineQuery& query,
                           WatchScope scope, const ChangeStreamOptions& options)
    : context_(context),
      scope_(std::move(scope)),
      options_(options),
      run_(budget),
      reader_(context, scope_) {
  run_.database = query.database;
}

ChangeStream::~ChangeStream() {
  source_.reset();
}

Answer<std::unique_ptr<ChangeStream>> ChangeStream::open(const HandlerContext& context,
                                                         const PipelineQuery& query,
                                                         int64_t now_ms) {
  const Value spec = query.stages.at(0).find("$changeStream");
  if (spec.is_undefined()) return nullptr;
  auto options = parse_change_stream(spec);
  if (!options) return pass(std::move(options.error()));
  PipelineContext parsing;
  parsing.collation = query.collation;
  auto pipeline = Pipeline::parse(query.stages, parsing);
  if (!pipeline) return pass(std::move(pipeline.error()));
  size_t number = 0;
  for (const Value& stage : query.stages.elements()) {
    for (const Value::Member& member : stage.members()) {
      if (number++ > 0 && !may_follow(member.name)) {
        return refuse(kIllegalOperation,
                      fmt::format("{} is not permitted in a $changeStream pipeline", member.name));
      }
      break;
    }
  }
  WatchScope scope{query.database, query.collection};
  if (options->is_of_everything) {
    if (query.database != "admin" || !query.collection.empty()) {
      return refuse(kInvalidOptions,
                    "A $changeStream with 'allChangesForCluster:true' may only be opened on the "
                    "'admin' database, and with no collection name");
    }
    scope = {};
  }
  std::unique_ptr<ChangeStream> made(new ChangeStream(context, query, std::move(scope), *options));
  made->pipeline_ = std::make_unique<const Pipeline>(std::move(*pipeline));
  made->run_.evaluation.now = Value::make_date({now_ms, 0});
  made->run_.evaluation.collation = query.collation.get();
  auto source = made->pipeline_->open(std::make_unique<Events>(*made), made->run_);
  if (!source) return pass(std::move(source.error()));
  made->source_ = std::move(*source);
  if (auto opened = made->reader_.open(options->start); !opened) {
    return pass(std::move(opened.error()));
  }
  return made;
}

std::optional<Value> ChangeStream::resume_token() const {
  if (is_over_) return last_token_;
  return token_of(reader_.position());
}

Answer<bool> ChangeStream::next(std::string& bson) {
  if (is_over_) return false;
  auto document = source_->next(run_);
  if (!document) return pass(std::move(document.error()));
  if (!*document) return false;
  if (!equals((*document)->find("_id"), last_token_, nullptr)) {
    return refuse(kChangeStreamFatalError,
                  "Encountered an event whose _id field, which contains the resume token, was "
                  "modified by the pipeline. Modifying the _id field of an event makes it "
                  "impossible to resume the stream from that point");
  }
  auto bytes = to_bson(**document);
  if (!bytes) return pass(std::move(bytes.error()));
  bson = std::move(*bytes);
  return true;
}

Answer<std::optional<Value>> ChangeStream::next_event() {
  if (is_over_) return std::optional<Value>();
  if (is_dropped_) {
    is_over_ = true;
    StreamPosition position;
    position.is_invalidated = true;
    last_token_ = token_of(position);
    std::vector<Value::Field> fields;
    put(fields, "_id", last_token_);
    put(fields, "operationType", string_of("invalidate"));
    put(fields, "clusterTime", Value::make_timestamp(cluster_time(context_.clock.now_ms())));
    put(fields, "wallTime", Value::make_date({context_.clock.now_ms(), 0}));
    return Value::make_object(std::move(fields));
  }
  auto change = reader_.next();
  if (!change) return pass(std::move(change.error()));
  if (!*change) return std::optional<Value>();
  auto document = document_of(**change);
  if (!document) return pass(std::move(document.error()));
  return std::move(*document);
}

// As it is now, which may be later than the event. Null: it is gone.
Answer<Value> ChangeStream::image_now(const ChangeEvent& change) const {
  if (!change.routing) return Value::make_null();
  auto read = context_.items.read(change.routing, change.event.key.placement, change.event.key.row);
  if (!read) return pass(engine_error(read.error()));
  if (!read->item) return Value::make_null();
  return from_bson(read->item->body);
}

Answer<Value> ChangeStream::document_of(const ChangeEvent& change) {
  last_token_ = token_of(reader_.position());
  const bool is_write = change.kind == ChangeEvent::Kind::write;
  std::string_view operation = "drop";
  if (change.kind == ChangeEvent::Kind::drop_database) operation = "dropDatabase";
  if (change.kind == ChangeEvent::Kind::rename) operation = "rename";
  if (is_write) operation = operation_name(change.event.operation);
  // The end of what is watched is the end of the stream.
  is_dropped_ =
      !is_write && (!scope_.collection.empty() || change.kind == ChangeEvent::Kind::drop_database);
  const int64_t now_ms = context_.clock.now_ms();
  const int64_t time_ms = is_write ? int64_t{change.event.time_s} * 1000 : now_ms;
  std::vector<Value::Field> fields;
  put(fields, "_id", last_token_);
  put(fields, "operationType", string_of(operation));
  put(fields, "clusterTime", Value::make_timestamp(cluster_time(time_ms)));
  put(fields, "wallTime", Value::make_date({time_ms, 0}));
  Value before;
  Value after;
  for (auto& [bytes, value] :
       {std::pair<const std::string&, Value&>(change.event.previous_body, before),
        std::pair<const std::string&, Value&>(change.event.body, after)}) {
    if (bytes.empty()) continue;
    auto document = from_bson(bytes);
    if (!document) return pass(std::move(document.error()));
    value = std::move(*document);
  }
  if (operation == "insert" || operation == "replace") {
    put(fields, "fullDocument", after);
  } else if (operation == "update" && options_.after == Image::lookup) {
    auto now = image_now(change);
    if (!now) return pass(std::move(now.error()));
    put(fields, "fullDocument", std::move(*now));
  } else if (operation == "update" && options_.after != Image::none) {
    put(fields, "fullDocument", after);
  }
  std::vector<Value::Field> ns;
  put(ns, "db", string_of(change.database));
  if (!change.collection.empty()) put(ns, "coll", string_of(change.collection));
  put(fields, "ns", Value::make_object(std::move(ns)));
  if (change.kind == ChangeEvent::Kind::rename) {
    std::vector<Value::Field> to;
    put(to, "db", string_of(change.database));
    put(to, "coll", string_of(change.new_name));
    put(fields, "to", Value::make_object(std::move(to)));
  }
  if (!is_write) return Value::make_object(std::move(fields));
  if (change.routing) {
    put(fields, "documentKey",
        document_key(*change.routing, after.is_undefined() ? before : after));
  }
  if (operation == "update") put(fields, "updateDescription", description_of(before, after));
  if (options_.before != Image::none && operation != "insert") {
    put(fields, "fullDocumentBeforeChange", before);
  }
  return Value::make_object(std::move(fields));
}

}  // namespace orrery::mongo
