// See geo_near.h.
#include "api/mongo/pipeline/geo_near.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "api/mongo/bson/types.h"
#include "api/mongo/match/geo_shapes.h"
#include "api/mongo/match/path.h"
#include "api/mongo/pipeline/stage.h"

namespace orrery::mongo {
namespace {

Answer<std::optional<double>> number_member(const Value& spec, std::string_view name) {
  const Value given = spec.find(name);
  if (given.is_undefined()) return std::nullopt;
  if (!given.is_number() || !(given.number() >= 0)) {
    return refuse(kBadValue, fmt::format("$geoNear requires a nonnegative number as {}", name));
  }
  return given.number();
}

Answer<void> read_point(const Value& spec, GeoNear& stage) {
  const Value near = spec.find("near");
  if (near.is_undefined()) return refuse(5860400, "$geoNear requires a 'near' argument");
  const bool is_geojson = near.find("type").is_string();
  const auto pair = pair_of(near);
  if (!pair) return refuse(kBadValue, "invalid argument in geo near query: near is no point");
  stage.point = point_of(*pair).to_owned();
  if (auto point = parse_geometry(stage.point); !point) return pass(std::move(point.error()));
  // Of a pair of coordinates distances are told in radians.
  if (!is_geojson) stage.unit_m = kEarthRadiusM;
  return {};
}

Answer<void> read_distances(const Value& spec, GeoNear& stage) {
  for (const auto& [name, into] :
       {std::pair<std::string_view, std::optional<double>*>{"maxDistance", &stage.max_distance_m},
        {"minDistance", &stage.min_distance_m}}) {
    const auto distance = number_member(spec, name);
    if (!distance) return pass(distance.error());
    if (distance->has_value()) *into = **distance * stage.unit_m;
  }
  const auto multiplier = number_member(spec, "distanceMultiplier");
  if (!multiplier) return pass(multiplier.error());
  stage.multiplier = multiplier->value_or(1);
  return {};
}

class DistanceSource final : public Source {
 public:
  DistanceSource(const GeoNear& stage, std::string_view path, std::unique_ptr<Source> input)
      : stage_(stage), input_(std::move(input)) {
    near_.path = path;
    near_.point = stage.point;
    near_.min_distance_m = stage.min_distance_m;
    near_.max_distance_m = stage.max_distance_m;
  }
  Document next(Run& run) override {
    auto document = input_->next(run);
    if (!document || !*document) return document;
    const auto nearest = nearest_place(near_, **document, run.evaluation);
    if (!nearest) return document;
    const double distance = nearest->distance_m / stage_.unit_m * stage_.multiplier;
    Value made =
        set_path(**document, split_path(stage_.distance_field), Value::make_number(distance));
    if (!stage_.places_field.empty()) {
      made = set_path(made, split_path(stage_.places_field), nearest->place);
    }
    return made.to_owned();
  }

 private:
  const GeoNear& stage_;
  Matcher::Near near_;
  std::unique_ptr<Source> input_;
};

}  // namespace

Answer<GeoNear> parse_geo_near(const Value& spec) {
  constexpr std::array<std::string_view, 9> kKnown = {
      "near",      "distanceField",      "maxDistance", "minDistance", "query",
      "spherical", "distanceMultiplier", "includeLocs", "key"};
  if (!spec.is_object()) return refuse(10065, "the $geoNear stage must be an object");
  for (const auto& [name, member] : spec.members()) {
    if (std::ranges::find(kKnown, name) != kKnown.end()) continue;
    return refuse(50858, fmt::format("$geoNear does not support the '{}' parameter. Use a $limit "
                                     "stage for a limit",
                                     name));
  }
  GeoNear stage;
  if (auto read = read_point(spec, stage); !read) return pass(std::move(read.error()));
  if (auto read = read_distances(spec, stage); !read) return pass(std::move(read.error()));
  const Value field = spec.find("distanceField");
  if (!field.is_string() || field.text().empty()) {
    return refuse(16606, "$geoNear requires a 'distanceField' option as a String");
  }
  stage.distance_field = field.text();
  const Value places = spec.find("includeLocs");
  if (!places.is_undefined() && !places.is_string()) {
    return refuse(16607, "$geoNear requires that 'includeLocs' option is a String");
  }
  if (places.is_string()) stage.places_field = places.text();
  const Value key = spec.find("key");
  if (!key.is_undefined() && (!key.is_string() || key.text().empty())) {
    return refuse(kTypeMismatch, "$geoNear parameter 'key' must be a string that is not empty");
  }
  if (key.is_string()) stage.key = key.text();
  const Value query = spec.find("query");
  if (!query.is_undefined() && !query.is_object()) {
    return refuse(kTypeMismatch, "$geoNear parameter 'query' must be an object");
  }
  stage.query = query.is_object() ? query.to_owned() : Value::make_object({});
  auto matcher = Matcher::parse(stage.query, {.sorts_by_distance = true});
  if (matcher && matcher->near() != nullptr) {
    return refuse(kBadValue, "$near is not allowed inside of a $geoNear aggregation stage's query");
  }
  return stage;
}

Value near_filter(const GeoNear& stage, std::string_view path) {
  std::vector<Value::Field> near = {field("$geometry", stage.point)};
  if (stage.max_distance_m) {
    near.push_back(field("$maxDistance", Value::make_number(*stage.max_distance_m)));
  }
  if (stage.min_distance_m) {
    near.push_back(field("$minDistance", Value::make_number(*stage.min_distance_m)));
  }
  const Value place = stage_spec(path, stage_spec("$near", Value::make_object(std::move(near))));
  return stage_spec("$and", Value::make_array({place, stage.query})).to_owned();
}

std::unique_ptr<Source> with_distances(const GeoNear& stage, std::string_view path,
                                       std::unique_ptr<Source> input) {
  return std::make_unique<DistanceSource>(stage, path, std::move(input));
}

}  // namespace orrery::mongo
