// See faces.h.
#include "cli/faces.h"

#include <array>
#include <utility>

#include "api/cosmos/items/shared_items.h"
#include "api/cosmos/service.h"
#include "api/cosmos/settings.h"
#include "api/gremlin/service.h"
#include "api/gremlin/settings.h"
#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/collections/document_codec.h"
#include "api/mongo/service.h"
#include "api/mongo/settings.h"
#include "api/table/entities/entity_codec.h"
#include "api/table/service.h"
#include "api/table/settings.h"
#include "api/table/wire/http_error.h"

namespace orrery::cli {
namespace {

using face::OptionValues;

std::unique_ptr<face::Face> make_cosmos(const face::Context& context, const ServeOptions& options,
                                        const OptionValues& values) {
  cosmos::ServiceOptions service = cosmos::service_options(values);
  for (const KnownFace& known : known_faces().subspan(1)) {
    service.other_faces.emplace_back(known.name);
  }
  service.in_development = options.dev;
  service.entra = options.sign_in;
  return std::make_unique<cosmos::Service>(context, service);
}

std::unique_ptr<face::Face> make_table(const face::Context& context, const ServeOptions& options,
                                       const OptionValues& values) {
  table::ServiceOptions service = table::service_options(values);
  service.in_development = options.dev;
  return std::make_unique<table::Service>(context, service);
}

std::unique_ptr<face::Face> make_gremlin(const face::Context& context,
                                         const ServeOptions& /*options*/,
                                         const OptionValues& values) {
  return std::make_unique<gremlin::Service>(context, cosmos::shared_items(),
                                            gremlin::service_options(values));
}

std::unique_ptr<face::Face> make_mongo(const face::Context& context, const ServeOptions& options,
                                       const OptionValues& values) {
  mongo::ServiceOptions service = mongo::service_options(values);
  service.in_development = options.dev;
  return std::make_unique<mongo::Service>(context, std::move(service));
}

constexpr std::array kFaces = {
    KnownFace{"cosmos", cosmos::kPorts, cosmos::kOptions, make_cosmos},
    KnownFace{"table", table::kPorts, table::kOptions, make_table, table::http_error_json},
    KnownFace{"gremlin", gremlin::kPorts, gremlin::kOptions, make_gremlin},
    KnownFace{"mongo", mongo::kPorts, mongo::kOptions, make_mongo},
};

}  // namespace

std::span<const KnownFace> known_faces() {
  return kFaces;
}

Result<face::OptionValues> option_values(const KnownFace& known, const ServeOptions& options) {
  return OptionValues::create(known.options, options.face_options);
}

std::unique_ptr<face::Face> make_face(const KnownFace& known, const face::Context& context,
                                      const ServeOptions& options) {
  return known.make(context, options, *option_values(known, options));
}

Codecs face_codecs() {
  return {{std::string(table::kEntityEncoding), table::entity_codec()},
          {std::string(mongo::kBsonEncoding), mongo::document_codec()}};
}

}  // namespace orrery::cli
