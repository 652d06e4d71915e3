// The documents that an index finds for a filter.
//
// For what the order of an index (index_walk.h) does not serve: fields with arrays, fields behind
// the first of an index, and changes of many documents, whose keys must be known before.
//
// Every field of every index of a collection has its values in the container's index, by path,
// those of arrays' elements too. Of the fields that the filter bounds, the one with the fewest
// entries is read; the filter is then asked of each document, so what it finds may be too much and
// never too little. Keys are read first, up to a limit, and sorted: documents come in the order of
// their keys, each once. Of a field that a 2dsphere index has the places of, what is read is the
// cells that the filter's shape lies in; the other fields of that index that the filter bounds are
// read too where that is cheap, and only the keys that all of them have are left.
//
// Not for null, which stands for missing fields too, and not for strings under a collation.
//
// Threading: one thread at a time. Blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/collections/definition.h"
#include "api/mongo/documents/document_view.h"
#include "api/mongo/documents/scan.h"
#include "api/mongo/handler_context.h"
#include "cluster/engine.h"
#include "value/terms.h"
#include "value/value.h"

namespace orrery::mongo {

// What the container's index has of the indexes of a collection.
std::vector<value::IndexRule> index_rules_of(const Definition& definition);

class IndexScan {
 public:
  // Null: no index helps, or it is not complete yet. `only`: the one index that may be used, and is
  // if the filter bounds it, however many documents it leaves. Null: any that helps, and leaves
  // `at_most` documents.
  static Answer<std::unique_ptr<IndexScan>> open(const HandlerContext& context,
                                                 cluster::RoutingPtr routing,
                                                 const ScanRange& range, const value::Value& filter,
                                                 const IndexSpec* only, uint64_t at_most);

  // Documents of an index whose keys were found already. `entries`: how many that took.
  static std::unique_ptr<IndexScan> of_keys(const HandlerContext& context,
                                            cluster::RoutingPtr routing, const ScanRange& range,
                                            const IndexSpec& index, std::vector<std::string> keys,
                                            uint64_t entries);

  // As Scan's.
  Answer<std::optional<std::string_view>> next();
  std::string_view key() const { return keys_[next_ - 1]; }
  void pause();
  uint64_t items_read() const { return items_; }
  uint64_t bytes_read() const { return bytes_; }
  uint64_t keys_read() const { return entries_; }
  const cluster::RoutingPtr& routing() const { return routing_; }
  const std::string& index_name() const { return index_->name; }
  const value::Value& index_key() const { return index_->key; }

 private:
  struct Candidate;
  struct Part;
  IndexScan(const HandlerContext& context, cluster::RoutingPtr routing, ScanRange range)
      : context_(context), routing_(std::move(routing)), range_(std::move(range)) {}
  std::vector<Candidate> candidates_of(const IndexSpec& index, const value::Value& filter) const;
  // False: it does not help.
  Answer<bool> collect(const value::Value& filter, const IndexSpec* only, uint64_t at_most);
  Answer<bool> collect_view(const query::ItemView& view, const std::vector<Candidate>& candidates,
                            uint64_t most);
  // What the index has of a candidate. Nothing: it cannot tell.
  std::optional<Part> part_of(const query::ItemView& view, const Candidate& candidate) const;
  // False: they are too many.
  Answer<bool> read_keys(const query::ItemView& view, const Part& part,
                         std::vector<std::string>& keys);
  void sort_keys();
  Answer<void> fetch();

  const HandlerContext& context_;
  cluster::RoutingPtr routing_;
  const cluster::RoutingPtr definition_ = routing_;
  const ScanRange range_;
  const value::Value* filter_ = nullptr;  // while keys are collected
  const IndexSpec* index_ = nullptr;      // belongs to definition_, as it was when keys were read
  std::vector<std::string> keys_;
  size_t next_ = 0;
  DocumentView view_;
  int lost_views_ = 0;    // in a row
  size_t page_from_ = 0;  // the key of the first of bodies_
  std::vector<std::string_view> bodies_;
  uint64_t items_ = 0;
  uint64_t bytes_ = 0;
  uint64_t entries_ = 0;
};

}  // namespace orrery::mongo
