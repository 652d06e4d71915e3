// See offer_document.h. The few queries that clients send to find an offer are read here by hand:
// they have to work before, and without, the query engine.
#include "api/cosmos/offer_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "api/cosmos/definition_fields.h"
#include "api/cosmos/rid.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

constexpr int64_t kMaxThroughput = 1'000'000'000;

Result<catalog::Throughput> autoscale_of(const Node& settings, std::string_view where) {
  auto most = integer_member(settings, where, "maxThroughput", 1, kMaxThroughput);
  if (!most) return pass(most.error());
  if (!*most) {
    return missing_field(join(where, "maxThroughput"), "give the most request units a second.");
  }
  return catalog::Throughput{.rus = static_cast<uint32_t>(**most), .autoscale = true};
}

struct QueryToken {
  enum class Kind : uint8_t { word, parameter, text, symbol } kind = Kind::symbol;
  std::string text;
};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::optional<std::vector<QueryToken>> tokens_of(std::string_view query) {
  using Kind = QueryToken::Kind;
  std::vector<QueryToken> tokens;
  for (size_t i = 0; i < query.size();) {
    const char c = query[i];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      ++i;
    } else if (c == '"' || c == '\'') {
      QueryToken token{.kind = Kind::text, .text = {}};
      for (++i; i < query.size() && query[i] != c; ++i) {
        if (query[i] == '\\') return std::nullopt;  // no id of ours has anything to escape
        token.text += query[i];
      }
      if (i++ >= query.size()) return std::nullopt;
      tokens.push_back(std::move(token));
    } else if (is_word(c) || c == '@') {
      const size_t start = i++;
      while (i < query.size() && is_word(query[i])) ++i;
      tokens.push_back({.kind = c == '@' ? Kind::parameter : Kind::word,
                        .text = std::string(query.substr(start, i - start))});
    } else {
      tokens.push_back({.kind = Kind::symbol, .text = std::string(1, c)});
      ++i;
    }
  }
  return tokens;
}

// SELECT (* | VALUE alias) FROM name [[AS] alias] [WHERE [(] alias.field = value [)]] [;]
class OfferQueryReader {
 public:
  OfferQueryReader(std::vector<QueryToken> tokens, const Node* parameters)
      : tokens_(std::move(tokens)), parameters_(parameters) {}

  std::optional<OfferFilter> read() {
    OfferFilter filter;
    if (!keyword("SELECT")) return std::nullopt;
    std::string selected;
    if (keyword("VALUE")) {
      if (!take(QueryToken::Kind::word, selected)) return std::nullopt;
    } else if (!symbol("*")) {
      return std::nullopt;
    }
    std::string alias;
    if (!keyword("FROM") || !take(QueryToken::Kind::word, alias)) return std::nullopt;
    const bool as = keyword("AS");
    if (!at_keyword("WHERE")) {
      std::string second;
      if (take(QueryToken::Kind::word, second)) {
        alias = second;
      } else if (as) {
        return std::nullopt;
      }
    }
    if (!selected.empty() && selected != alias) return std::nullopt;
    if (keyword("WHERE") && !condition(alias, filter)) return std::nullopt;
    symbol(";");
    if (at_ != tokens_.size()) return std::nullopt;
    return filter;
  }

 private:
  bool condition(std::string_view alias, OfferFilter& filter) {
    const bool parenthesised = symbol("(");
    std::string name;
    if (!take(QueryToken::Kind::word, name) || name != alias) return false;
    std::string field;
    if (symbol(".")) {
      if (!take(QueryToken::Kind::word, field)) return false;
    } else if (!symbol("[") || !take(QueryToken::Kind::text, field) || !symbol("]")) {
      return false;
    }
    if (field == "resource") {
      filter.field = OfferFilter::Field::resource;
    } else if (field == "offerResourceId") {
      filter.field = OfferFilter::Field::offer_resource_id;
    } else if (field == "id") {
      filter.field = OfferFilter::Field::id;
    } else if (field == "_rid") {
      filter.field = OfferFilter::Field::rid;
    } else if (field == "_self") {
      filter.field = OfferFilter::Field::self;
    } else {
      return false;
    }
    if (!symbol("=")) return false;
    std::string parameter;
    if (take(QueryToken::Kind::parameter, parameter)) {
      if (!parameter_value(parameter, filter.text)) return false;
    } else if (!take(QueryToken::Kind::text, filter.text)) {
      return false;
    }
    return !parenthesised || symbol(")");
  }

