// See answer_transaction.h.
#include "api/cosmos/script/answer_transaction.h"

#include <utility>
#include <variant>

#include "api/cosmos/script/script_answer.h"

namespace orrery::cosmos {
namespace {

void answer_stop(Call& call, const ScriptStop& stop) {
  if (const auto* refusal = std::get_if<Refusal>(&stop)) return call.fail(*refusal);
  const auto& [script, failed] = std::get<ScriptFailure>(stop);
  ErrorReply reply = script_error(failed, script, call.activity_id);
  if (reply.retry_after_ms != 0) {
    call.response.add("x-ms-retry-after-ms", std::to_string(reply.retry_after_ms));
  }
  call.fail_with(reply.status, reply.substatus, std::move(reply.body));
}

}  // namespace

bool begin_answer(Call& call, const cluster::Routing& routing, const ScriptTransaction& transaction,
                  const std::expected<void, ScriptStop>& ran) {
  if (transaction.has_begun()) call.receipt(transaction.receipt(), routing);
  if (is_true(call.headers.script_logging) && !transaction.log().empty()) {
    call.response.add("x-ms-documentdb-script-log-results", log_header(transaction.log()));
  }
  if (!ran) answer_stop(call, ran.error());
  return ran.has_value();
}

}  // namespace orrery::cosmos
