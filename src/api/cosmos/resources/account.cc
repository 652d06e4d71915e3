// See account.h.
#include "api/cosmos/resources/account.h"

#include <fmt/format.h>

#include "api/cosmos/resources/definition_fields.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

// What the query engine of this server can do, in the words of the clients' own query engines.
constexpr std::string_view kQueryEngineConfiguration =
    R"({"maxSqlQueryInputLength":262144,"maxJoinsPerSqlQuery":5,"maxLogicalAndPerSqlQuery":500,)"
    R"("maxLogicalOrPerSqlQuery":500,"maxUdfRefPerSqlQuery":10,"maxInExpressionItemsCount":16000,)"
    R"("queryMaxInMemorySortDocumentCount":500,"maxQueryRequestTimeoutFraction":0.9,)"
    R"("sqlAllowNonFiniteNumbers":false,"sqlAllowAggregateFunctions":true,)"
    R"("sqlAllowSubQuery":true,"sqlAllowScalarSubQuery":true,"allowNewKeywords":true,)"
    R"("sqlAllowLike":true,"sqlAllowGroupByClause":true,"maxSpatialQueryCells":12,)"
    R"("spatialMaxGeometryPointCount":256,"sqlDisableQueryILOptimization":false,)"
    R"("sqlDisableFilterPlanOptimization":false,"sqlAllowTop":true,"enableSpatialIndexing":true})";

}  // namespace

void handle_account(const HandlerContext& context, CallPtr call) {
  call->operation = Operation::account;
  if (call->method != "GET") return call->method_not_allowed();
  // The client goes on with the endpoints that it finds here: they must be reachable from where it
  // is, so they name the host that it used itself.
  const std::string_view host = call->headers.host.empty() ? "localhost" : call->headers.host;
  const std::string location = fmt::format(
      R"([{{"name":{},"databaseAccountEndpoint":{}}}])", quoted(context.account.region()),
      quoted(fmt::format("{}://{}/", call->tls ? "https" : "http", host)));
  std::string json = fmt::format(
      R"({{"_self":"","id":{},"_rid":{},"media":"//media/","addresses":"//addresses/",)"
      R"("_dbs":"//dbs/","writableLocations":{},"readableLocations":{},)"
      R"("enableMultipleWriteLocations":false,)"
      R"("userReplicationPolicy":{{"asyncReplication":false,"minReplicaSetSize":1,)"
      R"("maxReplicasetSize":1}},"userConsistencyPolicy":{{"defaultConsistencyLevel":"{}"}},)"
      R"("systemReplicationPolicy":{{"minReplicaSetSize":1,"maxReplicasetSize":1}},)"
      R"("readPolicy":{{"primaryReadCoefficient":1,"secondaryReadCoefficient":1}},)"
      R"("queryEngineConfiguration":{}}})",
      quoted(context.account.name()), quoted(context.account.name()), location, location,
      to_string(context.options.consistency), quoted(kQueryEngineConfiguration));
  call->charge(0);
  call->reply(200, std::move(json));
}

}  // namespace orrery::cosmos
