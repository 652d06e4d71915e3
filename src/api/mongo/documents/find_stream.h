// What a find gives: the documents of a collection that match, sorted, skipped, limited and
// projected. A sort that the way they are found does not give is done in memory, of no more
// documents than skip and limit leave, within kSortBytesMax.
//
// Threading: one thread at a time. Blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "api/mongo/cursors/row_stream.h"
#include "api/mongo/documents/matching_documents.h"
#include "api/mongo/match/projection.h"
#include "api/mongo/match/sort.h"
#include "value/value.h"

namespace orrery::mongo {

inline constexpr size_t kSortBytesMax = size_t{100} << 20;

struct FindOptions {
  value::Value projection;  // an object, or undefined
  value::Value sort;        // likewise
  int64_t skip = 0;
  int64_t limit = 0;  // 0: none
};

class FindStream final : public RowStream {
 public:
  static Answer<std::unique_ptr<FindStream>> open(const HandlerContext& context,
                                                  cluster::RoutingPtr routing,
                                                  const FindQuery& query,
                                                  const FindOptions& options, int64_t now_ms);

  Answer<bool> next(std::string& bson) override;
  Answer<void> begin_batch() override { return documents_->begin_batch(); }
  double end_batch(size_t bytes_returned) override;
  size_t memory() const override { return kept_bytes_ + documents_->memory(); }
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
  std::optional<Sort> sort_;  // of documents that the scan gives in another order
  bool is_sorted_ = false;
  std::deque<Kept> kept_;
  size_t kept_bytes_ = 0;
  int64_t skip_ = 0;
  std::optional<int64_t> left_;
};

}  // namespace orrery::mongo
