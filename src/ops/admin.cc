// What an operator asks of a running server: see pages.h.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "base/survive.h"
#include "face/http_error.h"
#include "net/loopback.h"
#include "ops/pages.h"
#include "value/json.h"

namespace orrery::ops {
namespace {

using value::Node;
using value::Type;

constexpr std::string_view kRunPath = "/admin/run";

// Passes on what a face answers.
class AnswerOfFace final : public net::ResponseSink {
 public:
  explicit AnswerOfFace(PageRequestPtr call) : call_(std::move(call)) {}
  void send(net::Response&& response) noexcept override {
    survive("passing on the answer of a face", [&] { call_->reply(std::move(response)); });
  }
  // The request answers when it is destroyed.
  void abandon() noexcept override {}
  bool is_gone() const override { return call_->client_is_gone(); }

 private:
  const PageRequestPtr call_;
};

std::string split_json(const cluster::SplitReport& report) {
  return fmt::format(R"({{"parent":{},"children":[{},{}],"pauseMs":{},"totalMs":{}}})",
                     report.parent, report.left, report.right,
                     static_cast<double>(report.pause_us) / 1000,
                     static_cast<double>(report.total_us) / 1000);
}

std::string merge_json(const cluster::MergeReport& report) {
  return fmt::format(R"({{"parents":[{},{}],"child":{},"pauseMs":{},"totalMs":{}}})", report.left,
                     report.right, report.child, static_cast<double>(report.pause_us) / 1000,
                     static_cast<double>(report.total_us) / 1000);
}

bool is_range(const Node* node) {
  return node != nullptr && node->type == Type::number && node->number >= 0 &&
         node->number <= UINT32_MAX;
}

}  // namespace

void Pages::admin(PageRequestPtr call) {
  const int64_t now_s = clock_.now_s();
  auto access = signatures_.verify(account_.keys(), call->signature, now_s);
  if (!access) return call->fail(access.error());
  const bool may_write = *access == account::Access::read_write;
  const bool is_text = call->path == kRunPath;
  // Whoever may read all items may know how they are spread.
  if (!may_write && call->method != "GET" && !is_text) {
    return call->fail({.code = Code::forbidden,
                       .message = fmt::format("this key may only read, and {} {} administrates: "
                                              "use a read-write key",
                                              call->method, call->path)});
  }
  if (auto admitted = signatures_.admit(call->signature, call->body, now_s); !admitted) {
    return call->fail(admitted.error());
  }
  if (is_text) return run_text(std::move(call), may_write);
  struct Known {
    std::string_view path;
    std::string_view method;
    Job job;
  };
  for (const Known& known :
       {Known{"/admin/split", "POST", &Pages::split}, Known{"/admin/merge", "POST", &Pages::merge},
        Known{"/admin/partitions", "GET", &Pages::partitions},
        Known{"/admin/containers", "GET", &Pages::containers},
        Known{"/admin/history", "GET", &Pages::history},
        Known{"/admin/keys/regenerate", "POST", &Pages::regenerate_key},
        Known{"/admin/export", "POST", &Pages::export_files},
        Known{"/admin/cluster", "GET", &Pages::cluster},
        Known{"/admin/cluster/drain", "POST", &Pages::drain},
        Known{"/admin/cluster/move", "POST", &Pages::move_partition},
        Known{"/admin/cluster/rebalance", "POST", &Pages::rebalance},
        Known{"/admin/cluster/replicas", "POST", &Pages::set_read_replicas},
        Known{"/admin/workload", "GET", &Pages::workload},
        Known{"/admin/advise", "GET", &Pages::advise}}) {
    if (call->path != known.path) continue;
    if (call->method != known.method) return call->method_not_allowed();
    return later(std::move(call), known.job);
  }
  call->fail(
      {.code = Code::invalid,
       .message = fmt::format(
           "there is no {} {}: there are GET /admin/containers, GET "
           "/admin/partitions, GET /admin/history, GET /admin/workload, "
           "GET /admin/advise, POST /admin/run, POST /admin/split, POST "
           "/admin/merge, POST /admin/export, POST /admin/keys/regenerate and /admin/cluster",
           call->method, call->path)});
}

void Pages::later(PageRequestPtr call, Job job) {
  lanes_.submit(face::Lane::admin, 0,
                std::make_unique<face::WaitingCall<PageRequest>>(
                    std::move(call),
                    [this, job](PageRequestPtr running) { (this->*job)(std::move(running)); }));
}

void Pages::run_text(PageRequestPtr call, bool may_write) {
  if (call->method != "POST") return call->method_not_allowed();
  auto document = value::JsonDocument::parse(call->body);
  if (!document) return call->fail(document.error());
  const auto member = [&](std::string_view name) {
    const Node* found = document->root().find(name);
    return found != nullptr && found->type == Type::string ? std::string(found->text)
                                                           : std::string();
  };
  const std::string name = member("face");
  face::TextRequest request{.database = member("database"),
                            .container = member("container"),
                            .text = member("text"),
                            .bindings = {},
                            .may_write = may_write};
  if (name.empty() || request.database.empty() || request.container.empty()) {
    return call->fail({.code = Code::invalid,
                       .message = "the body is to be {\"face\":NAME,\"database\":NAME,"
                                  "\"container\":NAME,\"text\":TEXT}, and \"bindings\":{…} if the "
                                  "text has names for values"});
  }
  const Node* bindings = document->root().find("bindings");
  if (bindings != nullptr && bindings->type != Type::null) {
    if (bindings->type != Type::object) {
      return call->fail(
          {.code = Code::invalid, .message = "bindings is to be an object, as {\"name\":\"Ada\"}"});
    }
    request.bindings = bindings->raw;
  }
  const auto found =
      std::ranges::find(text_runners_, name, [](const auto& one) { return one.first; });
  if (found == text_runners_.end()) {
    return call->fail({.code = Code::not_found,
                       .message = fmt::format("this server has no face '{}' that runs texts: it "
                                              "may not have been started with --{}-port",
                                              name, name)});
  }
  found->second->run_text(std::move(request),
                          net::Responder(std::make_shared<AnswerOfFace>(std::move(call))));
}

// The old key is refused from the answer on.
void Pages::regenerate_key(PageRequestPtr call) {
  if (!call->tls && !net::is_loopback(call->peer)) {
    return call->fail({.code = Code::forbidden,
                       .message = "the answer is a key, and http would show it to everybody on the "
                                  "way: use https"});
  }
  auto document = value::JsonDocument::parse(call->body);
  if (!document) return call->fail(document.error());
  const Node* key = document->root().find("key");
  auto name = account::parse_key_name(key != nullptr && key->type == Type::string ? key->text : "");
  if (!name) return call->fail(name.error());
  auto made = account_.regenerate(*name);
  if (!made) return call->fail(made.error());
  call->reply_json(
      fmt::format(R"({{"key":{},"value":{}}})", quoted(to_string(*name)), quoted(*made)));
}

// The files have everything that is in the account, but its keys.
void Pages::export_files(PageRequestPtr call) {
  auto answer = engine_.export_files(call->body);
  if (!answer) return call->fail(answer.error());
  call->reply(200, "application/octet-stream", std::move(*answer));
}

void Pages::split(PageRequestPtr call) {
  auto document = value::JsonDocument::parse(call->body);
  if (!document) return call->fail(document.error());
  const Node* database = document->root().find("database");
  const Node* container = document->root().find("container");
  const Node* range = document->root().find("range");
  const Node* face = document->root().find("face");
  if (database == nullptr || database->type != Type::string || container == nullptr ||
      container->type != Type::string || (face != nullptr && face->type != Type::string) ||
      (range != nullptr && !is_range(range))) {
    return call->fail({.code = Code::invalid,
                       .message = "the body is to be {\"database\":NAME,\"container\":NAME} "
                                  "with, if wanted, \"range\":NUMBER and \"face\":NAME"});
  }
  cluster::RoutingPtr routing =
      find(face == nullptr ? "" : face->text, database->text, container->text);
  if (!routing) return call->fail(no_such_container(database->text, container->text));
  std::optional<uint32_t> id;
  if (range != nullptr) id = static_cast<uint32_t>(range->number);
  // Splits take turns, and no thread of ours waits for them.
  PageRequest& asked = *call;
  engine_.split_later({.container = routing->container->number,
                       .range = id,
                       .is_wanted = [&asked] { return !asked.client_is_gone(); }},
                      [call = std::move(call)](Result<cluster::SplitReport> report) {
                        if (!report) return call->fail(report.error());
                        call->reply_json(split_json(*report));
                      });
}

void Pages::merge(PageRequestPtr call) {
  auto document = value::JsonDocument::parse(call->body);
  if (!document) return call->fail(document.error());
  const Node* database = document->root().find("database");
  const Node* container = document->root().find("container");
  const Node* ranges = document->root().find("ranges");
  const Node* face = document->root().find("face");
  if (database == nullptr || database->type != Type::string || container == nullptr ||
      container->type != Type::string || (face != nullptr && face->type != Type::string) ||
      ranges == nullptr || ranges->type != Type::array || ranges->count != 2 ||
      !is_range(ranges->first) || !is_range(ranges->first->next)) {
    return call->fail({.code = Code::invalid,
                       .message = "the body is to be {\"database\":NAME,\"container\":NAME,"
                                  "\"ranges\":[NUMBER,NUMBER]} with, if wanted, \"face\":NAME"});
  }
  cluster::RoutingPtr routing =
      find(face == nullptr ? "" : face->text, database->text, container->text);
  if (!routing) return call->fail(no_such_container(database->text, container->text));
  PageRequest& asked = *call;
  engine_.merge_later({.container = routing->container->number,
                       .first = static_cast<uint32_t>(ranges->first->number),
                       .second = static_cast<uint32_t>(ranges->first->next->number),
                       .is_wanted = [&asked] { return !asked.client_is_gone(); }},
                      [call = std::move(call)](Result<cluster::MergeReport> report) {
                        if (!report) return call->fail(report.error());
                        call->reply_json(merge_json(*report));
                      });
}

cluster::RoutingPtr Pages::find(std::string_view face, std::string_view database,
                                std::string_view container) const {
  if (!face.empty()) return engine_.find({.face = face, .name = database}, container);
  if (auto routing = engine_.find({.face = main_face_, .name = database}, container)) {
    return routing;
  }
  // As the main face shows what belongs to another: FACE:DATABASE.
  const size_t colon = database.find(':');
  if (colon == std::string_view::npos) return nullptr;
  return engine_.find({.face = database.substr(0, colon), .name = database.substr(colon + 1)},
                      container);
}

}  // namespace orrery::ops
