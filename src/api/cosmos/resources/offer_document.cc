// See offer_document.h.
#include "api/cosmos/resources/offer_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/cosmos/resources/definition_fields.h"
#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/rid.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

constexpr int64_t kMaxThroughput = 1'000'000'000;
constexpr int64_t kMaxIncrementPercent = 1'000;

Result<catalog::Throughput> autoscale_of(const Node& settings, std::string_view where) {
  auto most = integer_member(settings, where, "maxThroughput", 1, kMaxThroughput);
  if (!most) return pass(most.error());
  if (!*most) {
    return missing_field(join(where, "maxThroughput"), "give the most request units a second.");
  }
  catalog::Throughput throughput{.units = static_cast<uint32_t>(**most), .autoscale = true};
  auto upgrade = optional_member(settings, where, "autoUpgradePolicy", Type::object);
  if (!upgrade) return pass(upgrade.error());
  if (*upgrade == nullptr) return throughput;
  const std::string policy_where = join(where, "autoUpgradePolicy");
  auto policy = optional_member(**upgrade, policy_where, "throughputPolicy", Type::object);
  if (!policy) return pass(policy.error());
  if (*policy == nullptr) return throughput;
  auto percent = integer_member(**policy, join(policy_where, "throughputPolicy"),
                                "incrementPercent", 0, kMaxIncrementPercent);
  if (!percent) return pass(percent.error());
  if (*percent) throughput.increment_percent = static_cast<uint32_t>(**percent);
  return throughput;
}

}  // namespace

OfferSubject offer_of(const catalog::Database& database) {
  return {.rid = database_offer_rid(database.number),
          .owner_rid = database_rid(database.number),
          .owner_self = database_self(database.number),
          .throughput = database.throughput.value_or(catalog::Throughput{}),
          .changed_s = database.changed_s,
          .etag = fmt::format("\"{}\"", etag_of(database))};
}

OfferSubject offer_of(const catalog::Container& container) {
  return {.rid = container_offer_rid(container.number),
          .owner_rid = container_rid(container.database, container.number),
          .owner_self = container_self(container.database, container.number),
          .throughput = container.throughput.value_or(catalog::Throughput{}),
          .changed_s = container.changed_s,
          .etag = fmt::format("\"{}\"", etag_of(container))};
}

std::string offer_json(const OfferSubject& subject) {
  const catalog::Throughput& throughput = subject.throughput;
  // Autoscale idles at a tenth of its most.
  const uint32_t now = throughput.autoscale ? throughput.units / 10 : throughput.units;
  std::string content = "{";
  append_member(content, "offerThroughput", std::to_string(now));
  append_member(content, "offerIsRUPerMinuteThroughputEnabled", "false");
  append_member(content, "offerMinimumThroughputParameters",
                "{\"maxThroughputEverProvisioned\":" +
                    std::to_string(std::max(subject.most_ever_rus, throughput.units)) +
                    ",\"maxConsumedStorageEverInKB\":" + std::to_string(subject.stored_kb) + "}");
  if (throughput.autoscale) {
    std::string settings = "{\"maxThroughput\":" + std::to_string(throughput.units);
    if (throughput.increment_percent) {
      settings += R"(,"autoUpgradePolicy":{"throughputPolicy":{"incrementPercent":)" +
                  std::to_string(*throughput.increment_percent) + "}}";
    }
    append_member(content, "offerAutopilotSettings", settings + "}");
  }
  append_member(content, "offerLastReplaceTimestamp", std::to_string(subject.changed_s));
  content += '}';

  std::string out = "{";
  append_member(out, "offerVersion", R"("V2")");
  append_member(out, "offerType", R"("Invalid")");
  append_member(out, "content", content);
  append_member(out, "resource", quoted(subject.owner_self));
  append_member(out, "offerResourceId", quoted(subject.owner_rid));
  append_member(out, "id", quoted(subject.rid));
  append_member(out, "_rid", quoted(subject.rid));
  append_member(out, "_self", quoted("offers/" + subject.rid + "/"));
  append_member(out, "_etag", quoted(subject.etag));
  append_member(out, "_ts", std::to_string(subject.changed_s));
  out += '}';
  return out;
}

Result<OfferReplacement> parse_offer_replacement(std::string_view body) {
  const auto document = JsonDocument::parse(body);
  if (!document) {
    return fail(Code::invalid, "The request body is not JSON: " + document.error().message);
  }
  const Node& root = document->root();
  if (root.type != Type::object) {
    return fail(Code::invalid,
                "The request body is not an object: send the offer as it was read, "
                "with its content changed.");
  }
  OfferReplacement replacement;
  auto id = optional_member(root, "", "id", Type::string);
  if (!id) return pass(id.error());
  if (*id != nullptr) replacement.id = (*id)->text;
  auto owner = optional_member(root, "", "offerResourceId", Type::string);
  if (!owner) return pass(owner.error());
  if (*owner != nullptr) replacement.offer_resource_id = (*owner)->text;

  auto content = required_member(root, "", "content", Type::object);
  if (!content) return pass(content.error());
  auto settings = optional_member(**content, "content", "offerAutopilotSettings", Type::object);
  if (!settings) return pass(settings.error());
  if (*settings != nullptr) {
    auto throughput = autoscale_of(**settings, "content.offerAutopilotSettings");
    if (!throughput) return pass(throughput.error());
    replacement.throughput = *throughput;
    return replacement;
  }
  auto amount = integer_member(**content, "content", "offerThroughput", 1, kMaxThroughput);
  if (!amount) return pass(amount.error());
  if (!*amount) {
    return missing_field("content.offerThroughput",
                         "give the request units a second, or "
                         "offerAutopilotSettings {\"maxThroughput\":n}.");
  }
  replacement.throughput = {.units = static_cast<uint32_t>(**amount), .autoscale = false};
  return replacement;
}

Result<std::optional<catalog::Throughput>> parse_throughput_headers(std::string_view manual,
                                                                    std::string_view autoscale) {
  if (!manual.empty() && !autoscale.empty()) {
    return fail(Code::invalid,
                "Both x-ms-offer-throughput and x-ms-cosmos-offer-autopilot-settings are set: send "
                "the first for manual throughput, the second for autoscale.");
  }
  if (!manual.empty()) {
    int64_t amount = 0;
    const auto [end, error] = std::from_chars(manual.data(), manual.data() + manual.size(), amount);
    if (error != std::errc() || end != manual.data() + manual.size() || amount <= 0 ||
        amount > kMaxThroughput) {
      return fail(Code::invalid, "x-ms-offer-throughput is \"" + std::string(manual.substr(0, 40)) +
                                     "\": give a whole number of request units a second.");
    }
    return catalog::Throughput{.units = static_cast<uint32_t>(amount), .autoscale = false};
  }
  if (!autoscale.empty()) {
    constexpr std::string_view kHeader = "x-ms-cosmos-offer-autopilot-settings";
    const auto document = JsonDocument::parse(autoscale);
    if (!document || document->root().type != Type::object) {
      return fail(Code::invalid, std::string(kHeader) + " is " +
                                     std::string(autoscale.substr(0, 80)) +
                                     ": send JSON like {\"maxThroughput\":4000}.");
    }
    auto throughput = autoscale_of(document->root(), kHeader);
    if (!throughput) return pass(throughput.error());
    return *throughput;
  }
  return std::nullopt;
}

}  // namespace orrery::cosmos
