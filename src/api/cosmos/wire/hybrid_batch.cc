// See hybrid_batch.h.
#include "api/cosmos/wire/hybrid_batch.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "api/cosmos/wire/etag.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

constexpr char kRowVersion = '\x81';
constexpr uint32_t kSegmentSchema = 2147473648;
constexpr uint32_t kRecordSchema = 2147473649;
constexpr uint32_t kOperationSchema = 2145473648;
constexpr uint32_t kResultSchema = 2145473649;
constexpr uint32_t kDocumentType = 2;  // resourceType of items
constexpr size_t kSegmentBytes = 10;   // of a segment's row without its optional fields

enum TypeCode : uint8_t {
  type_false = 2,
  type_true = 3,
  type_int32 = 7,
  type_uint32 = 11,
  type_float64 = 16,
  type_utf8 = 20
};

// The operation's fields by their number.
enum Field : uint8_t {
  indexing_directive = 8,
  if_match,
  if_none_match,
  time_to_live,
  minimal_return
};
constexpr std::array<std::string_view, 12> kPaths = {"operationType",
                                                     "resourceType",
                                                     "partitionKey",
                                                     "effectivePartitionKey",
                                                     "id",
                                                     "binaryId",
                                                     "resourceBody",
                                                     "indexingDirective",
                                                     "ifMatch",
                                                     "ifNoneMatch",
                                                     "timeToLiveInSeconds",
                                                     "minimalReturnPreference"};
constexpr uint64_t kPathCount = kPaths.size() + 1;  // 0 is the empty path

// By the clients' numbers, which are not those of other protocols.
std::optional<ItemVerb> verb_of(uint32_t operation_type) {
  switch (operation_type) {
    case 0:
      return ItemVerb::create;
    case 1:
      return ItemVerb::patch;
    case 2:
      return ItemVerb::read;
    case 4:
      return ItemVerb::remove;
    case 5:
      return ItemVerb::replace;
    case 20:
      return ItemVerb::upsert;
    default:
      return std::nullopt;
  }
}

// Reads from the front of some bytes. After a read that there are too few bytes for, failed() is
// true and everything reads as zero and empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  bool failed() const { return failed_; }
  bool at_end() const { return left_.empty(); }
  size_t left() const { return left_.size(); }

  std::string_view bytes(uint64_t count) {
    if (count > left_.size()) {
      failed_ = true;
      left_ = {};
      return {};
    }
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  uint8_t u8() {
    const std::string_view taken = bytes(1);
    return taken.empty() ? uint8_t{0} : static_cast<uint8_t>(taken.front());
  }
  uint32_t u32() {
    const std::string_view taken = bytes(4);
    return taken.empty() ? 0 : load_u32_le(taken.data());
  }
  uint64_t varuint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = u8();
      value |= uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    bytes(left_.size() + 1);  // more than ten bytes: it never ends
    return 0;
  }
  std::string_view counted() { return bytes(varuint()); }

 private:
  std::string_view left_;
  bool failed_ = false;
};

std::unexpected<Error> refuse_operation(size_t operation, std::string_view why) {
  return fail(Code::invalid,
              fmt::format("operation {} of the HybridRow batch {}", operation + 1, why));
}

// The number of a sparse field; 0 when it has a name that is not in the schema.
uint64_t read_path(Reader& row) {
  const uint64_t token = row.varuint();
  if (token < kPathCount) return token;
  const std::string_view name = row.bytes(token - kPathCount);
  const auto* found = std::ranges::find(kPaths, name);
  return found == kPaths.end() ? 0 : static_cast<uint64_t>(found - kPaths.begin()) + 1;
}

