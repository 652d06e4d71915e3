// What happened to the documents of a collection, of all collections of a database, or of all
// databases: the histories of their partitions, merged by time. Within a partition the order is
// that of the writes; between partitions it is that of the seconds in which they were done.
//
// It reads forward and is never at an end: nothing new is told as nothing. Partitions that are
// split and collections that come and go are followed.
//
// Threading: one thread at a time. Blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/changes/stream_position.h"
#include "api/mongo/handler_context.h"
#include "cluster/engine.h"
#include "partition/partition.h"

namespace orrery::mongo {

// How long every write of a collection that is watched is kept, for streams that go on later.
inline constexpr int64_t kHistoryS = 24 * 60 * 60;

// What a stream is of. Both empty: all databases.
struct WatchScope {
  std::string database;
  std::string collection;
  bool operator==(const WatchScope&) const = default;
};

struct WatchStart {
  std::optional<StreamPosition> after;  // unset: from now, or from a time
  std::optional<int64_t> since_s;       // Unix time
};

// One thing that happened.
struct ChangeEvent {
  enum class Kind : uint8_t { write, drop, drop_database, rename };
  Kind kind = Kind::write;
  std::string database;
  std::string collection;
  cluster::RoutingPtr routing;  // of a write
  partition::Event event;
  std::string new_name = {};  // of a collection that was renamed
};

class ChangeReader {
 public:
  ChangeReader(const HandlerContext& context, WatchScope scope);

  // Makes the collections keep a history, if they do not yet, and finds the beginning. Code 286
  // when the history does not go back that far.
  Answer<void> open(const WatchStart& start);
  // Nothing: there is nothing new.
  Answer<std::optional<ChangeEvent>> next();
  // After what next() has given.
  StreamPosition position() const;
  double take_charge() { return std::exchange(charge_, 0); }

 private:
  struct Part {
    StreamPosition::Part at;
    std::string database;
    std::string collection;
    std::deque<partition::Event> events;  // read, and not given
    uint64_t read_lsn = 0;                // with which their reading is done
    bool has_more = false;                // behind that, when it was read
    std::optional<int64_t> since_s;       // of the first reading
  };
  bool is_in_scope(const cluster::Routing& routing) const;
  Answer<void> follow_collections(bool is_first, const WatchStart& start);
  Answer<void> add_collection(const cluster::RoutingPtr& routing, bool is_first,
                              const WatchStart& start);
  std::optional<ChangeEvent> dropped();
  // Whether the collection of a part, which has nothing more to tell, has got another name. A
  // stream of that collection alone has no parts from then on.
  bool note_rename(size_t part, const cluster::Routing& routing);
  Answer<void> read(Part& part, const cluster::RoutingPtr& routing);
  // True: the part was replaced by those of the partitions that it is in now.
  bool divide(size_t number, const cluster::Routing& routing);
  Answer<void> read_all(bool are_all_told);
  ChangeEvent take(Part& part);

  const HandlerContext& context_;
  const WatchScope scope_;
  std::vector<Part> parts_;
  std::deque<ChangeEvent> drops_;
  double charge_ = 0;
};

}  // namespace orrery::mongo
