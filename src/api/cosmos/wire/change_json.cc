// See change_json.h.
#include "api/cosmos/wire/change_json.h"

#include <fmt/format.h>

#include "value/json.h"

namespace orrery::cosmos {
namespace {

using partition::EventKind;

std::string_view operation_name(EventKind operation) {
  switch (operation) {
    case EventKind::create:
      return "create";
    case EventKind::replace:
    case EventKind::edit:
      return "replace";
    case EventKind::remove:
    case EventKind::expire:
      break;
  }
  return "delete";
}

// ,"id":…,"partitionKey":{…}: what is gone, by the values that it had.
Status append_identity(std::string& json, const partition::Event& event,
                       const value::KeyDefinition& key) {
  json += ",\"id\":";
  value::append_json_string(json, event.key.row);
  if (key.paths.empty()) return {};
  auto body = value::JsonDocument::parse(event.previous_body);
  if (!body) return pass(body.error());
  json += ",\"partitionKey\":{";
  bool first = true;
  for (const value::Path& path : key.paths) {
    const value::Node* found = value::find(body->root(), path);
    if (found == nullptr) continue;
    if (!first) json += ',';
    first = false;
    value::append_json_string(json, value::to_string(path).substr(1));
    json += ':';
    json += found->raw;
  }
  json += '}';
  return {};
}

}  // namespace

void append_change(std::string& json, const partition::Change& change, ChangeFormat format) {
  std::string_view body = change.item.body;
  if (format == ChangeFormat::separate) {
    fmt::format_to(std::back_inserter(json),
                   "{{\"current\":{},\"metadata\":{{\"lsn\":{},\"crts\":{}}}}}", body, change.lsn,
                   change.item.version.time_s);
    return;
  }
  body.remove_suffix(1);
  json += body;
  fmt::format_to(std::back_inserter(json), ",\"_lsn\":{}}}", change.lsn);
}

Status append_event(std::string& json, const partition::Event& event,
                    const value::KeyDefinition& key) {
  json += "{\"current\":";
  json += event.body.empty() ? std::string_view("{}") : std::string_view(event.body);
  if (!event.previous_body.empty()) {
    json += ",\"previous\":";
    json += event.previous_body;
  }
  fmt::format_to(std::back_inserter(json),
                 ",\"metadata\":{{\"operationType\":\"{}\",\"lsn\":{},\"crts\":{}",
                 operation_name(event.operation), event.lsn, event.time_s);
  if (event.previous_lsn != 0) {
    fmt::format_to(std::back_inserter(json), ",\"previousImageLSN\":{}", event.previous_lsn);
  }
  if (event.operation == EventKind::expire) json += ",\"timeToLiveExpired\":true";
  if (event.operation == EventKind::remove || event.operation == EventKind::expire) {
    if (auto named = append_identity(json, event, key); !named) return named;
  }
  json += "}}";
  return {};
}

}  // namespace orrery::cosmos
