// Tables of an account: the requests of their protocol, as far as moving entities needs them.
//
// The endpoint has the name of the account (Endpoint::table_account), which is in every path and is
// what signatures are made with.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/client.h"
#include "client/endpoint.h"
#include "client/message.h"

namespace orrery::client {

// `path` comes after the account, percent-encoded.
Request table_request(const Endpoint& endpoint, std::string_view method, std::string_view path);
// The path of an entity: orders(PartitionKey='…',RowKey='…').
std::string entity_path(std::string_view table, std::string_view partition_key,
                        std::string_view row_key);

// Blocking. Code::not_found when there is no such table.
Status check_table(Client& client, const std::string& table);
// Blocking. Nothing happens where it is there already. `throughput` is "1000" or "auto:4000";
// empty: as the server decides.
Status ensure_table(Client& client, const std::string& table, std::string_view throughput);

// Operations of one partition that are done all or none.
Request transaction_request(const Endpoint& endpoint, std::span<const std::string_view> parts);
// One operation as a part of it, with where in it the entity is.
struct TransactionPart {
  std::string text;
  size_t body_at = 0;
};
TransactionPart insert_part(const Endpoint& endpoint, std::string_view table,
                            std::string_view entity);
TransactionPart upsert_part(const Endpoint& endpoint, std::string_view table,
                            std::string_view partition_key, std::string_view row_key,
                            std::string_view entity);
// What an answer with 202 says. Nothing: all `count` operations are done.
struct FailedTransaction {
  int status = 0;
  std::string message;  // without the index before it
};
Result<std::optional<FailedTransaction>> transaction_failure(const Response& response,
                                                             size_t count);

}  // namespace orrery::client