// One field that is there only if it is set. Of a field that comes twice, the last one counts.
Status read_sparse(Reader& row, BatchOperation& operation, size_t index) {
  const uint8_t type = row.u8();
  const uint64_t path = read_path(row);
  std::string_view text;
  switch (type) {
    case type_false:
    case type_true:
      break;
    case type_int32:
      row.u32();
      break;
    case type_utf8:
      text = row.counted();
      break;
    default:
      return refuse_operation(
          index, fmt::format("has a field of type {}, which no field of a batch is of", type));
  }
  if (row.failed()) return refuse_operation(index, "has a field that is longer than its row");
  const bool is_bool = type == type_false || type == type_true;
  switch (path) {
    case indexing_directive:  // changes nothing: items are indexed by the container's policy
      if (type == type_utf8) return {};
      break;
    case if_match:
      operation.request.if_match = text;
      if (type == type_utf8) return {};
      break;
    case if_none_match:
      operation.request.if_none_match = text;
      if (type == type_utf8) return {};
      break;
    case time_to_live:  // an item's own "ttl" is what counts, as in batches of JSON
      if (type == type_int32) return {};
      break;
    case minimal_return:
      operation.minimal = type == type_true;
      if (is_bool) return {};
      break;
    default:
      return refuse_operation(index, "has a sparse field that is not one of a batch's operation");
  }
  return refuse_operation(index, fmt::format("has a \"{}\" of type {}, which is another one's",
                                             kPaths[path - 1], type));
}

Result<BatchOperation> parse_row(std::string_view bytes, size_t index) {
  Reader row(bytes);
  if (row.u8() != static_cast<uint8_t>(kRowVersion))
    return refuse_operation(index, "is not a HybridRow");
  if (const uint32_t schema = row.u32(); schema != kOperationSchema) {
    return refuse_operation(index, fmt::format("is of the schema {}, and {} is that of operations",
                                               schema, kOperationSchema));
  }
  const uint8_t presence = row.u8();
  const auto has = [presence](size_t field) { return (presence >> (field - 1) & 1U) != 0; };
  const uint32_t operation_type = row.u32();
  const uint32_t resource_type = row.u32();
  std::array<std::string_view, 8> variable;  // by field number, from 3
  for (size_t field = 3; field <= 7; ++field) {
    if (has(field)) variable[field] = row.counted();
  }
  if (row.failed())
    return refuse_operation(index, "is cut short, or has a field that is longer than its row");
  const auto verb = has(1) ? verb_of(operation_type) : std::nullopt;
  if (!verb) {
    return refuse_operation(
        index, fmt::format("has the operationType {}, and known are 0 (create), 1 (patch), "
                           "2 (read), 4 (delete), 5 (replace) and 20 (upsert)",
                           has(1) ? std::to_string(operation_type) : "null"));
  }
  if (!has(2) || resource_type != kDocumentType) {
    return refuse_operation(index, "has a resourceType other than 2, that of items");
  }
  BatchOperation operation;
  ItemRequest& request = operation.request;
  request.verb = *verb;
  request.key = variable[3];
  if (*verb != ItemVerb::create && *verb != ItemVerb::upsert) {
    request.id = variable[5];
    if (request.id.empty()) return refuse_operation(index, "has no id");
  }
  if (*verb != ItemVerb::read && *verb != ItemVerb::remove) {
    request.body = variable[7];
    if (request.body.empty()) return refuse_operation(index, "has no resourceBody");
  }
  while (!row.at_end()) {
    if (auto read = read_sparse(row, operation, index); !read) return pass(read.error());
  }
  return operation;
}

// The rest of a segment's row, of which `schema` has been read.
Status skip_segment(Reader& stream) {
  const uint8_t presence = stream.u8();
  const uint32_t length = stream.u32();
  if ((presence & 1U) == 0 || length < kSegmentBytes) {
    return fail(Code::invalid, "a segment of the HybridRow batch does not say how long it is");
  }
  stream.bytes(length - kSegmentBytes);
  return {};
}

void append_u32(std::string& out, uint32_t value) {
  std::array<char, 4> bytes;
  store_u32_le(bytes.data(), value);
  out.append(bytes.data(), bytes.size());
}

