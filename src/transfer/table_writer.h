// Writes entities into a table: in transactions of one PartitionKey each, of up to 100 entities.
//
// A transaction is done whole or not at all. One that is refused is sent again entity by entity,
// which tells which of them is refused. The client waits for and repeats what is throttled; fewer
// transactions are under way then. The rest is as in group_writer.h; there is one lane.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/client.h"
#include "transfer/group_writer.h"

namespace orrery::transfer {

class TableWriter final : public GroupWriter {
 public:
  // The client's endpoint is one of tables.
  TableWriter(client::Client& client, std::string table, WriteMode mode, size_t requests_max,
              Done done);

  Status take(std::string_view record, std::string_view id_seed, uint64_t ticket) override;

 private:
  void route(PendingWrite operation) override;
  client::Request request_of(const Group& group) const override;
  void answer(Group group, client::Response response) override;
  client::Request read_request(const PendingWrite& operation) const override;
  bool says_the_same(std::string_view theirs, std::string_view ours) const override;
  bool moves_on(PendingWrite& operation, int status) override;

  const client::Endpoint& endpoint_;
  const std::string table_;
  uint64_t throttled_ = 0;  // requests of the client, as far as they are known here
};

MakeWriter into_table(client::Client& client, std::string table, WriteMode mode,
                      size_t requests_max);

}  // namespace orrery::transfer
