// Records out of a container: its items, the rows of a query, or its changes, read from several
// ranges at once and over splits.
//
// Records of a range come in its order, and those of a range that was split before its children's:
// so changes of one item come in theirs. Changes have no end; the source waits for more until it is
// told to end(), and then reads each range until there is nothing new.
//
// Memory: kPagesMax pages are asked for or held at once.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "client/client.h"
#include "client/feed.h"
#include "transfer/record_source.h"

namespace orrery::transfer {

class FeedSource final : public RecordSource {
 public:
  // The client must outlive the source, and complete nothing for it afterwards: see ~FeedSource.
  static Result<std::unique_ptr<FeedSource>> open(client::Client& client, client::FeedSpec spec,
                                                  std::optional<uint64_t> expected);
  ~FeedSource() override;

  Result<Pull> pull(Record& record) override;
  void turn(int wait_ms) override;
  void passed(const Mark& mark) override;
  bool is_settled() const override { return is_settled_; }
  std::string position_json() const override;
  Status resume(const value::Node& position) override;
  std::string name_of(const Mark& mark) const override;
  std::optional<double> fraction() const override;
  double charge() const override { return client_.counts().charge; }
  uint64_t throttled() const override { return client_.counts().throttled; }

  // Of changes: whether every range had nothing new when it was last asked.
  bool is_caught_up() const;
  // Of changes: what is there from now on is not waited for.
  void end();

 private:
  struct Page {
    std::deque<std::string> items;  // those that were not given out
    size_t left = 0;                // those that are not done
    std::string continuation;
    bool is_end = false;
  };
  struct RangeReader {
    client::FeedCursor cursor;  // how far it was asked for
    std::string passed;         // how far it is done
    std::deque<Page> pages;
    uint64_t first_page = 0;  // the number of the front
    bool is_asked = false;
    bool is_ended = false;  // of items and queries: no more pages come
    bool has_nothing_new = false;
    bool asked_for_end = false;  // the request under way was made after end()
    int64_t ask_again_ms = 0;
    bool is_replaced = false;         // by its children, which go on where it was asked for
    std::vector<uint32_t> waits_for;  // of a child: parents whose pages come first
  };

  FeedSource(client::Client& client, client::FeedSpec spec, std::vector<client::FeedCursor> cursors,
             std::optional<uint64_t> expected);
  void ask(uint32_t index);
  void ask_all();
  void answer(uint32_t index, Result<client::Response> response);
  void replace_gone();
  void drop_passed(RangeReader& reader);
  bool is_changes() const { return spec_.kind == client::FeedKind::changes; }
  int64_t now_ms() const { return clock_.steady_us() / 1000; }

  client::Client& client_;
  const client::FeedSpec spec_;
  const std::optional<uint64_t> expected_;
  const std::string where_;
  RealClock clock_;
  std::shared_ptr<FeedSource*> alive_;  // null inside once the source is gone
  std::deque<RangeReader> readers_;
  std::vector<uint32_t> gone_;  // whose range was split
  bool is_asking_ranges_ = false;
  size_t held_ = 0;      // pages asked for or held
  size_t next_ask_ = 0;  // ranges take turns
  size_t next_pull_ = 0;
  uint64_t given_ = 0;
  bool is_settled_ = true;
  bool ends_ = false;
  std::optional<Error> failed_;
};

}  // namespace orrery::transfer
