// Reads the items of a graph's container for one traversal: by a query, by their keys, or by the
// index of one member. Every request is admitted by the throughput budget where it starts, and pays
// there.
//
// Threading: one thread at a time. Everything may block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/gremlin/graph/item_query.h"
#include "api/gremlin/graph/neighbour_cache.h"
#include "api/gremlin/graph/parsed_queries.h"
#include "api/gremlin/traversal/graph.h"
#include "base/clock.h"
#include "base/string_list.h"
#include "cluster/engine.h"
#include "cluster/query/container_query.h"
#include "cluster/query/remote_views.h"
#include "face/items_anywhere.h"
#include "face/shared_items.h"

namespace orrery::gremlin {

struct GraphTerms {
  cluster::Engine& engine;
  const face::SharedItems& items;
  const Clock& clock;
  ParsedQueries& parsed;
  query::Helpers* helpers;
  cluster::RemoteViews* remote;
  int64_t until_us;                 // on the steady clock
  std::function<bool()> is_wanted;  // whether the client is there
  size_t memory_max;
  std::optional<std::string> only_placement = {};  // nothing outside it is there
  std::shared_ptr<NeighbourCache> cache = {};      // of the container; null: there is none
  face::ItemsAnywhere* anywhere = nullptr;         // of a node among others, to write at them
  // False: whatever is not in memory, or not little, is Code::would_wait, and so is storing. What
  // is read is paid for by settle().
  bool may_wait = true;
};

// Where the items of a partition key's value lie.
std::string place_of(const cluster::Routing& routing, const Value& partition);

inline constexpr size_t kRowsOfPage = 1000;

class ItemReader {
 public:
  ItemReader(const GraphTerms& terms, cluster::RoutingPtr routing)
      : terms_(terms), routing_(std::move(routing)) {
    if (terms.only_placement) bounds_.narrow(*terms.only_placement, *terms.only_placement + '\0');
    ranges_.push_back({bounds_.min, bounds_.max});
  }

  const cluster::Routing& routing() const { return *routing_; }
  const cluster::RoutingPtr& routing_ptr() const { return routing_; }
  // The placement keys that the traversal may see.
  const cluster::KeyBounds& bounds() const { return bounds_; }
  // Whether the traversal may go on: its time, and whether its client is there.
  Status check();
  bool timed_out() const { return timed_out_; }
  const StoreWork& spent() const { return spent_; }

  // What is read while it lives is not charged: the caller charges by what it knows of the cost.
  class Free {
   public:
    explicit Free(ItemReader& reader) : reader_(reader) { reader_.is_free_ = true; }
    ~Free() { reader_.is_free_ = false; }
    Free(const Free&) = delete;
    Free& operator=(const Free&) = delete;

   private:
    ItemReader& reader_;
  };
  // As if it were read now, by one request that starts at this placement: admits and charges it.
  Status charge(std::string_view placement, const ReadCost& cost);
  // Pays what a traversal that may not wait owes.
  void settle();

  // A query, page by page.
  class Query {
   public:
    Query(ItemReader& reader, ItemFilter filter);
    // About so many rows; null at the end.
    Result<const StringList*> next(size_t rows);

   private:
    Status prepare();
    Result<cluster::ContainerQuery::Result> run(const query::PageLimits& limits);

    ItemReader& reader_;
    std::string text_;
    query::Parameters parameters_;
    std::shared_ptr<const query::Query> parsed_;
    std::shared_ptr<const query::BoundQuery> bound_;
    query::Context context_;
    std::optional<query::Position> at_;
    bool ended_ = false;
    StringList rows_;
  };

  struct Key {
    std::string placement;
    std::string row;
  };
  using Take = std::function<Status(std::string_view json)>;
  // The items with these keys, in any order. Those that are not there are left out.
  Status fetch(std::vector<Key> keys, const Take& take);
  // All items at a placement, which are not charged. False: there are more than `most`, of which
  // some were given.
  Result<bool> scan(const std::string& placement, size_t most, const Take& take);

  // The items with one of some values at a path, of which the index tells.
  class Lookup {
   public:
    struct Asked {
      value::Value value;
      std::string placement;  // where the items lie; empty: anywhere
    };
    // `asked`: all with a placement, or none.
    Lookup(ItemReader& reader, value::Path path, std::vector<Asked> asked);
    Lookup(ItemReader& reader, std::string_view member, std::vector<Asked> asked)
        : Lookup(reader, value::Path{.steps = {{.name = std::string(member)}}}, std::move(asked)) {}
    // Whether the index can tell: otherwise it has to be asked by a query.
    bool is_possible() const;
    // About so many further ones, in the order of placement and of what was asked for.
    // Code::unsupported when the index cannot tell now: some may have been taken before.
    Status next(size_t want, const Take& take);
    bool is_at_end() const { return ended_; }

   private:
    struct Request;
    Status read_view(Request& request, query::ItemView& view, const std::string& end);
    Status collect(Request& request, const query::ItemView& view, size_t asked);
    static Status fetch(Request& request, query::ItemView& view, StringList& to);
    static Status give(Request& request, const StringList& bodies);

    ItemReader& reader_;
    const value::Path path_;
    std::vector<Asked> asked_;
    std::vector<size_t> order_;  // of asked_, by placement
    bool is_placed_ = false;
    // Where it goes on.
    std::string from_placement_;
    size_t at_ = 0;  // of order_
    std::optional<query::ItemView::Place> after_;
    bool ended_ = false;
  };

 private:
  // Of one request.
  cluster::ReadAllowance allowance() const;
  Status may_take(size_t bytes) const;  // of items
  // Runs `read` again while a partition moves to another node.
  Status patiently(const std::function<Status()>& read);
  void pay(std::string_view placement, const partition::Work& work);

  const GraphTerms& terms_;
  const cluster::RoutingPtr routing_;
  cluster::KeyBounds bounds_;
  std::vector<query::PlacementRange> ranges_;  // the same
  StoreWork spent_;
  std::vector<std::pair<std::string, double>> owed_;  // placements and charges
  bool timed_out_ = false;
  bool is_free_ = false;
};

}  // namespace orrery::gremlin
