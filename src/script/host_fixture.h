// For tests: a host, and a container that is a map from id to JSON.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/limits.h"
#include "script/host.h"
#include "value/json.h"

namespace orrery::script {

// Knows just enough of documents: `id`, and pages in the order of ids.
class MapOperations final : public Operations {
 public:
  Reply perform(const ItemOperation& operation) override {
    seen.push_back(operation);
    switch (operation.kind) {
      case OperationKind::create:
        return write(operation, documents.contains(id_of(operation.body)) ? 409 : 201);
      case OperationKind::upsert:
        return write(operation, documents.contains(id_of(operation.body)) ? 200 : 201);
      case OperationKind::replace:
        return write(operation, documents.contains(operation.document) ? 200 : 404);
      case OperationKind::read:
        if (!documents.contains(operation.document)) return error(404);
        if (!operation.condition.empty()) return Reply{.status = 304};
        return Reply{.status = 200, .body = documents[operation.document]};
      case OperationKind::remove:
        return documents.erase(operation.document) == 0 ? error(404) : Reply{.status = 204};
      case OperationKind::query:
      case OperationKind::read_feed:
        return page(operation);
    }
    return error(400);
  }

  std::map<std::string, std::string> documents;
  std::vector<ItemOperation> seen;

 private:
  static Reply error(uint16_t status) {
    return Reply{.status = status,
                 .body = R"({"code":"X","message":"status )" + std::to_string(status) + "\"}"};
  }
  static std::string id_of(const std::string& body) {
    const auto document = value::JsonDocument::parse(body);
    return document ? std::string(document->root().find("id")->text) : "";
  }
  Reply write(const ItemOperation& operation, uint16_t status) {
    if (status >= 400) return error(status);
    documents[id_of(operation.body)] = operation.body;
    return Reply{.status = status, .body = operation.body};
  }
  Reply page(const ItemOperation& operation) {
    Reply reply{.status = 200, .body = "["};
    int32_t count = 0;
    for (auto it = documents.upper_bound(operation.continuation); it != documents.end(); ++it) {
      if (count++ == operation.page_size) {
        reply.continuation = std::prev(it)->first;
        break;
      }
      reply.body += (count > 1 ? "," : "") + it->second;
    }
    reply.body += "]";
    return reply;
  }
};

class HostTest : public testing::Test {
 protected:
  static Limits small() {
    Limits limits;
    limits.script_workers = 2;
    return limits;
  }

  static Execution make(std::string source, std::string arguments = "") {
    return Execution{.name = "test",
                     .source = std::move(source),
                     .arguments = std::move(arguments),
                     .self_link = "dbs/aa==/colls/bb=/",
                     .alt_link = "dbs/d/colls/c"};
  }
  Outcome<Done> run(std::string source, std::string arguments = "") {
    return host.run(make(std::move(source), std::move(arguments)), operations);
  }
  // The response's body, or what failed.
  std::string body(std::string source, std::string arguments = "") {
    auto outcome = run(std::move(source), std::move(arguments));
    if (outcome) return outcome->response_body;
    return std::string(to_string(outcome.error().failure)) + ": " + outcome.error().message;
  }
  // The function's statements; `r` is the response.
  std::string does(const std::string& statements) {
    return body("function f() { const r = getContext().getResponse(); " + statements + " }");
  }

  Limits limits = small();
  Host host{limits};
  MapOperations operations;
};

}  // namespace orrery::script
