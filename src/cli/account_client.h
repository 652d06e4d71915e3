// The account of a running server, for the commands that read and change what is in it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/admin_client.h"
#include "client/client.h"
#include "client/message.h"
#include "client/resources.h"
#include "value/json.h"

namespace orrery::cli {

Result<std::unique_ptr<client::Client>> open_account(const ServerAddress& server);

// The document that a request is answered with; any other answer is an error that names the server.
Result<value::JsonDocument> ask(client::Client& client, client::Request request);
// A page of operators (/admin/…), as a document.
Result<value::JsonDocument> ask_admin(const ServerAddress& server, std::string_view target);

// Pages of a query over all of a container, whose rows the server merges.
class QueryPages {
 public:
  struct Query {
    client::ContainerName name;
    std::string text;
    std::string parameters_json = "[]";
    std::string key_json;           // of one partition key: ["Berlin"]; empty: all of them
    uint32_t rows_of_page = 1'000;  // at most
  };
  QueryPages(client::Client& client, Query query) : client_(client), query_(std::move(query)) {}

  bool at_end() const { return at_end_; }
  // The next page. Its rows are the array Documents.
  Result<value::JsonDocument> next();
  double charge() const { return charge_; }

 private:
  client::Client& client_;
  Query query_;
  std::string continuation_;
  bool at_end_ = false;
  double charge_ = 0;
};

// The rows of such a page.
const value::Node* rows_of(const value::JsonDocument& page);

}  // namespace orrery::cli
