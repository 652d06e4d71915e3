// The documents of a collection that match a filter, and how they are found.
//
// By _id it reads documents by their keys; a range of _id is a range of the scan; an index is read
// where it leaves few documents or gives the sort; everything else is a scan that asks the filter
// of each document. What $near asks for comes from the nearest to the farthest. A scan gives them
// in the order of _id. MongoDB gives them in the order in which they were made, mostly, and many a
// program counts on it: a collection that fits into one batch is read in that order.
//
// Threading: one thread at a time. Blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/mongo/bson/collation.h"
#include "api/mongo/bson/select_members.h"
#include "api/mongo/documents/hint.h"
#include "api/mongo/documents/index_scan.h"
#include "api/mongo/documents/index_walk.h"
#include "api/mongo/documents/near_queue.h"
#include "api/mongo/documents/near_scan.h"
#include "api/mongo/documents/scan.h"
#include "api/mongo/documents/transaction_scan.h"
#include "api/mongo/handler_context.h"
#include "api/mongo/match/match.h"
#include "api/mongo/match/sort.h"
#include "value/value.h"

namespace orrery::mongo {

// What to look for. Values own what they are of.
struct FindQuery {
  value::Value filter;  // an object
  value::Value let;
  std::shared_ptr<const Collation> collation;
  value::Value hint = {};  // a name or a key; undefined: none
  // Documents are wanted from the last _id to the first.
  bool is_descending = false;
  // Documents are not wanted in the order of _id: the order in which they were made is better.
  bool is_natural = false;
  // An order that an index may give, and how many documents are wanted in it. Read while it is
  // opened. Null: any order.
  const Sort* sort = nullptr;
  std::optional<uint64_t> most = std::nullopt;
  // Their order should be that of _id, or many of them are changed as they come: an index is read
  // for their keys first.
  bool needs_keys_first = false;
  // The members that are looked at beside those of the filter: Found::document has these, may have
  // no others, and is valid until the next call. Unset: all, and it owns what it is of.
  std::optional<std::vector<std::string>> fields = std::nullopt;
  // Whose view of the documents is read; null: what is committed now.
  std::shared_ptr<PinnedReads> pinned = {};
};

// Asks for an order, if that can be had, of so many documents.
void want_order(FindQuery& query, const Sort& sort, std::optional<uint64_t> most);

// How documents are found.
struct ReadPlan {
  // IDHACK: by keys. IXSCAN: by an index. GEO_NEAR_2DSPHERE: by one, in the order of a distance.
  // COLLSCAN: all are read. EOF: there is no collection.
  std::string_view stage = "EOF";
  std::string index_name = {};  // of the first three
  value::Value index_key = {};
  bool is_backwards = false;  // of IXSCAN
};

// The documents that match, with their keys and bytes. Also what updates and deletes look for.
class MatchingDocuments {
 public:
  // `budget` outlives it.
  static Answer<std::unique_ptr<MatchingDocuments>> open(const HandlerContext& context,
                                                         cluster::RoutingPtr routing,
                                                         const FindQuery& query, Budget& budget,
                                                         int64_t now_ms);

  struct Found {
    std::string_view bytes;  // valid until the next call
    value::Value document;   // see FindQuery::fields
    std::optional<size_t> position;
  };
  // Nothing at the end.
  Answer<std::optional<Found>> next();
  // The same, of which the document alone is wanted.
  Answer<std::optional<value::Value>> next_document();
  // Where the last one is.
  Answer<partition::ItemKey> key() const;

  // A scan of several partitions can be divided: `most` ranges of it at most, in order, while
  // nothing was read; fewer than two, it is not to be. And the documents of such a range, which
  // another thread may read while this lives. `budget` is that thread's, and outlives them.
  std::vector<ScanRange> part_ranges(size_t most) const;
  std::unique_ptr<MatchingDocuments> part(const ScanRange& range, Budget& budget) const;
  // Counts what was read of a part, which is paid for with what is read here.
  void count_part(const MatchingDocuments& part);

