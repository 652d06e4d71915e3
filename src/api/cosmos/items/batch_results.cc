// See batch_results.h.
#include "api/cosmos/items/batch_results.h"

#include <utility>

#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/hybrid_batch.h"

namespace orrery::cosmos {
namespace {

// Whether the client said that it has the item in this state. Clients differ in which of the two
// conditions they send with a read.
bool is_known(const ItemRequest& read, const partition::Version& version) {
  const std::string_view condition =
      read.if_none_match.empty() ? read.if_match : read.if_none_match;
  if (condition.empty()) return false;
  auto known = parse_etag_condition(condition);
  return !known || *known == version;
}

}  // namespace

bool is_read(const BatchOperation& operation) {
  return operation.request.verb == ItemVerb::read;
}

BatchResult done_result(const BatchOperation& operation, bool minimal, partition::Written& written,
                        double charge) {
  BatchResult result;
  result.status = success_status(operation.request.verb, written.replaced);
  result.charge = charge;
  if (operation.request.verb == ItemVerb::remove) return result;
  result.version = written.version;
  if (is_read(operation) && is_known(operation.request, written.version)) {
    result.status = 304;
  } else if (is_read(operation) || !(minimal || operation.minimal)) {
    result.body = std::move(written.item.body);
  }
  return result;
}

void answer_results(Call& call, BatchForm form, const std::vector<BatchResult>& results) {
  if (form == BatchForm::hybrid_row) {
    return call.reply_bytes(batch_status(results), hybrid_results(results));
  }
  call.reply(batch_status(results), batch_json(results));
}

}  // namespace orrery::cosmos
