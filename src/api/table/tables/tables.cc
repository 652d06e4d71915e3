// See tables.h.
#include "api/table/tables/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/table/forward/forward.h"
#include "api/table/query/filter.h"
#include "api/table/tables/table_store.h"
#include "base/ascii_case.h"
#include "value/json.h"

namespace orrery::table {
namespace {

using face::Lane;

constexpr size_t kTablesPageMax = 1000;

void append_table(std::string& out, const Call& call, std::string_view name, Metadata level,
                  bool is_alone) {
  const std::string base = call.base();
  out += '{';
  if (is_alone && level != Metadata::none) {
    out += "\"odata.metadata\":";
    value::append_json_string(out, base + "/$metadata#Tables/@Element");
    out += ',';
  }
  if (level == Metadata::full) {
    const std::string link = fmt::format("Tables('{}')", name);
    out += "\"odata.type\":";
    value::append_json_string(out, std::string(call.address.account) + ".Tables");
    out += ",\"odata.id\":";
    value::append_json_string(out, base + "/" + link);
    out += ",\"odata.editLink\":";
    value::append_json_string(out, link);
    out += ',';
  }
  out += "\"TableName\":";
  value::append_json_string(out, name);
  out += '}';
}

// The throughput that a header asks for; nothing when there is none.
TableResult<std::optional<catalog::Throughput>> throughput_of(const RequestHeaders& headers) {
  catalog::Throughput throughput;
  std::string_view text = headers.offer_throughput;
  std::optional<value::JsonDocument> settings;
  if (text.empty() && !headers.autoscale.empty()) {
    auto parsed = value::JsonDocument::parse(headers.autoscale);
    const value::Node* most = parsed ? parsed->root().find("maxThroughput") : nullptr;
    if (most == nullptr) {
      return refuse(ErrorCode::invalid_header_value,
                    "x-ms-cosmos-offer-autopilot-settings has no maxThroughput.");
    }
    settings = std::move(*parsed);
    text = settings->root().find("maxThroughput")->raw;
    throughput.autoscale = true;
  }
  if (text.empty()) return std::nullopt;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), throughput.units);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return refuse(ErrorCode::invalid_header_value,
                  fmt::format("The throughput '{}' is not a whole number.", text.substr(0, 40)));
  }
  return throughput;
}

void run_create(const HandlerContext& context, CallPtr call) {
  auto level = metadata_of(call->parameters.format, call->headers.accept);
  if (!level) return call->fail(level.error());
  auto document = value::JsonDocument::parse(call->body);
  const value::Node* name = document ? document->root().find("TableName") : nullptr;
  if (name == nullptr || name->type != value::Type::string) {
    return call->fail(table_error(ErrorCode::properties_need_value,
                                  "The body must be an object with a TableName."));
  }
  if (auto checked = check_table_name(name->text); !checked) return call->fail(checked.error());
  auto throughput = throughput_of(call->headers);
  if (!throughput) return call->fail(throughput.error());
  auto made = create_table(context.engine, {.name = name->text,
                                            .by_hash = context.options.flavour == Flavour::cosmos,
                                            .throughput = *throughput});
  if (!made) {
    if (made.error().code == Code::conflict) {
      return call->fail(table_error(ErrorCode::table_already_exists));
    }
    return call->fail(made.error());
  }
  const Prefer prefer = parse_prefer(call->headers.prefer);
  const std::string link = fmt::format("{}/Tables('{}')", call->base(), name->text);
  call->response.add("location", link);
  call->response.add("dataserviceid", link);
  if (prefer == Prefer::no_content) {
    call->response.add("preference-applied", "return-no-content");
    return call->reply_empty(204);
  }
  if (prefer == Prefer::content) call->response.add("preference-applied", "return-content");
  std::string json;
  append_table(json, *call, name->text, *level, true);
  call->reply_json(201, *level, std::move(json));
}

