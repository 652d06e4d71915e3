// See query_request.h.
#include "api/cosmos/query/query_request.h"

#include <fmt/format.h>

#include <chrono>
#include <expected>
#include <optional>
#include <random>
#include <unordered_map>
#include <utility>

#include "api/cosmos/query/service_rules.h"
#include "api/cosmos/wire/query_error.h"
#include "api/cosmos/wire/rid.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "query/parse/parser.h"
#include "query/parse/printer.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

using value::Node;
using value::Type;
using value::Value;

int64_t ticks_now() {
  using Ticks = std::chrono::duration<int64_t, std::ratio<1, 10'000'000>>;
  return std::chrono::duration_cast<Ticks>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// The number in the item's _rid.
std::optional<double> item_number(const Value& item) {
  const Value text = item.find("_rid");
  if (!text.is_string()) return std::nullopt;
  const auto rid = parse_rid(text.text());
  if (!rid || rid->kind != RidKind::item) return std::nullopt;
  return static_cast<double>(rid->item_number());
}

struct Understood {
  std::shared_ptr<const query::Query> query;
  std::shared_ptr<const Error> refused;
};

// Of short texts, so that what a thread remembers is bounded.
constexpr size_t kRememberedQueries = 64;
constexpr size_t kRememberedText = 2048;

std::expected<Understood, query::SyntaxError> parsed_query(const std::string& text) {
  thread_local std::unordered_map<std::string, Understood> remembered;
  if (auto known = remembered.find(text); known != remembered.end()) return known->second;
  auto parsed = query::parse_query(text);
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  Understood made{.query = std::make_shared<const query::Query>(std::move(*parsed)), .refused = {}};
  if (auto refused = refused_by_service(*made.query)) {
    made.refused = std::make_shared<const Error>(std::move(*refused));
  }
  if (text.size() <= kRememberedText) {
    if (remembered.size() == kRememberedQueries) remembered.clear();
    remembered.emplace(text, made);
  }
  return made;
}

// {"value":[…],"rid":…,"exclude":true}: a value, [] for undefined, or for an array or an object
// {"type":…,"low":…,"high":…}, a hash that says nothing about the order here. The row that `rid`
// names is found by the client.
Result<ResumeFilter> read_resume_filter(const Node& node) {
  const Node* values = node.find("value");
  if (values == nullptr || values->type != Type::array) {
    return fail(Code::invalid, "\"resumeFilter\" has no list of values in \"value\"");
  }
  ResumeFilter resume;
  for (const Node* one = values->first; one != nullptr; one = one->next) {
    Value& value = resume.values.emplace_back();
    if (one->type == Type::array && one->first == nullptr) continue;
    if (one->type == Type::array || one->type == Type::object) {
      return fail(Code::invalid,
                  "\"resumeFilter\" names an array or an object by its hash, and rows are not "
                  "ordered by hashes: start the query again");
    }
    auto copy = value::JsonDocument::parse(one->raw);
    if (!copy) return pass(copy.error());
    value = Value::make_document(std::move(*copy));
  }
  const Node* exclude = node.find("exclude");
  resume.exclude = exclude != nullptr && exclude->type == Type::boolean && exclude->boolean;
  return resume;
}

Status read_json(std::string_view body, QueryRequest& request) {
  auto document = value::JsonDocument::parse(body);
  if (!document) {
    return fail(Code::invalid, "the body is not a JSON query: " + document.error().message);
  }
  const Node* text = document->root().find("query");
  if (text == nullptr || text->type != Type::string) {
    return fail(
        Code::invalid,
        "the body is to be {\"query\":\"SELECT …\",\"parameters\":[…]}, and has no \"query\"");
  }
  request.text = text->text;
  const Node* parameters = document->root().find("parameters");
  if (parameters != nullptr && parameters->type != Type::null) {
    for (const Node* one = parameters->first; one != nullptr; one = one->next) {
      const Node* name = one->find("name");
      const Node* given = one->find("value");
      if (name == nullptr || name->type != Type::string || !name->text.starts_with('@')) {
        return fail(Code::invalid,
                    fmt::format("the parameter {} is to be {{\"name\":\"@name\",\"value\":…}}",
                                one->raw.substr(0, 100)));
      }
      Value& parameter = request.parameters[std::string(name->text)];
      if (given != nullptr) {
        auto copy = value::JsonDocument::parse(given->raw);
        if (!copy) return pass(copy.error());
        parameter = Value::make_document(std::move(*copy));
      }
    }
  }
  const Node* resume = document->root().find("resumeFilter");
  if (resume != nullptr && resume->type == Type::object) {
    auto filter = read_resume_filter(*resume);
    if (!filter) return pass(filter.error());
    request.resume = std::move(*filter);
  }
  return {};
}

}  // namespace

uint64_t QueryRequest::identity() const {
  if (parsed->order_by.empty() || parsed->order_by_rank) return hash;
  query::Query unfiltered = parsed->clone();
  unfiltered.where = nullptr;
  std::string bound = query::to_text(unfiltered);
  for (const auto& [name, given] : parameters) {
    bound += '\n';
    bound += name;
    bound += '=';
    if (!given.is_undefined()) given.append_json(bound);
  }
  return load_u64_be(murmur3_x64_128(bound, 0).data());
}

Result<QueryRequest> parse_query_request(std::string_view body) {
  QueryRequest request;
  const auto hash = murmur3_x64_128(body, 0);
  request.hash = load_u64_be(hash.data());
  const size_t start = body.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || body[start] == '{') {
    if (auto read = read_json(body, request); !read) return pass(read.error());
  } else {
    request.text = body;
  }
  auto parsed = parsed_query(request.text);
  if (!parsed) return pass(query_error(parsed.error()));
  request.parsed = std::move(parsed->query);
  request.refused = std::move(parsed->refused);
  return request;
}

void prepare(query::Context& context) {
  context.now_ticks = ticks_now();
  context.item_number = item_number;
  // Asking the machine for chance is a tenth of a short query: each thread does so once.
  thread_local std::mt19937_64 seeds{std::random_device{}()};
  context.random.seed(seeds());
}

}  // namespace orrery::cosmos
