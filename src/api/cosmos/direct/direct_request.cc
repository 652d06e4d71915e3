// See direct_request.h.
#include "api/cosmos/direct/direct_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/cosmos/direct/token_ids.h"
#include "api/cosmos/wire/rid.h"
#include "base/bytes.h"

namespace orrery::cosmos::direct {
namespace {

namespace token_id = request_token;

enum class Form : uint8_t { unknown, text, flag, number, special };

struct HeaderToken {
  uint16_t id;
  Form form;
  std::string_view header;
};

constexpr std::array kTokens = {
    HeaderToken{token_id::kAuthorization, Form::text, "authorization"},
    HeaderToken{token_id::kDate, Form::text, "x-ms-date"},
    HeaderToken{token_id::kSessionToken, Form::text, "x-ms-session-token"},
    HeaderToken{token_id::kContinuation, Form::text, "x-ms-continuation"},
    HeaderToken{token_id::kPreTrigger, Form::text, "x-ms-documentdb-pre-trigger-include"},
    HeaderToken{token_id::kPostTrigger, Form::text, "x-ms-documentdb-post-trigger-include"},
    HeaderToken{token_id::kPartitionKey, Form::text, "x-ms-documentdb-partitionkey"},
    HeaderToken{token_id::kAIm, Form::text, "a-im"},
    HeaderToken{token_id::kIfModifiedSince, Form::text, "if-modified-since"},
    HeaderToken{token_id::kStartEpk, Form::text, "x-ms-start-epk"},
    HeaderToken{token_id::kEndEpk, Form::text, "x-ms-end-epk"},
    HeaderToken{token_id::kIntendedContainer, Form::text, "x-ms-cosmos-intended-collection-rid"},
    HeaderToken{token_id::kChangeFeedFormat, Form::text,
                "x-ms-cosmos-changefeed-wire-format-version"},
    HeaderToken{token_id::kScriptLogging, Form::flag, "x-ms-documentdb-script-enable-logging"},
    HeaderToken{token_id::kPopulateQuota, Form::flag, "x-ms-documentdb-populatequotainfo"},
    HeaderToken{token_id::kPopulateQueryMetrics, Form::flag,
                "x-ms-documentdb-populatequerymetrics"},
    HeaderToken{token_id::kPopulateIndexMetrics, Form::flag, "x-ms-cosmos-populateindexmetrics"},
    HeaderToken{token_id::kPopulateIndexMetricsV2, Form::flag,
                "x-ms-cosmos-populateindexmetrics-v2"},
    HeaderToken{token_id::kBatchAtomic, Form::flag, "x-ms-cosmos-batch-atomic"},
    HeaderToken{token_id::kBatchContinueOnError, Form::flag, "x-ms-cosmos-batch-continue-on-error"},
    HeaderToken{token_id::kContinuationLimitKb, Form::number,
                "x-ms-documentdb-responsecontinuationtokenlimitinkb"},
    HeaderToken{token_id::kTokenExpiry, Form::number, "x-ms-documentdb-expiry-seconds"},
    HeaderToken{token_id::kResourceId, Form::special, ""},
    HeaderToken{token_id::kPageSize, Form::special, ""},
    HeaderToken{token_id::kIndexingDirective, Form::special, ""},
    HeaderToken{token_id::kMatch, Form::special, ""},
    HeaderToken{token_id::kConsistency, Form::special, ""},
    HeaderToken{token_id::kReplicaPath, Form::special, ""},
    HeaderToken{token_id::kDatabaseName, Form::special, ""},
    HeaderToken{token_id::kContainerName, Form::special, ""},
    HeaderToken{token_id::kItemName, Form::special, ""},
    HeaderToken{token_id::kUserName, Form::special, ""},
    HeaderToken{token_id::kPermissionName, Form::special, ""},
    HeaderToken{token_id::kProcedureName, Form::special, ""},
    HeaderToken{token_id::kFunctionName, Form::special, ""},
    HeaderToken{token_id::kTriggerName, Form::special, ""},
    HeaderToken{token_id::kConflictName, Form::special, ""},
    HeaderToken{token_id::kRangeId, Form::special, ""},
    HeaderToken{token_id::kRangeName, Form::special, ""},
    HeaderToken{token_id::kTargetLsn, Form::special, ""},
    HeaderToken{token_id::kTargetGlobalCommittedLsn, Form::special, ""},
    HeaderToken{token_id::kTransportRequestId, Form::special, ""},
    HeaderToken{token_id::kReturnPreference, Form::special, ""},
};

constexpr size_t kTokenIdsMax = 0x100;

// The place of each id in kTokens, plus one; 0: not known.
constexpr std::array<uint8_t, kTokenIdsMax> make_places() {
  std::array<uint8_t, kTokenIdsMax> places{};
  for (size_t i = 0; i < kTokens.size(); ++i) places[kTokens[i].id] = static_cast<uint8_t>(i + 1);
  return places;
}
constexpr auto kPlaces = make_places();

constexpr std::array<std::string_view, 5> kConsistencies = {"Strong", "BoundedStaleness", "Session",
                                                            "Eventual", "ConsistentPrefix"};
constexpr std::array<std::string_view, 3> kIndexingDirectives = {"Default", "Include", "Exclude"};

enum class Parent : uint8_t { account, database, container, user };
struct ResourceForm {
  uint16_t resource;
  std::string_view type;  // in a path
  Parent parent;
};
constexpr std::array kResources = {
    ResourceForm{resource::kDatabase, "dbs", Parent::account},
    ResourceForm{resource::kContainer, "colls", Parent::database},
    ResourceForm{resource::kItem, "docs", Parent::container},
    ResourceForm{resource::kUser, "users", Parent::database},
    ResourceForm{resource::kPermission, "permissions", Parent::user},
    ResourceForm{resource::kProcedure, "sprocs", Parent::container},
    ResourceForm{resource::kConflict, "conflicts", Parent::container},
    ResourceForm{resource::kTrigger, "triggers", Parent::container},
    ResourceForm{resource::kFunction, "udfs", Parent::container},
    ResourceForm{resource::kRange, "pkranges", Parent::container},
};

const ResourceForm* form_of(uint16_t resource) {
  const auto* found = std::ranges::find(kResources, resource, &ResourceForm::resource);
  return found != kResources.end() ? found : nullptr;
}

// What a request about one resource is to, and not to the feed that it is in.
bool is_about_feed(uint16_t operation) {
  switch (operation) {
    case operation::kCreate:
    case operation::kReadFeed:
    case operation::kSqlQuery:
    case operation::kQuery:
    case operation::kHeadFeed:
    case operation::kUpsert:
    case operation::kBatch:
    case operation::kQueryPlan:
      return true;
    default:
      return false;
  }
}

// Items and what works on them: for all else clients ask for strong consistency, whatever the
// account's is, and mean the catalog's.
bool has_consistency(uint16_t resource) {
  return resource == resource::kItem || resource == resource::kProcedure;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~' || c == '=';
}

void append_segment(std::string& target, std::string_view name) {
  target += '/';
  if (std::ranges::all_of(name, is_plain)) {
    target += name;
  } else {
    target += percent_encode(name);
  }
}

std::string rid_text(std::string_view bytes) {
  std::string text = to_base64(bytes);
  std::ranges::replace(text, '/', '-');
  return text;
}

std::unexpected<Error> wrong_type(const Token& token) {
  return fail(Code::invalid, fmt::format("token {:#06x} is of type {:#04x}, which it cannot be",
                                         token.id, static_cast<unsigned>(token.type)));
}

}  // namespace

struct DirectRequest::Names {
  std::string_view resource_id;  // bytes
  std::string_view database;
  std::string_view container;
  std::string_view user;
  std::string_view child;
};

Status DirectRequest::read(const RequestFrame& frame) {
  http.headers.clear();
  http.body = frame.payload;
  http.method = http.target = {};
  transport_id = 0;
  replica_path = {};
  target_lsn = 0;
  resource = frame.resource;
  operation_ = frame.operation;
  names_range = false;
  wants_body = true;
  digits_used_ = 0;
  std::ranges::copy(frame.activity_id, activity_id.begin());
  activity_text_ = activity_text(frame.activity_id);
  http.headers.push_back({"x-ms-activity-id", {activity_text_.data(), activity_text_.size()}});

  Names names;
  Status taken;
  TokenReader reader(frame.tokens);
  Token token;
  // All of them, even after one that is wrong: the answer needs the request's id.
  for (;;) {
    const TokenReader::Outcome outcome = reader.next(token);
    if (outcome == TokenReader::Outcome::end) break;
    if (outcome == TokenReader::Outcome::malformed) {
      return fail(Code::invalid, "a token is cut off or of an unknown type");
    }
    if (auto one = take(token, names); !one && taken) taken = one;
  }
  if (!taken) return taken;
  if (auto set = set_method(frame.operation); !set) return set;
  return set_target(names);
}

Status DirectRequest::take(const Token& token, Names& names) {
  const uint8_t place = token.id < kTokenIdsMax ? kPlaces[token.id] : 0;
  if (place == 0) return {};
  const HeaderToken& known = kTokens[place - 1];
  switch (known.form) {
    case Form::text:
      if (!token.has_text()) return wrong_type(token);
      http.headers.push_back({known.header, token.bytes});
      return {};
    case Form::flag:
      if (!token.is_number()) return wrong_type(token);
      http.headers.push_back({known.header, token.number != 0 ? "true" : "false"});
      return {};
    case Form::number:
      if (!token.is_number()) return wrong_type(token);
      add_number(known.header, static_cast<int64_t>(token.number));
      return {};
    default:
      return take_special(token, names);
  }
}

Status DirectRequest::take_special(const Token& token, Names& names) {
  const bool is_number =
      token.id == token_id::kPageSize || token.id == token_id::kIndexingDirective ||
      token.id == token_id::kConsistency || token.id == token_id::kTargetLsn ||
      token.id == token_id::kTargetGlobalCommittedLsn ||
      token.id == token_id::kTransportRequestId || token.id == token_id::kReturnPreference;
  if (is_number ? !token.is_number() : !token.has_text()) return wrong_type(token);
  switch (token.id) {
    case token_id::kResourceId:
      names.resource_id = token.bytes;
      return {};
    case token_id::kPageSize:
      add_number("x-ms-max-item-count", static_cast<int32_t>(token.number));
      return {};
    case token_id::kIndexingDirective:
      if (token.number < kIndexingDirectives.size()) {
        http.headers.push_back({"x-ms-indexing-directive", kIndexingDirectives[token.number]});
      }
      return {};
    case token_id::kMatch: {
      const bool reads = operation_ == operation::kRead || operation_ == operation::kReadFeed;
      http.headers.push_back({reads ? "if-none-match" : "if-match", token.bytes});
      return {};
    }
    case token_id::kConsistency:
      if (token.number >= kConsistencies.size()) {
        return fail(Code::invalid, fmt::format("{} is not a consistency level: they are 0 to {}",
                                               token.number, kConsistencies.size() - 1));
      }
      if (has_consistency(resource)) {
        http.headers.push_back({"x-ms-consistency-level", kConsistencies[token.number]});
      }
      return {};
    case token_id::kReplicaPath:
      replica_path = token.bytes;
      return {};
    case token_id::kDatabaseName:
      names.database = token.bytes;
      return {};
    case token_id::kContainerName:
      names.container = token.bytes;
      return {};
    case token_id::kUserName:
      names.user = token.bytes;
      return {};
    case token_id::kRangeId:
      names_range = true;
      http.headers.push_back({"x-ms-documentdb-partitionkeyrangeid", token.bytes});
      return {};
    case token_id::kTargetLsn:
    case token_id::kTargetGlobalCommittedLsn:
      target_lsn = std::max(target_lsn, static_cast<int64_t>(token.number));
      return {};
    case token_id::kTransportRequestId:
      transport_id = static_cast<uint32_t>(token.number);
      return {};
    case token_id::kReturnPreference:
      if (token.number == 1) http.headers.push_back({"prefer", "return=minimal"});
      return {};
    default:  // the name of an item, a permission, a script and so on: a request has one of them
      names.child = token.bytes;
      return {};
  }
}

void DirectRequest::add_number(std::string_view header, int64_t number) {
  char* const from = digits_.data() + digits_used_;
  const auto written = std::to_chars(from, digits_.data() + digits_.size(), number);
  // Tokens that come twice may leave no room: the first one counts.
  if (written.ec != std::errc()) return;
  digits_used_ = static_cast<size_t>(written.ptr - digits_.data());
  http.headers.push_back({header, {from, written.ptr}});
}

Status DirectRequest::set_method(uint16_t operation) {
  switch (operation) {
    case operation::kRead:
    case operation::kReadFeed:
      http.method = "GET";
      return {};
    case operation::kHead:
    case operation::kHeadFeed:
      http.method = "HEAD";
      wants_body = false;
      return {};
    case operation::kDelete:
      http.method = "DELETE";
      return {};
    case operation::kReplace:
      http.method = "PUT";
      return {};
    case operation::kPatch:
      http.method = "PATCH";
      return {};
    case operation::kCreate:
    case operation::kExecute:
      http.method = "POST";
      return {};
    case operation::kUpsert:
      http.method = "POST";
      http.headers.push_back({"x-ms-documentdb-is-upsert", "true"});
      return {};
    case operation::kBatch:
      http.method = "POST";
      http.headers.push_back({"x-ms-cosmos-is-batch-request", "true"});
      return {};
    case operation::kSqlQuery:
    case operation::kQuery:
      http.method = "POST";
      http.headers.push_back({"x-ms-documentdb-isquery", "true"});
      // Clients of direct mode send a query to each range by themselves.
      http.headers.push_back({"x-ms-documentdb-query-enablecrosspartition", "true"});
      return {};
    case operation::kQueryPlan:
      http.method = "POST";
      http.headers.push_back({"x-ms-cosmos-is-query-plan-request", "true"});
      return {};
    default:
      return fail(Code::unsupported,
                  fmt::format("operation {:#06x} is not supported over RNTBD by this version of "
                              "Orrery: use gateway mode for it",
                              operation));
  }
}

Status DirectRequest::set_target(const Names& names) {
  target_.clear();
  if (resource == resource::kAccount) {
    target_ = "/";
    http.target = target_;
    return {};
  }
  const ResourceForm* form = form_of(resource);
  if (form == nullptr) {
    return fail(Code::unsupported,
                fmt::format("resource {:#06x} is not supported over RNTBD by this version of "
                            "Orrery: use gateway mode for it",
                            resource));
  }
  const bool is_feed = is_about_feed(operation_);
  const bool by_name = !names.database.empty() || (is_feed && form->parent == Parent::account) ||
                       names.resource_id.empty();
  if (!by_name) return set_target_by_rid(names.resource_id);

  bool is_named = true;
  const auto add = [&](std::string_view type, std::string_view name) {
    target_ += '/';
    target_ += type;
    if (name.empty()) is_named = false;
    append_segment(target_, name);
  };
  if (form->parent != Parent::account) add("dbs", names.database);
  if (form->parent == Parent::container) add("colls", names.container);
  if (form->parent == Parent::user) add("users", names.user);
  if (is_feed) {
    target_ += '/';
    target_ += form->type;
  } else if (form->parent == Parent::account) {
    add(form->type, names.database);
  } else if (resource == resource::kContainer) {
    add(form->type, names.container);
  } else if (resource == resource::kUser) {
    add(form->type, names.user);
  } else {
    add(form->type, names.child);
  }
  http.target = target_;
  if (is_named) return {};
  return fail(Code::invalid,
              fmt::format("the request's tokens do not name all of {}: send the names, or "
                          "ResourceId",
                          target_));
}

// The id has those of all that it lies in.
Status DirectRequest::set_target_by_rid(std::string_view rid) {
  constexpr size_t kDatabaseBytes = 4;
  constexpr size_t kContainerBytes = 8;  // and a user's
  constexpr size_t kChildBytes = 16;
  const ResourceForm& form = *form_of(resource);
  const bool is_feed = is_about_feed(operation_);
  // How long the id is of what the request is to: the resource, or the parent of the feed.
  size_t wanted = kChildBytes;
  if (form.parent == Parent::account) wanted = kDatabaseBytes;
  if (form.parent == Parent::database) wanted = is_feed ? kDatabaseBytes : kContainerBytes;
  if ((form.parent == Parent::container || form.parent == Parent::user) && is_feed) {
    wanted = kContainerBytes;
  }
  if (rid.size() < wanted) {
    return fail(Code::invalid, fmt::format("ResourceId has {} bytes; the id that this request "
                                           "needs has {}",
                                           rid.size(), wanted));
  }
  target_ = "/dbs/" + rid_text(rid.substr(0, kDatabaseBytes));
  if (wanted >= kContainerBytes) {
    const bool of_user = form.parent == Parent::user || resource == resource::kUser;
    target_ += of_user ? "/users/" : "/colls/";
    target_ += rid_text(rid.substr(0, kContainerBytes));
  }
  if (is_feed) {
    target_ += '/';
    target_ += form.type;
  } else if (wanted == kChildBytes) {
    target_ += '/';
    target_ += form.type;
    target_ += '/';
    target_ += rid_text(rid.substr(0, kChildBytes));
  }
  http.target = target_;
  return {};
}

}  // namespace orrery::cosmos::direct
