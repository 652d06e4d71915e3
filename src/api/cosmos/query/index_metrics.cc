// See index_metrics.h.
#include "api/cosmos/query/index_metrics.h"

#include "base/bytes.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

using Impact = query::IndexUse::Impact;

void append_impact(std::string& json, Impact impact) {
  json += ",\"IndexImpactScore\":";
  json += impact == Impact::high ? "\"High\"}" : "\"Low\"}";
}

void append_singles(std::string& json, const char* name,
                    const std::vector<query::IndexUse::Single>& list) {
  json += '"';
  json += name;
  json += "\":[";
  for (const query::IndexUse::Single& one : list) {
    if (json.back() != '[') json += ',';
    const char* exact = one.is_exact ? "true" : "false";
    json += "{\"FilterExpression\":\"\",\"IndexSpec\":";
    value::append_json_string(json, one.path);
    json += std::string(",\"FilterPreciseSet\":") + exact + ",\"IndexPreciseSet\":" + exact;
    append_impact(json, one.impact);
  }
  json += ']';
}

void append_composites(std::string& json, const char* name,
                       const std::vector<query::IndexUse::Composite>& list) {
  json += '"';
  json += name;
  json += "\":[";
  for (const query::IndexUse::Composite& one : list) {
    if (json.back() != '[') json += ',';
    json += "{\"IndexSpecs\":[";
    for (const std::string& part : one.parts) {
      if (json.back() != '[') json += ',';
      value::append_json_string(json, part);
    }
    json += "],\"IndexPreciseSet\":false";
    append_impact(json, Impact::high);
  }
  json += ']';
}

}  // namespace

std::string encode_index_metrics(const query::IndexUse& use, IndexMetricsForm form) {
  std::string json = "{";
  if (form == IndexMetricsForm::percent_encoded) {
    json += "\"Utilized\":{";
    append_singles(json, "SingleIndexes", use.used);
    json += ',';
    append_composites(json, "CompositeIndexes", use.used_composites);
    json += "},\"Potential\":{";
    append_singles(json, "SingleIndexes", use.missing);
    json += ',';
    append_composites(json, "CompositeIndexes", use.missing_composites);
    json += "}}";
    return percent_encode(json);
  }
  append_singles(json, "UtilizedSingleIndexes", use.used);
  json += ',';
  append_singles(json, "PotentialSingleIndexes", use.missing);
  json += ',';
  append_composites(json, "UtilizedCompositeIndexes", use.used_composites);
  json += ',';
  append_composites(json, "PotentialCompositeIndexes", use.missing_composites);
  json += '}';
  return to_base64(json);
}

}  // namespace orrery::cosmos