void append_counted(std::string& out, std::string_view bytes) {
  uint64_t left = bytes.size();
  for (; left >= 0x80; left >>= 7) out += static_cast<char>(left | 0x80);
  out += static_cast<char>(left);
  out += bytes;
}

void append_row(std::string& out, const BatchResult& result) {
  out += kRowVersion;
  append_u32(out, kResultSchema);
  out += static_cast<char>(0x03 | (result.version ? 0x04 : 0) | (result.body.empty() ? 0 : 0x08));
  append_u32(out, static_cast<uint32_t>(result.status));
  append_u32(out, result.substatus);
  if (result.version) append_counted(out, '"' + etag_text(*result.version) + '"');
  if (!result.body.empty()) append_counted(out, result.body);
  if (result.retry_after_ms != 0) {
    out += {static_cast<char>(type_uint32), 5};
    append_u32(out, result.retry_after_ms);
  }
  out += {static_cast<char>(type_float64), 6};
  std::array<char, 8> charge;
  store_u64_le(charge.data(), std::bit_cast<uint64_t>(result.charge));
  out.append(charge.data(), charge.size());
}

uint32_t crc_of(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace

Result<std::vector<BatchOperation>> parse_hybrid_batch(std::string_view body,
                                                       const Limits& limits) {
  Reader stream(body);
  std::vector<BatchOperation> operations;
  bool in_segment = false;
  while (!stream.at_end()) {
    const uint8_t version = stream.u8();
    const uint32_t schema = stream.u32();
    if (version != static_cast<uint8_t>(kRowVersion)) {
      return fail(Code::invalid, fmt::format("the HybridRow batch has the byte {:02X} where a row "
                                             "begins, which is to be 81",
                                             version));
    }
    if (schema == kSegmentSchema) {
      in_segment = true;
      if (auto skipped = skip_segment(stream); !skipped) return pass(skipped.error());
    } else if (schema == kRecordSchema && in_segment) {
      const size_t index = operations.size();
      if (index == limits.batch_operations) {
        return fail(Code::invalid,
                    fmt::format("the batch has more than {} operations, the most: send several",
                                limits.batch_operations));
      }
      const uint32_t length = stream.u32();
      const uint32_t crc = stream.u32();
      if (length > stream.left()) return refuse_operation(index, "is longer than what was sent");
      const std::string_view row = stream.bytes(length);
      if (crc_of(row) != crc) {
        return refuse_operation(
            index,
            fmt::format("has the CRC {:08X}, and says {:08X}: it was damaged", crc_of(row), crc));
      }
      auto operation = parse_row(row, index);
      if (!operation) return pass(operation.error());
      operations.push_back(std::move(*operation));
    } else if (!stream.failed()) {
      return fail(Code::invalid,
                  fmt::format("the HybridRow batch has a row of the schema {} where a segment or a "
                              "record begins",
                              schema));
    }
    if (stream.failed()) return fail(Code::invalid, "the HybridRow batch is cut short");
  }
  if (operations.empty()) return fail(Code::invalid, "Batch request has no operations.");
  return operations;
}

std::string hybrid_results(const std::vector<BatchResult>& results) {
  size_t bytes = kSegmentBytes;
  for (const BatchResult& result : results) bytes += result.body.size() + 100;
  std::string out;
  out.reserve(bytes);
  out += kRowVersion;
  append_u32(out, kSegmentSchema);
  out += '\x01';
  append_u32(out, kSegmentBytes);
  std::string row;
  for (const BatchResult& result : results) {
    row.clear();
    append_row(row, result);
    out += kRowVersion;
    append_u32(out, kRecordSchema);
    append_u32(out, static_cast<uint32_t>(row.size()));
    append_u32(out, crc_of(row));
    out += row;
  }
  return out;
}

}  // namespace orrery::cosmos
