// See table_writer.h.
#include "transfer/table_writer.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "client/table.h"
#include "transfer/entity.h"

namespace orrery::transfer {

TableWriter::TableWriter(client::Client& client, std::string table, WriteMode mode,
                         size_t requests_max, Done done)
    : GroupWriter(client, mode, requests_max, std::move(done)),
      endpoint_(client.endpoint()),
      table_(std::move(table)) {}

Status TableWriter::take(std::string_view record, std::string_view /*id_seed*/, uint64_t ticket) {
  auto entity = prepare_entity(record);
  if (!entity) return pass(entity.error());
  client::TransactionPart part = mode() == WriteMode::upsert
                                     ? client::upsert_part(endpoint_, table_, entity->partition_key,
                                                           entity->row_key, entity->body)
                                     : client::insert_part(endpoint_, table_, entity->body);
  PendingWrite operation;
  operation.id = std::move(entity->row_key);
  operation.key = std::move(entity->partition_key);
  operation.text = std::move(part.text);
  operation.body_at = part.body_at;
  operation.body_size = entity->body.size();
  operation.ticket = ticket;
  add(std::move(operation));
  return {};
}

void TableWriter::route(PendingWrite operation) {
  std::string partition = operation.key;
  wait_in({}, std::move(partition), std::move(operation));
}

client::Request TableWriter::request_of(const Group& group) const {
  std::vector<std::string_view> parts;
  parts.reserve(group.operations.size());
  for (const PendingWrite& operation : group.operations) parts.push_back(operation.text);
  return client::transaction_request(endpoint_, parts);
}

void TableWriter::answer(Group group, client::Response response) {
  const uint64_t throttled = client().counts().throttled;
  const bool was_throttled = throttled > std::exchange(throttled_, throttled);
  client::FailedTransaction failed{.status = response.status, .message = {}};
  if (response.is_success()) {
    auto failure = client::transaction_failure(response, group.operations.size());
    if (!failure) return stop(failure.error());
    if (!*failure) {
      for (const PendingWrite& operation : group.operations)
        finish(operation, Outcome::written, {});
      if (!was_throttled) return speed_up(group.lane);
      return slow_down(group.lane, group.operations.size(), 0);
    }
    failed = std::move(**failure);
  } else {
    failed.message = response.message();
  }
  // Not now: the same again, in a while.
  const bool may_pass = failed.status >= 500 || failed.status == 408;
  // One of the entities is refused, with all the others.
  const bool is_of_one = failed.status == 409 || failed.status == 400 || failed.status == 413;
  if (is_of_one && group.operations.size() > 1) return each_alone(std::move(group));
  if (!may_pass && !is_of_one) {
    return stop(
        {Code::invalid, fmt::format("{} answered {} to a transaction of table {}: {}",
                                    endpoint_.where(), failed.status, table_, failed.message)});
  }
  for (PendingWrite& operation : group.operations) {
    result(std::move(operation), failed.status, 0, failed.message);
  }
}

client::Request TableWriter::read_request(const PendingWrite& operation) const {
  return client::table_request(endpoint_, "GET",
                               client::entity_path(table_, operation.key, operation.id));
}

bool TableWriter::says_the_same(std::string_view theirs, std::string_view ours) const {
  return entities_are_equal(theirs, ours);
}

bool TableWriter::moves_on(PendingWrite& /*operation*/, int /*status*/) {
  return false;  // the server finds the partition
}

MakeWriter into_table(client::Client& client, std::string table, WriteMode mode,
                      size_t requests_max) {
  return [&client, table = std::move(table), mode,
          requests_max](GroupWriter::Done done) -> Result<std::unique_ptr<GroupWriter>> {
    return std::make_unique<TableWriter>(client, table, mode, requests_max, std::move(done));
  };
}

}  // namespace orrery::transfer
