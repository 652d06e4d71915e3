// Encoding and decoding. Every message lists its fields once, in `fields`, and both directions use
// that list.
#include "script/protocol.h"

#include <fmt/format.h>

#include <cassert>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/bytes.h"

namespace orrery::script {
namespace {

template <class M, class Visitor>
void fields(M& m, Visitor& visit) {
  using T = std::remove_const_t<M>;
  if constexpr (std::is_same_v<T, WorkerLimits>) {
    visit(m.heap_bytes, m.memory_bytes, m.message_bytes);
  } else if constexpr (std::is_same_v<T, Execution>) {
    visit(m.kind, m.name, m.source, m.arguments, m.self_link, m.alt_link, m.operation,
          m.request_body, m.response_body, m.request_headers, m.response_headers, m.logging,
          m.time_ms, m.operations, m.response_bytes);
  } else if constexpr (std::is_same_v<T, Load>) {
    visit(m.name, m.source, m.time_ms);
  } else if constexpr (std::is_same_v<T, FunctionCall>) {
    visit(m.function, m.time_ms, m.rows, m.undefined);
  } else if constexpr (std::is_same_v<T, Reply>) {
    visit(m.status, m.body, m.continuation);
  } else if constexpr (std::is_same_v<T, ItemOperation>) {
    visit(m.kind, m.document, m.by_name, m.body, m.condition, m.continuation, m.page_size,
          m.enable_scan, m.index_action);
  } else if constexpr (std::is_same_v<T, Done>) {
    visit(m.response_body, m.request_body, m.response_headers, m.log);
  } else if constexpr (std::is_same_v<T, Failed>) {
    visit(m.failure, m.number, m.message, m.stack, m.line, m.log, m.ends_worker);
  } else if constexpr (std::is_same_v<T, Results>) {
    visit(m.json);
  } else {
    static_assert(std::is_empty_v<T>, "a message whose fields are not listed");
  }
}

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  template <class... Fields>
  void operator()(const Fields&... all) {
    (put(all), ...);
  }

 private:
  void put(bool value) { out_.push_back(value ? 1 : 0); }
  void put(const std::string& text) {
    put(static_cast<uint32_t>(text.size()));
    out_.append(text);
  }
  void put(const std::vector<uint32_t>& list) {
    put(static_cast<uint32_t>(list.size()));
    for (const uint32_t element : list) put(element);
  }
  template <class T>
    requires std::is_integral_v<T>
  void put(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) {
      out_.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
    }
  }
  template <class T>
    requires std::is_enum_v<T>
  void put(T value) {
    static_assert(sizeof(T) == 1);
    out_.push_back(static_cast<char>(value));
  }

  std::string& out_;
};

template <class E>
constexpr uint8_t kRange = 0;
template <>
constexpr uint8_t kRange<Kind> = kKinds;
template <>
constexpr uint8_t kRange<OperationKind> = kOperationKinds;
template <>
constexpr uint8_t kRange<Failure> = kFailures;

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class... Fields>
  void operator()(Fields&... all) {
    (take(all), ...);
  }
  bool at_end() const { return sound_ && rest_.empty(); }

 private:
  std::string_view take_bytes(size_t count) {
    if (count > rest_.size()) {
      sound_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  void take(bool& value) {
    uint8_t byte = 0;
    take(byte);
    sound_ = sound_ && byte <= 1;
    value = byte == 1;
  }
  void take(std::string& text) {
    uint32_t size = 0;
    take(size);
    text = take_bytes(size);
  }
  void take(std::vector<uint32_t>& list) {
    uint32_t count = 0;
    take(count);
    const std::string_view bytes = take_bytes(size_t{count} * sizeof(uint32_t));
    list.resize(bytes.size() / sizeof(uint32_t));
    for (size_t i = 0; i < list.size(); ++i) list[i] = load_u32_le(bytes.data() + i * 4);
  }
  template <class T>
    requires std::is_integral_v<T>
  void take(T& value) {
    uint64_t number = 0;
    const std::string_view bytes = take_bytes(sizeof(T));
    for (size_t i = 0; i < bytes.size(); ++i) {
      number |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    }
    value = static_cast<T>(number);
  }
  template <class T>
    requires std::is_enum_v<T>
  void take(T& value) {
    uint8_t byte = 0;
    take(byte);
    sound_ = sound_ && byte < kRange<T>;
    if (sound_) value = static_cast<T>(byte);
  }

  std::string_view rest_;
  bool sound_ = true;
};

template <size_t kIndex = 0>
Result<Message> decode_as(size_t type, std::string_view bytes) {
  if constexpr (kIndex == std::variant_size_v<Message>) {
    return fail(Code::invalid,
                fmt::format("a script worker's message has the unknown type {}", type));
  } else {
    if (type != kIndex) return decode_as<kIndex + 1>(type, bytes);
    std::variant_alternative_t<kIndex, Message> message;
    Reader reader(bytes);
    fields(message, reader);
    if (!reader.at_end()) {
      return fail(Code::invalid,
                  fmt::format("a script worker's message of type {} and {} bytes is malformed",
                              type, bytes.size()));
    }
    return Message(std::move(message));
  }
}

}  // namespace

std::string encode(const Message& message) {
  std::string out(kFrameHead, '\0');
  out.push_back(static_cast<char>(message.index()));
  Writer writer(out);
  std::visit([&](const auto& m) { fields(m, writer); }, message);
  assert(out.size() - kFrameHead <= std::numeric_limits<uint32_t>::max());
  store_u32_le(out.data(), static_cast<uint32_t>(out.size() - kFrameHead));
  return out;
}

Result<Message> decode(std::string_view frame) {
  if (frame.empty()) return fail(Code::invalid, "a script worker's message is empty");
  return decode_as(static_cast<uint8_t>(frame.front()), frame.substr(1));
}

std::string_view to_string(Failure failure) {
  switch (failure) {
    case Failure::compile:
      return "compile";
    case Failure::threw:
      return "threw";
    case Failure::aborted:
      return "aborted";
    case Failure::timed_out:
      return "timed_out";
    case Failure::memory:
      return "memory";
    case Failure::too_large:
      return "too_large";
    case Failure::crashed:
      return "crashed";
    case Failure::busy:
      return "busy";
    case Failure::unable:
      return "unable";
  }
  return "unknown";
}

}  // namespace orrery::script
