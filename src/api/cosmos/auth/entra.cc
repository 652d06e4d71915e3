// See entra.h.
#include "api/cosmos/auth/entra.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "value/json.h"

namespace orrery::cosmos {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

constexpr std::array<std::string_view, 7> kMembers = {
    "issuer", "issuers", "audiences", "discovery", "keys", "roles", "assignments"};

Result<std::vector<std::string>> texts_of(const Node& list, std::string_view name) {
  std::vector<std::string> texts;
  if (list.type == Type::array) {
    for (const Node* one = list.first; one != nullptr; one = one->next) {
      if (one->type != Type::string || one->text.empty()) {
        return fail(Code::invalid, fmt::format("\"{}\" has something that is not a text", name));
      }
      texts.emplace_back(one->text);
    }
  }
  if (texts.empty()) {
    return fail(Code::invalid, fmt::format("\"{}\" is to be an array of texts", name));
  }
  return texts;
}

Result<std::string> wanted_text(const Node& root, std::string_view name) {
  const Node* found = root.find(name);
  if (found == nullptr) return std::string();
  if (found->type != Type::string || found->text.empty()) {
    return fail(Code::invalid, fmt::format("\"{}\" is not a text", name));
  }
  return std::string(found->text);
}

}  // namespace

Result<EntraFile> parse_entra_file(std::string_view text) {
  auto document = JsonDocument::parse(text);
  if (!document) return fail(Code::invalid, "it is not JSON: " + document.error().message);
  const Node& root = document->root();
  if (root.type != Type::object) return fail(Code::invalid, "it is not a JSON object");
  for (const Node* member = root.first; member != nullptr; member = member->next) {
    if (std::ranges::find(kMembers, member->name) == kMembers.end()) {
      return fail(Code::invalid,
                  fmt::format("nothing is known of a member \"{}\"", member->name.substr(0, 100)));
    }
  }
  EntraFile file;
  auto issuer = wanted_text(root, "issuer");
  if (!issuer) return pass(issuer.error());
  if (!issuer->empty()) file.issuers.push_back(std::move(*issuer));
  if (const Node* list = root.find("issuers")) {
    auto more = texts_of(*list, "issuers");
    if (!more) return pass(more.error());
    std::ranges::move(*more, std::back_inserter(file.issuers));
  }
  if (file.issuers.empty()) return fail(Code::invalid, "it names no \"issuer\"");
  const Node* audiences = root.find("audiences");
  if (audiences == nullptr) return fail(Code::invalid, "it has no \"audiences\"");
  auto parsed = texts_of(*audiences, "audiences");
  if (!parsed) return pass(parsed.error());
  file.audiences = std::move(*parsed);
  for (auto [name, into] :
       {std::pair("discovery", &file.discovery), std::pair("keys", &file.keys)}) {
    auto place = wanted_text(root, name);
    if (!place) return pass(place.error());
    *into = std::move(*place);
  }
  if (file.discovery.empty() == file.keys.empty()) {
    return fail(Code::invalid,
                "it is to have one of \"discovery\" and \"keys\": where the issuer's keys are");
  }
  auto roles = Roles::parse(root);
  if (!roles) return pass(roles.error());
  file.roles = std::move(*roles);
  return file;
}

Result<std::string> keys_place_of(std::string_view discovery_document,
                                  const std::vector<std::string>& issuers) {
  auto document = JsonDocument::parse(discovery_document);
  if (!document || document->root().type != Type::object) {
    return fail(Code::invalid, "the discovery document is not a JSON object");
  }
  auto issuer = wanted_text(document->root(), "issuer");
  if (!issuer || std::ranges::find(issuers, *issuer) == issuers.end()) {
    return fail(Code::invalid, "the discovery document is of another issuer");
  }
  auto place = wanted_text(document->root(), "jwks_uri");
  if (!place || place->empty()) {
    return fail(Code::invalid, "the discovery document does not say where the keys are (jwks_uri)");
  }
  return place;
}

}  // namespace orrery::cosmos
