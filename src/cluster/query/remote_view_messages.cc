// See remote_view_messages.h. The members of each message are listed once, for both directions.
#include "cluster/query/remote_view_messages.h"

#include "base/bytes.h"

namespace orrery::cluster {
namespace {

class Writer {
 public:
  void operator()(uint64_t number) {
    char bytes[8];
    store_u64_le(bytes, number);
    out_.append(bytes, sizeof(bytes));
  }
  void operator()(bool flag) { out_ += flag ? '\1' : '\0'; }
  void operator()(const std::string& text) {
    (*this)(static_cast<uint64_t>(text.size()));
    out_ += text;
  }
  template <class A, class B>
  void operator()(const std::pair<A, B>& both) {
    (*this)(both.first);
    (*this)(both.second);
  }
  template <class T>
  void operator()(const std::optional<T>& one) {
    (*this)(one.has_value());
    if (one) (*this)(*one);
  }
  template <class T>
  void operator()(const std::vector<T>& list) {
    (*this)(static_cast<uint64_t>(list.size()));
    for (const T& one : list) (*this)(one);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// After a failure everything reads as nothing.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  void operator()(uint64_t& number) {
    const std::string_view bytes = take(8);
    number = is_good_ ? load_u64_le(bytes.data()) : 0;
  }
  void operator()(bool& flag) {
    const std::string_view byte = take(1);
    if (is_good_ && static_cast<unsigned char>(byte[0]) > 1) is_good_ = false;
    flag = is_good_ && byte[0] == '\1';
  }
  void operator()(std::string& text) {
    uint64_t size = 0;
    (*this)(size);
    text = take(size);
  }
  template <class A, class B>
  void operator()(std::pair<A, B>& both) {
    (*this)(both.first);
    (*this)(both.second);
  }
  template <class T>
  void operator()(std::optional<T>& one) {
    bool has = false;
    (*this)(has);
    if (has) (*this)(one.emplace());
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    uint64_t count = 0;
    (*this)(count);
    // Each element has a size of 8 bytes at least.
    if (count > left_.size() / 8) is_good_ = false;
    if (!is_good_) return;
    list.resize(count);
    for (T& one : list) (*this)(one);
  }
  bool is_whole() const { return is_good_ && left_.empty(); }

 private:
  std::string_view take(uint64_t size) {
    if (!is_good_ || size > left_.size()) {
      is_good_ = false;
      return {};
    }
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::string_view left_;
  bool is_good_ = true;
};

template <class Way>
void members(OpenView& m, Way& way) {
  way(m.container), way(m.placement), way(m.min), way(m.max), way(m.identity_at);
  way(m.levels), way(m.lsn);
}
template <class Way>
void members(ViewOpened& m, Way& way) {
  way(m.view), way(m.max), way(m.range), way(m.lsn), way(m.is_indexed);
  way(m.entries_are_items), way(m.items_at_most);
}
template <class Way>
void members(Estimate& m, Way& way) {
  way(m.view), way(m.from), way(m.to);
}
template <class Way>
void members(Estimated& m, Way& way) {
  way(m.entries);
}
template <class Way>
void members(FindShapes& m, Way& way) {
  way(m.view), way(m.term_path);
}
template <class Way>
void members(ShapesFound& m, Way& way) {
  way(m.lacking), way(m.others);
}
template <class Way>
void members(ReadEntries& m, Way& way) {
  way(m.view), way(m.from), way(m.to), way(m.descending), way(m.after), way(m.seek), way(m.most);
}
template <class Way>
void members(EntriesRead& m, Way& way) {
  way(m.entries), way(m.more);
}
template <class Way>
void members(ReadItems& m, Way& way) {
  way(m.view), way(m.after), way(m.inclusive), way(m.most);
}
template <class Way>
void members(ItemsRead& m, Way& way) {
  way(m.items), way(m.more);
}
template <class Way>
void members(FetchItems& m, Way& way) {
  way(m.view), way(m.keys);
}
template <class Way>
void members(ItemsFetched& m, Way& way) {
  way(m.bodies);
}
template <class Way>
void members(CloseView& m, Way& way) {
  way(m.view);
}

}  // namespace

template <class Message>
std::string encode_message(const Message& message) {
  Writer writer;
  // The writer changes nothing.
  members(const_cast<Message&>(message), writer);
  return writer.take();
}

template <class Message>
Result<Message> decode_message(std::string_view bytes) {
  Message message;
  Reader reader(bytes);
  members(message, reader);
  if (!reader.is_whole()) return fail(Code::invalid, "a message about a view cannot be decoded");
  return message;
}

#define ORRERY_MESSAGE(Name)                        \
  template std::string encode_message(const Name&); \
  template Result<Name> decode_message(std::string_view);
ORRERY_MESSAGE(OpenView)
ORRERY_MESSAGE(ViewOpened)
ORRERY_MESSAGE(Estimate)
ORRERY_MESSAGE(Estimated)
ORRERY_MESSAGE(FindShapes)
ORRERY_MESSAGE(ShapesFound)
ORRERY_MESSAGE(ReadEntries)
ORRERY_MESSAGE(EntriesRead)
ORRERY_MESSAGE(ReadItems)
ORRERY_MESSAGE(ItemsRead)
ORRERY_MESSAGE(FetchItems)
ORRERY_MESSAGE(ItemsFetched)
ORRERY_MESSAGE(CloseView)
#undef ORRERY_MESSAGE

}  // namespace orrery::cluster