  // Of what is kept until it is asked for.
  size_t memory() const { return near_ ? near_->memory() : queue_ ? queue_->bytes() : 0; }
  void pause() {
    if (scan_) scan_->pause();
    if (index_) index_->pause();
    if (walk_) walk_->pause();
  }
  // Whether a document that was read again still matches.
  Answer<Matcher::Match> match(const value::Value& document);
  Evaluation& evaluation() { return evaluation_; }
  const ParseContext& parse_context() const { return parse_context_; }
  // Whether documents come in the order of a sort, which was asked for by want_order().
  bool gives(const Sort& sort) const;
  Answer<void> begin_batch();
  double end_batch(size_t bytes_returned);
  uint64_t documents_read() const {
    return points_read_ + part_items_ + (scan_ ? scan_->items_read() : 0) +
           (index_ ? index_->items_read() : 0) + (walk_ ? walk_->items_read() : 0) +
           (staged_ ? staged_->items_read() : 0) + (near_ ? near_->items_read() : 0);
  }
  uint64_t keys_read() const {
    if (near_) return near_->keys_read();
    if (index_) return index_->keys_read();
    if (walk_) return walk_->keys_read();
    if (few_) return 0;
    return scan_ && is_range_ ? scan_->items_read() : points_read_;
  }
  ReadPlan reads() const;

 private:
  MatchingDocuments(const HandlerContext& context, cluster::RoutingPtr routing, Budget& budget)
      : context_(context), routing_(std::move(routing)), evaluation_(budget) {}
  // Chooses how documents are found: one of points_, scan_, index_ and walk_.
  Answer<void> plan_reads(const FindQuery& query, const Hint& hint);
  // By an index, if one helps. False: none does.
  Answer<bool> plan_index(const FindQuery& query, const Hint& hint, const ScanRange& range);
  // By how far they are from a point, from `index`, if that has all of them. False: it has not.
  Answer<bool> plan_near(const IndexSpec& index, const ScanRange& range);
  // The same of what query.pinned sees: points_ or staged_.
  Answer<void> plan_pinned(const FindQuery& query);
  // By the keys of documents, if the filter names them. False: it does not.
  bool plan_points(const FindQuery& query, const std::string& placement);
  // All documents in the order in which they were made, if they are few. False: they are not.
  bool plan_natural();
  Answer<std::optional<std::string_view>> next_bytes();
  // Of those that are found in whatever order, the nearest.
  Answer<std::optional<std::string_view>> next_of_queue();
  Answer<std::optional<std::string_view>> next_found();
  Answer<partition::ItemKey> found_key() const;
  Answer<value::Value> decode(std::string_view bytes);
  bool reads_by_scan() const { return scan_ || index_ || walk_ || near_; }

  const HandlerContext& context_;
  const cluster::RoutingPtr routing_;
  Evaluation evaluation_;
  ParseContext parse_context_;
  Matcher matcher_;
  // Of a sparse or partial index that is asked for by name: documents that it leaves out are not
  // found. By the index's own comparisons, not by the query's collation.
  std::optional<Matcher> is_indexed_;
  bool matches_all_ = false;  // the filter is empty
  std::shared_ptr<PinnedReads> pinned_;
  const IndexSpec* near_index_ = nullptr;  // that $near needs; belongs to routing_
  // One of these five, or points_, whose bodies are there already if they are few_.
  std::unique_ptr<Scan> scan_;
  std::unique_ptr<IndexScan> index_;
  std::unique_ptr<IndexWalk> walk_;
  std::unique_ptr<TransactionScan> staged_;
  std::unique_ptr<NearScan> near_;
  // All that one of the others finds, when documents are wanted by how far they are.
  std::unique_ptr<NearQueue> queue_;
  NearQueue::Document nearest_;  // the last one of queue_
  bool is_queue_filled_ = false;
  std::vector<partition::ItemKey> points_;
  std::optional<std::vector<std::string>> few_;
  std::optional<MemberSelector> selector_;  // unset: documents are decoded whole
  size_t next_point_ = 0;
  std::string point_body_;
  std::string first_placement_;
  uint64_t points_read_ = 0;
  double point_charge_ = 0;
  uint64_t staged_bytes_ = 0;  // of points_ that are pinned
  uint64_t part_items_ = 0;    // that were read by parts
  uint64_t part_bytes_ = 0;
  uint64_t paid_items_ = 0;
  uint64_t paid_bytes_ = 0;
  bool is_in_id_order_ = false;  // ascending, or as the query wants it
  bool is_descending_ = false;
  bool is_range_ = false;
  bool gives_sort_ = false;  // the query's
};

}  // namespace orrery::mongo
