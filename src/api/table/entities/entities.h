// Entities: one by its keys, inserts, and what an answer says of one.
#pragma once

#include <string>

#include "api/table/entities/entity_write.h"
#include "api/table/handler_context.h"

namespace orrery::table {

// t, t(): inserts and queries.
void handle_entities(const HandlerContext& context, CallPtr call);
// t(PartitionKey='…',RowKey='…')
void handle_entity(const HandlerContext& context, CallPtr call);

// Header lines of the answer to a change, and whether its body is to be sent back.
// http://host/account/table(PartitionKey='…',RowKey='…')
void append_link(std::string& out, std::string_view base, std::string_view table,
                 const EntityChange& change);

struct ChangeAnswer {
  int status = 204;
  std::string headers;
  std::string body;  // JSON; empty: none
};
TableResult<ChangeAnswer> answer_of(const EntityChange& change, std::string_view stored,
                                    Prefer prefer, Metadata level, const Call& call,
                                    std::string_view table);

// The table of the call's address; null when it was answered that there is none.
cluster::RoutingPtr table_of(const HandlerContext& context, CallPtr& call);

}  // namespace orrery::table
