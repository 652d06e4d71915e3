// Tables: list, read, create, delete; and their access policies.
#pragma once

#include "api/table/handler_context.h"

namespace orrery::table {

void handle_tables(const HandlerContext& context, CallPtr call);           // Tables
void handle_table(const HandlerContext& context, CallPtr call);            // Tables('t')
void handle_access_policies(const HandlerContext& context, CallPtr call);  // t?comp=acl

}  // namespace orrery::table
