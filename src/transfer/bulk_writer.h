// Writes items into a container: in bulk requests of one partition key range each, in which each
// operation is on its own. Operations of a range that was split are sent after the ranges were read
// again. The rest is as in group_writer.h; a lane is a range.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "client/resources.h"
#include "transfer/group_writer.h"
#include "transfer/item.h"

namespace orrery::transfer {

class BulkWriter final : public GroupWriter {
 public:
  static Result<std::unique_ptr<BulkWriter>> open(client::Client& client,
                                                  client::ContainerInfo container, WriteMode mode,
                                                  size_t requests_max, Done done);

  Status take(std::string_view record, std::string_view id_seed, uint64_t ticket) override;
  void put(PreparedItem item, uint64_t ticket);
  void remove(std::string id, std::string key_json, std::string key_hex, uint64_t ticket);

 private:
  BulkWriter(client::Client& client, client::ContainerInfo container,
             std::vector<client::KeyRange> ranges, WriteMode mode, size_t requests_max, Done done);
  void route(PendingWrite operation) override;
  client::Request request_of(const Group& group) const override;
  void answer(Group group, client::Response response) override;
  client::Request read_request(const PendingWrite& operation) const override;
  bool says_the_same(std::string_view theirs, std::string_view ours) const override;
  bool moves_on(PendingWrite& operation, int status) override;
  void before_turn() override;
  void results(Group group, const client::Response& response);
  void read_ranges_again(std::vector<PendingWrite> unrouted);

  const client::ContainerInfo container_;
  std::vector<client::KeyRange> ranges_;
  bool ranges_are_old_ = false;
  bool is_asking_ranges_ = false;
  int64_t ask_ranges_ms_ = 0;
  std::vector<PendingWrite> unrouted_;  // while the ranges are read
};

// Both must outlive the writer that it makes.
MakeWriter bulk_into(client::Client& client, client::ContainerInfo container, WriteMode mode,
                     size_t requests_max);

}  // namespace orrery::transfer
