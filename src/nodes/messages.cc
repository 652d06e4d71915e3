// See messages.h. Integers are little-endian; a string is its length (u32) and its bytes.
#include "nodes/messages.h"

#include <bit>
#include <utility>

#include "base/bytes.h"

namespace orrery::nodes {
namespace {

constexpr uint8_t kFormat = 1;

class Writer {
 public:
  Writer() { u8(kFormat); }
  void u8(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void u32(uint32_t value) {
    char raw[4];
    store_u32_le(raw, value);
    bytes_.append(raw, sizeof raw);
  }
  void u64(uint64_t value) {
    char raw[8];
    store_u64_le(raw, value);
    bytes_.append(raw, sizeof raw);
  }
  void text(std::string_view value) {
    u32(static_cast<uint32_t>(value.size()));
    bytes_.append(value);
  }
  void ref(RangeRef value) {
    u32(value.container);
    u32(value.range);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads past the end give zeros, and is_whole() tells.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) { good_ = u8() == kFormat; }
  uint8_t u8() {
    const std::string_view raw = take(1);
    return raw.empty() ? 0 : static_cast<uint8_t>(raw[0]);
  }
  uint32_t u32() {
    const std::string_view raw = take(4);
    return raw.empty() ? 0 : load_u32_le(raw.data());
  }
  uint64_t u64() {
    const std::string_view raw = take(8);
    return raw.empty() ? 0 : load_u64_le(raw.data());
  }
  bool flag() {
    const uint8_t value = u8();
    if (value > 1) good_ = false;
    return value == 1;
  }
  std::string text() { return std::string(take(u32())); }
  RangeRef ref() {
    RangeRef value;
    value.container = u32();
    value.range = u32();
    return value;
  }
  // How many follow, each of so many bytes at least. So a count costs no more than its bytes.
  uint32_t count(size_t bytes_each) {
    const uint32_t value = u32();
    if (value > rest_.size() / bytes_each) good_ = false;
    return good_ ? value : 0;
  }
  bool is_whole() const { return good_ && rest_.empty(); }

 private:
  std::string_view take(size_t size) {
    if (!good_ || size > rest_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool good_ = true;
};

std::unexpected<Error> no_message(const char* what) {
  return fail(Code::invalid,
              std::string("these bytes are not ") + what + " of this version of the nodes");
}

void put(Writer& out, const Plan& plan) {
  out.u64(plan.term);
  out.u64(plan.version);
  out.u32(static_cast<uint32_t>(plan.members.size()));
  for (const Member& member : plan.members) {
    out.text(member.name);
    out.text(member.address);
    out.text(member.incarnation);
    out.u8(member.draining ? 1 : 0);
  }
  out.u32(static_cast<uint32_t>(plan.owners.size()));
  for (const auto& [ref, owner] : plan.owners) {
    out.ref(ref);
    out.u32(owner);
  }
}

// Nothing when an owner is no member.
std::optional<Plan> take_plan(Reader& in) {
  Plan plan;
  plan.term = in.u64();
  plan.version = in.u64();
  const uint32_t members = in.count(13);
  for (uint32_t i = 0; i < members; ++i) {
    Member member;
    member.name = in.text();
    member.address = in.text();
    member.incarnation = in.text();
    member.draining = in.flag();
    plan.members.push_back(std::move(member));
  }
  const uint32_t owners = in.count(12);
  for (uint32_t i = 0; i < owners; ++i) {
    const RangeRef ref = in.ref();
    const uint32_t owner = in.u32();
    if (owner >= plan.members.size()) return std::nullopt;
    plan.owners.emplace_hint(plan.owners.end(), ref, owner);
  }
  return plan;
}

}  // namespace

std::string encode(const FollowRequest& request) {
  Writer out;
  out.text(request.incarnation);
  out.u64(request.catalog_lsn);
  out.u64(request.plan_term);
  out.u64(request.plan_version);
  out.u8(request.quiet ? 1 : 0);
  out.u8(request.loads ? 1 : 0);
  if (request.loads) {
    out.u32(static_cast<uint32_t>(request.loads->size()));
    for (const RangeLoad& load : *request.loads) {
      out.ref(load.ref);
      out.u64(load.bytes);
      out.u64(std::bit_cast<uint64_t>(load.load));
    }
  }
  return out.take();
}

Result<FollowRequest> decode_follow_request(std::string_view bytes) {
  Reader in(bytes);
  FollowRequest request;
  request.incarnation = in.text();
  request.catalog_lsn = in.u64();
  request.plan_term = in.u64();
  request.plan_version = in.u64();
  request.quiet = in.flag();
  if (in.flag()) {
    const uint32_t count = in.count(24);
    request.loads.emplace();
    for (uint32_t i = 0; i < count; ++i) {
      RangeLoad load;
      load.ref = in.ref();
      load.bytes = in.u64();
      load.load = std::bit_cast<double>(in.u64());
      // Not a number, or below nothing: it says nothing of a load.
      if (!(load.load >= 0 && load.load <= 1e12)) load.load = 0;
      request.loads->push_back(load);
    }
  }
  if (!in.is_whole()) return no_message("a request to follow the coordinator");
  return request;
}

std::string encode(const FollowAnswer& answer) {
  Writer out;
  out.u64(answer.term);
  out.u64(answer.news.lsn);
  out.text(answer.news.bytes);
  out.u8(answer.plan ? 1 : 0);
  if (answer.plan) put(out, *answer.plan);
  return out.take();
}

Result<FollowAnswer> decode_follow_answer(std::string_view bytes) {
  Reader in(bytes);
  FollowAnswer answer;
  answer.term = in.u64();
  answer.news.lsn = in.u64();
  answer.news.bytes = in.text();
  if (in.flag()) {
    answer.plan = take_plan(in);
    if (!answer.plan) return no_message("a plan");
  }
  if (!in.is_whole()) return no_message("the coordinator's answer to a follower");
  return answer;
}

std::string encode(const DrainRequest& request) {
  Writer out;
  out.text(request.incarnation);
  out.u8(request.draining ? 1 : 0);
  return out.take();
}

Result<DrainRequest> decode_drain_request(std::string_view bytes) {
  Reader in(bytes);
  DrainRequest request;
  request.incarnation = in.text();
  request.draining = in.flag();
  if (!in.is_whole()) return no_message("a request to drain");
  return request;
}

std::string encode(const MoveRequest& request) {
  Writer out;
  out.ref(request.range);
  out.text(request.to);
  return out.take();
}

Result<MoveRequest> decode_move_request(std::string_view bytes) {
  Reader in(bytes);
  MoveRequest request;
  request.range = in.ref();
  request.to = in.text();
  if (!in.is_whole()) return no_message("a request to move a partition");
  return request;
}

}  // namespace orrery::nodes
