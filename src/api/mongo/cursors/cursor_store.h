// The open cursors. A cursor is taken out while a command uses it, and put back when there is more.
// One that nobody has asked for in ten minutes, or as long as set_idle_ms() says, is gone.
//
// Bounded in number, and in the memory that all keep together. When there is no room, the one that
// has waited longest is closed if that was a minute; otherwise the new one is refused.
//
// Threading: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/mongo/bson/error.h"
#include "api/mongo/cursors/row_stream.h"
#include "base/clock.h"
#include "base/thread_annotations.h"

namespace orrery::mongo {

struct Cursor {
  std::string ns;
  std::string user;  // who may go on with it
  std::unique_ptr<RowStream> rows;
  std::optional<std::string> pending;  // read, and did not fit into the batch before
  bool never_expires = false;          // noCursorTimeout
  // The transaction that it was opened in, and goes on in alone.
  std::weak_ptr<const void> transaction = {};
  bool is_in_transaction = false;
};

class CursorStore {
 public:
  explicit CursorStore(const Clock& clock) : clock_(clock) {}

  static constexpr size_t kCursorsMax = 10'000;
  static constexpr size_t kBytesMax = size_t{512} << 20;
  static constexpr int64_t kIdleUs = 600'000'000;
  void set_idle_ms(int64_t idle_ms) { idle_us_.store(idle_ms * 1000); }
  int64_t idle_ms() const { return idle_us_.load() / 1000; }

  // Its id, never 0.
  Answer<int64_t> add(std::unique_ptr<Cursor> cursor);
  // kCursorNotFound when there is none, or it is in use.
  Answer<std::unique_ptr<Cursor>> take(int64_t id);
  void put_back(int64_t id, std::unique_ptr<Cursor> cursor);
  // False when there is none.
  bool remove(int64_t id);
  // The same, and false when it is another user's.
  bool remove_of(std::string_view user, int64_t id);
  void clear();
  size_t size() const;

 private:
  struct Kept {
    std::unique_ptr<Cursor> cursor;  // null: in use
    std::string user;
    int64_t used_us = 0;
    size_t bytes = 0;
  };
  void sweep(int64_t now_us) ORRERY_REQUIRES(mutex_);

  const Clock& clock_;
  std::atomic<int64_t> idle_us_{kIdleUs};
  mutable Mutex mutex_;
  std::map<int64_t, Kept> cursors_ ORRERY_GUARDED_BY(mutex_);
  size_t bytes_ ORRERY_GUARDED_BY(mutex_) = 0;
  int64_t swept_us_ ORRERY_GUARDED_BY(mutex_) = 0;
};

}  // namespace orrery::mongo