void run_list(const HandlerContext& context, CallPtr call) {
  auto level = metadata_of(call->parameters.format, call->headers.accept);
  if (!level) return call->fail(level.error());
  auto filter = parse_filter(call->parameters.filter);
  if (!filter) return call->fail(filter.error());
  auto top = parse_top(call->parameters.top, kTablesPageMax);
  if (!top) return call->fail(top.error());
  std::string from;
  if (const auto& next = call->parameters.next_table; next && !next->empty()) {
    auto key = parse_continuation(*next);
    if (!key) {
      return call->fail(table_error(ErrorCode::invalid_input,
                                    "NextTableName is not one that this "
                                    "service gave."));
    }
    from = std::move(*key);
  }
  std::string json = "{";
  if (*level != Metadata::none) {
    json += "\"odata.metadata\":";
    value::append_json_string(json, call->base() + "/$metadata#Tables");
    json += ',';
  }
  json += "\"value\":[";
  const auto database = context.engine.catalog().database({kFaceName, kDatabaseName});
  size_t count = 0;
  std::vector<catalog::ContainerPtr> all;
  if (database) all = context.engine.catalog().containers(database->number);
  for (const catalog::ContainerPtr& one : all) {
    if (one->spec.name < from) continue;
    const std::string name = shown_name(*one);
    const EdmValue value{.type = Edm::string, .bytes = name};
    const auto find = [&](std::string_view asked) {
      return asked == "TableName" ? &value : nullptr;
    };
    if (!matches(*filter, find)) continue;
    if (count == *top) {
      call->response.add("x-ms-continuation-NextTableName", continuation_text(one->spec.name));
      break;
    }
    if (count > 0) json += ',';
    append_table(json, *call, name, *level, false);
    ++count;
  }
  json += "]}";
  call->reply_json(200, *level, std::move(json));
}

void run_read(const HandlerContext& context, CallPtr call) {
  auto level = metadata_of(call->parameters.format, call->headers.accept);
  if (!level) return call->fail(level.error());
  const auto routing = find_table(context.engine, call->address.table);
  if (!routing) {
    if (ask_catalog_owner(context, call)) return;
    return call->fail(table_error(ErrorCode::resource_not_found));
  }
  std::string json;
  append_table(json, *call, shown_name(*routing->container), *level, true);
  call->reply_json(200, *level, std::move(json));
}

void run_delete(const HandlerContext& context, CallPtr call) {
  const auto routing = find_table(context.engine, call->address.table);
  if (!routing) return call->fail(table_error(ErrorCode::resource_not_found));
  if (auto removed = context.engine.remove_container(routing->container->number); !removed) {
    if (removed.error().code == Code::not_found) {
      return call->fail(table_error(ErrorCode::resource_not_found));
    }
    return call->fail(removed.error());
  }
  call->reply_empty(204);
}

void run_read_policies(const HandlerContext& context, CallPtr call) {
  const auto routing = find_table(context.engine, call->address.table);
  if (!routing) return call->fail(table_error(ErrorCode::table_not_found));
  call->reply_xml(200,
                  access_policies_xml(read_access_policies(context.engine, *routing->container)));
}

void run_write_policies(const HandlerContext& context, CallPtr call) {
  const auto routing = find_table(context.engine, call->address.table);
  if (!routing) return call->fail(table_error(ErrorCode::table_not_found));
  std::vector<AccessPolicy> policies;
  if (!call->body.empty()) {
    auto parsed = parse_access_policies(call->body);
    if (!parsed) return call->fail(parsed.error());
    policies = std::move(*parsed);
  }
  if (auto written = write_access_policies(context.engine, *routing->container, policies);
      !written) {
    return call->fail(written.error());
  }
  call->reply_empty(204);
}

void run_later(const HandlerContext& context, CallPtr call, Operation operation, Handler handler) {
  call->set_operation(operation);
  if (auto allowed = call->grant.allows(operation, call->address.table); !allowed) {
    return call->fail(allowed.error());
  }
  later(context, std::move(call), Lane::management, handler);
}

}  // namespace

void handle_tables(const HandlerContext& context, CallPtr call) {
  if (call->method == "GET") {
    return run_later(context, std::move(call), Operation::query_tables, run_list);
  }
  if (call->method == "POST") {
    return run_later(context, std::move(call), Operation::create_table, run_create);
  }
  call->method_not_allowed();
}

void handle_table(const HandlerContext& context, CallPtr call) {
  if (call->method == "GET") {
    return run_later(context, std::move(call), Operation::query_tables, run_read);
  }
  if (call->method == "DELETE") {
    return run_later(context, std::move(call), Operation::delete_table, run_delete);
  }
  call->method_not_allowed();
}

void handle_access_policies(const HandlerContext& context, CallPtr call) {
  if (call->method == "GET") {
    return run_later(context, std::move(call), Operation::get_access_policies, run_read_policies);
  }
  if (call->method == "PUT") {
    return run_later(context, std::move(call), Operation::set_access_policies, run_write_policies);
  }
  call->method_not_allowed();
}

}  // namespace orrery::table