  bool parameter_value(std::string_view name, std::string& out) const {
    if (parameters_ == nullptr) return false;
    for (const Node* entry = parameters_->first; entry != nullptr; entry = entry->next) {
      const Node* named = entry->find("name");
      const Node* given = entry->find("value");
      if (named == nullptr || given == nullptr || named->type != Type::string ||
          named->text != name) {
        continue;
      }
      if (given->type != Type::string) return false;
      out = given->text;
      return true;
    }
    return false;
  }

  bool at(QueryToken::Kind kind) const { return at_ < tokens_.size() && tokens_[at_].kind == kind; }
  bool at_keyword(std::string_view word) const {
    return at(QueryToken::Kind::word) && equals_ignore_case(tokens_[at_].text, word);
  }
  bool keyword(std::string_view word) {
    if (!at_keyword(word)) return false;
    ++at_;
    return true;
  }
  bool symbol(std::string_view text) {
    if (!at(QueryToken::Kind::symbol) || tokens_[at_].text != text) return false;
    ++at_;
    return true;
  }
  bool take(QueryToken::Kind kind, std::string& out) {
    if (!at(kind)) return false;
    out = tokens_[at_++].text;
    return true;
  }

  std::vector<QueryToken> tokens_;
  size_t at_ = 0;
  const Node* parameters_;
};

}  // namespace

OfferSubject offer_of(const catalog::Database& database) {
  return {.rid = database_offer_rid(database.number),
          .owner_rid = database_rid(database.number),
          .owner_self = database_self(database.number),
          .throughput = database.throughput.value_or(catalog::Throughput{}),
          .changed_s = database.changed_s,
          .etag = fmt::format("\"{}\"", database.etag)};
}

OfferSubject offer_of(const catalog::Container& container) {
  return {.rid = container_offer_rid(container.number),
          .owner_rid = container_rid(container.database, container.number),
          .owner_self = container_self(container.database, container.number),
          .throughput = container.throughput.value_or(catalog::Throughput{}),
          .changed_s = container.changed_s,
          .etag = fmt::format("\"{}\"", container.etag)};
}

std::string offer_json(const OfferSubject& subject) {
  const catalog::Throughput& throughput = subject.throughput;
  // Autoscale idles at a tenth of its most.
  const uint32_t now = throughput.autoscale ? throughput.rus / 10 : throughput.rus;
  std::string content = "{";
  append_member(content, "offerThroughput", std::to_string(now));
  append_member(content, "offerIsRUPerMinuteThroughputEnabled", "false");
  append_member(content, "offerMinimumThroughputParameters",
                "{\"maxThroughputEverProvisioned\":" +
                    std::to_string(std::max(subject.most_ever_rus, throughput.rus)) +
                    ",\"maxConsumedStorageEverInKB\":" + std::to_string(subject.stored_kb) + "}");
  if (throughput.autoscale) {
    append_member(content, "offerAutopilotSettings",
                  "{\"maxThroughput\":" + std::to_string(throughput.rus) + "}");
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
  replacement.throughput = {.rus = static_cast<uint32_t>(**amount), .autoscale = false};
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
    return catalog::Throughput{.rus = static_cast<uint32_t>(amount), .autoscale = false};
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

bool OfferFilter::matches(const OfferSubject& subject) const {
  switch (field) {
    case Field::all:
      return true;
    case Field::resource:
      return text == subject.owner_self;
    case Field::offer_resource_id:
      return text == subject.owner_rid;
    case Field::id:
    case Field::rid:
      return text == subject.rid;
    case Field::self:
      return text == "offers/" + subject.rid + "/";
  }
  return false;
}

Result<OfferFilter> parse_offer_query(std::string_view body) {
  if (body.size() > kMaxOfferQueryBytes) {
    return fail(Code::invalid, "The query over offers has more than " +
                                   std::to_string(kMaxOfferQueryBytes) + " bytes.");
  }
  std::string_view query = body;
  const Node* parameters = nullptr;
  const auto document = JsonDocument::parse(body);
  if (document && document->root().type == Type::object) {
    auto text = required_member(document->root(), "", "query", Type::string);
    if (!text) return pass(text.error());
    auto list = optional_member(document->root(), "", "parameters", Type::array);
    if (!list) return pass(list.error());
    query = (*text)->text;
    parameters = *list;
  } else if (document && document->root().type == Type::string) {
    query = document->root().text;
  }
  if (auto tokens = tokens_of(query)) {
    if (auto filter = OfferQueryReader(std::move(*tokens), parameters).read()) return *filter;
  }
  return fail(Code::unsupported, "The query \"" + std::string(query.substr(0, 200)) +
                                     "\" over offers is not supported: ask for all, or for one by "
                                     "resource, offerResourceId or id, like SELECT * FROM c WHERE "
                                     "c.offerResourceId = @rid.");
}

}  // namespace orrery::cosmos
