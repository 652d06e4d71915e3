// What a find gives: the documents of a collection that match, sorted, skipped, limited and
// projected.
//
// By _id it reads documents by their keys; a range of _id is a range of the scan; an index is read
// where it leaves few documents or gives the sort; everything else is a scan that asks the filter
// of each document. A scan gives them in the order of _id. MongoDB gives them in the order in which
// they were made, mostly, and many a program counts on it: a collection that fits into one batch is
// read in that order. A sort that neither gives is done in memory, of no more documents than skip
// and limit leave, within kSortBytesMax.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/mongo/bson/collation.h"
#include "api/mongo/context.h"
#include "api/mongo/cursors/row_stream.h"
#include "api/mongo/documents/hint.h"
#include "api/mongo/documents/index_scan.h"
#include "api/mongo/documents/index_walk.h"
#include "api/mongo/documents/scan.h"
#include "api/mongo/documents/transaction_scan.h"
#include "api/mongo/match/match.h"
#include "api/mongo/match/projection.h"
#include "api/mongo/match/sort.h"
#include "value/document.h"
#include "value/value.h"

namespace orrery::mongo {

inline constexpr size_t kSortBytesMax = size_t{100} << 20;

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
  // Whose view of the documents is read; null: what is committed.
  std::shared_ptr<OpenTransaction> transaction = {};
};

// Asks for an order, if that can be had, of so many documents.
void want_order(FindQuery& query, const Sort& sort, std::optional<uint64_t> most);

// How documents are found.
struct ReadPlan {
  // IDHACK: by keys. IXSCAN: by an index. COLLSCAN: all are read. EOF: there is no collection.
  std::string_view stage = "EOF";
  std::string index_name = {};  // of the first two
  value::Value index_key = {};
  bool is_backwards = false;  // of IXSCAN
};

// The documents that match, with their keys and bytes. Also what updates and deletes look for.
class MatchingDocuments {
 public:
  // `budget` outlives it.
  static Answer<std::unique_ptr<MatchingDocuments>> open(const Context& context,
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
  // Where the last one is.
  Answer<partition::ItemKey> key() const;
  void pause() {
    if (scan_) scan_->pause();
    if (index_) index_->pause();
    if (walk_) walk_->pause();
  }
  // Whether a document that was read again still matches.
  Answer<Matcher::Match> match(const value::Value& document) {
    return matcher_.match(document, evaluation_);
  }
  Evaluation& evaluation() { return evaluation_; }
  const ParseContext& parse_context() const { return parse_context_; }
  // Whether documents come in the order of a sort, which was asked for by want_order().
  bool gives(const Sort& sort) const;
  // What $near asks: the caller sorts by distance. Null: nothing.
  const Matcher::Near* near() const { return matcher_.near(); }

  Answer<void> begin_batch();
  double end_batch(size_t bytes_returned);
  uint64_t documents_read() const {
    return points_read_ + (scan_ ? scan_->items_read() : 0) + (index_ ? index_->items_read() : 0) +
           (walk_ ? walk_->items_read() : 0) + (staged_ ? staged_->items_read() : 0);
  }
  uint64_t keys_read() const {
    if (index_) return index_->keys_read();
    if (walk_) return walk_->keys_read();
    if (few_) return 0;
    return scan_ && is_range_ ? scan_->items_read() : points_read_;
  }
  ReadPlan reads() const;

 private:
  MatchingDocuments(const Context& context, cluster::RoutingPtr routing, Budget& budget)
      : context_(context), routing_(std::move(routing)), evaluation_(budget) {}
  // Chooses how documents are found: one of points_, scan_, index_ and walk_.
  Answer<void> plan_reads(const FindQuery& query, const Hint& hint);
  // By an index, if one helps. False: none does.
  Answer<bool> plan_index(const FindQuery& query, const Hint& hint, const ScanRange& range);
  // The same in a transaction: points_ or staged_.
  Answer<void> plan_in_transaction(const FindQuery& query);
  // By the keys of documents, if the filter names them. False: it does not.
  bool plan_points(const FindQuery& query, const std::string& placement);
  // All documents in the order in which they were made, if they are few. False: they are not.
  bool plan_natural();
  Answer<std::optional<std::string_view>> next_bytes();
  Answer<value::Value> decode(std::string_view bytes);
  bool reads_by_scan() const { return scan_ || index_ || walk_; }

  const Context& context_;
  const cluster::RoutingPtr routing_;
  Evaluation evaluation_;
  ParseContext parse_context_;
  Matcher matcher_;
  std::shared_ptr<OpenTransaction> transaction_;
  // One of these four, or points_, whose bodies are there already if they are few_.
  std::unique_ptr<Scan> scan_;
  std::unique_ptr<IndexScan> index_;
  std::unique_ptr<IndexWalk> walk_;
  std::unique_ptr<TransactionScan> staged_;
  std::vector<partition::ItemKey> points_;
  std::optional<std::vector<std::string>> few_;
  std::optional<std::vector<std::string>> fields_;  // of documents that are decoded; unset: all
  std::string selected_;
  std::optional<value::Document> decoded_;  // of selected_
  size_t next_point_ = 0;
  std::string point_body_;
  std::string first_placement_;
  uint64_t points_read_ = 0;
  double point_charge_ = 0;
  uint64_t staged_bytes_ = 0;  // of points_ in a transaction
  uint64_t paid_items_ = 0;
  uint64_t paid_bytes_ = 0;
  bool is_in_id_order_ = false;  // ascending, or as the query wants it
  bool is_descending_ = false;
  bool is_range_ = false;
  bool gives_sort_ = false;  // the query's
};

struct FindOptions {
  value::Value projection;  // an object, or undefined
  value::Value sort;        // likewise
  int64_t skip = 0;
  int64_t limit = 0;  // 0: none
};

class FindStream final : public RowStream {
 public:
  static Answer<std::unique_ptr<FindStream>> open(const Context& context,
                                                  cluster::RoutingPtr routing,
                                                  const FindQuery& query,
                                                  const FindOptions& options, int64_t now_ms);

  Answer<bool> next(std::string& bson) override;
  Answer<void> begin_batch() override { return documents_->begin_batch(); }
  double end_batch(size_t bytes_returned) override;
  size_t memory() const override { return kept_bytes_; }
  const MatchingDocuments& documents() const { return *documents_; }
  bool sorts_in_memory() const { return sort_.has_value(); }

 private:
  struct Kept {
    Sort::Key key;
    std::string bytes;
    std::optional<size_t> position;
    uint64_t number = 0;  // in the order in which they were found: breaks ties
  };
  Answer<void> sort_all();
  Answer<void> project(const value::Value& document, std::string_view bytes,
                       std::optional<size_t> position, std::string& out);

  std::unique_ptr<MatchingDocuments> documents_;
  Projection projection_;
  std::optional<Sort> sort_;     // of documents that the scan gives in another order
  bool is_by_distance_ = false;  // sort_ is over how far documents are from a point
  bool is_sorted_ = false;
  std::deque<Kept> kept_;
  size_t kept_bytes_ = 0;
  int64_t skip_ = 0;
  std::optional<int64_t> left_;
};

}  // namespace orrery::mongo
