// See faces.h.
#include "cli/faces.h"

#include <fmt/format.h>

#include <array>

#include "api/cosmos/items/shared_items.h"
#include "api/cosmos/service.h"
#include "api/gremlin/service.h"
#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/service.h"
#include "api/table/entities/entity_codec.h"
#include "api/table/service.h"
#include "api/table/wire/http_error.h"

namespace orrery::cli {
namespace {

Result<cosmos::ServiceOptions> cosmos_options(const ServeOptions& options) {
  cosmos::ServiceOptions service;
  auto consistency = cosmos::parse_consistency(options.consistency);
  if (!consistency) return pass(consistency.error());
  service.consistency = *consistency;
  if (options.queries != "service" && options.queries != "permissive") {
    return fail(Code::invalid,
                fmt::format("--queries '{}' is not one of service, permissive", options.queries));
  }
  service.query_rules = options.queries == "permissive" ? cosmos::QueryRules::permissive
                                                        : cosmos::QueryRules::service;
  for (const KnownFace& known : known_faces().subspan(1)) {
    service.other_faces.emplace_back(known.name);
  }
  service.in_development = options.dev;
  service.entra = options.sign_in;
  return service;
}

Status check_cosmos(const ServeOptions& options) {
  auto parsed = cosmos_options(options);
  if (!parsed) return pass(parsed.error());
  return {};
}

std::unique_ptr<face::Face> make_cosmos(const face::Context& context, const ServeOptions& options) {
  return std::make_unique<cosmos::Service>(context, *cosmos_options(options));
}

Result<table::ServiceOptions> table_options(const ServeOptions& options) {
  table::ServiceOptions service;
  service.in_development = options.dev;
  if (options.table_flavour != "storage" && options.table_flavour != "cosmos") {
    return fail(Code::invalid, fmt::format("--table-flavour '{}' is not one of storage, cosmos",
                                           options.table_flavour));
  }
  service.flavour =
      options.table_flavour == "cosmos" ? table::Flavour::cosmos : table::Flavour::storage;
  return service;
}

Status check_table(const ServeOptions& options) {
  auto parsed = table_options(options);
  if (!parsed) return pass(parsed.error());
  return {};
}

std::unique_ptr<face::Face> make_table(const face::Context& context, const ServeOptions& options) {
  return std::make_unique<table::Service>(context, *table_options(options));
}

Result<gremlin::ServiceOptions> gremlin_options(const ServeOptions& options) {
  if (options.gremlin_answers != "untyped" && options.gremlin_answers != "typed") {
    return fail(Code::invalid, fmt::format("--gremlin-answers '{}' is not one of untyped, typed",
                                           options.gremlin_answers));
  }
  return gremlin::ServiceOptions{.typed_graphson2 = options.gremlin_answers == "typed",
                                 .loops_max = options.gremlin_loops};
}

Status check_gremlin(const ServeOptions& options) {
  auto parsed = gremlin_options(options);
  if (!parsed) return pass(parsed.error());
  return {};
}

std::unique_ptr<face::Face> make_gremlin(const face::Context& context,
                                         const ServeOptions& options) {
  return std::make_unique<gremlin::Service>(context, cosmos::shared_items(),
                                            *gremlin_options(options));
}

Status check_mongo(const ServeOptions& /*options*/) {
  return {};
}

std::unique_ptr<face::Face> make_mongo(const face::Context& context, const ServeOptions& options) {
  return std::make_unique<mongo::Service>(
      context, mongo::ServiceOptions{.in_development = options.dev,
                                     .replica_set = options.mongo_replica_set});
}

constexpr std::array kFaces = {
    KnownFace{"cosmos", 8081, "Port for http and https; 0: any free one", check_cosmos,
              make_cosmos},
    KnownFace{"table", 10002, "Port of Table storage, for http and https; 0: any free one",
              check_table, make_table, table::http_error_json},
    KnownFace{"gremlin", 8901, "Port of Gremlin, for ws and wss; 0: any free one", check_gremlin,
              make_gremlin},
    KnownFace{"mongo", 27017, "Port of MongoDB's protocol, with and without TLS; 0: any free one",
              check_mongo, make_mongo},
};

}  // namespace

std::span<const KnownFace> known_faces() {
  return kFaces;
}

Codecs face_codecs() {
  return {{std::string(table::kEntityEncoding), table::entity_codec()},
          {std::string(mongo::kBsonEncoding), mongo::bson_codec()}};
}

}  // namespace orrery::cli
