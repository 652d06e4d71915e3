// What nodes say to one another about items of one partition, for faces whose requests concern
// several: see items_anywhere.h. A write travels as plain values; what a face adds to it (schema,
// finisher, terms) is made again by the same face where it is run.
//
// Bytes as base/message_fields.h writes them. Whatever bytes come, decoding gives a message or
// Code::invalid.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/replies.h"
#include "partition/note.h"
#include "partition/partition.h"

namespace orrery::face {

// Whether nothing of it would be lost on the way.
bool can_travel(const partition::Write& write);

struct WriteQuestion {
  uint32_t container = 0;
  std::vector<partition::Write> writes;  // of one placement key
  bool wants_items = false;              // as they are stored
};
std::string encode_write_question(const WriteQuestion& question);
Result<WriteQuestion> decode_write_question(std::string_view bytes);
std::string encode_write_reply(const cluster::WriteReply& reply, bool wants_items);
Result<cluster::WriteReply> decode_write_reply(std::string_view bytes);

// What is asked of one partition besides. Which of its members count is up to what is asked.
struct PartitionQuestion {
  uint32_t container = 0;
  std::string placement = {};  // of the partition: a key of it
  std::string row = {};
  std::string min = {};
  std::string max = {};
  std::string owner = {};  // of notes
  uint64_t number = 0;
  cluster::ChangesFrom from = {};
  uint64_t most = 0;
};
std::string encode_question(const PartitionQuestion& question);
Result<PartitionQuestion> decode_question(std::string_view bytes);

std::string encode_read(const cluster::ReadReply& reply);
Result<cluster::ReadReply> decode_read(std::string_view bytes);
std::string encode_notes(const std::vector<partition::KeptNote>& notes);
Result<std::vector<partition::KeptNote>> decode_notes(std::string_view bytes);
std::string encode_history(const cluster::HistoryReply& reply);
Result<cluster::HistoryReply> decode_history(std::string_view bytes);

struct PartitionUsage {
  uint64_t items = 0;
  uint64_t bytes = 0;
  uint64_t index_bytes = 0;
  bool is_indexed = true;  // all items have the terms of the newest index rules
};
std::string encode_usage(const PartitionUsage& usage);
Result<PartitionUsage> decode_usage(std::string_view bytes);

std::string encode_error(const Error& error);
// What it says, or Code::internal when it says nothing.
Error decode_error(std::string_view bytes);

}  // namespace orrery::face
