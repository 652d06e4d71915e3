// See near_queue.h.
#include "api/mongo/documents/near_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/mongo/bson/bson_codec.h"

namespace orrery::mongo {
namespace {

size_t bytes_of(const NearQueue::Document& document) {
  return sizeof(document) + document.key.size() + document.body.size();
}

bool is_farther(const NearQueue::Document& a, const NearQueue::Document& b) {
  return std::tie(a.distance_m, a.key) > std::tie(b.distance_m, b.key);
}

}  // namespace

Answer<void> NearQueue::add(std::string_view key, std::string_view body) {
  if (auto spent = evaluation_.spend(64 + body.size() / 64); !spent) return spent;
  auto document = from_bson(body);
  if (!document) return pass(std::move(document.error()));
  const auto nearest = nearest_place(near_, *document, evaluation_);
  if (!nearest) return {};
  if (near_.max_distance_m && nearest->distance_m > *near_.max_distance_m) return {};
  heap_.push_back({nearest->distance_m, std::string(key), std::string(body)});
  bytes_ += bytes_of(heap_.back());
  std::ranges::push_heap(heap_, is_farther);
  if (bytes_ <= kBytesMax) return {};
  return refuse(kQueryExceededMemory,
                fmt::format("more than {} bytes of documents are about as far from the point: ask "
                            "for a smaller $maxDistance",
                            kBytesMax));
}

NearQueue::Document NearQueue::take() {
  std::ranges::pop_heap(heap_, is_farther);
  Document taken = std::move(heap_.back());
  heap_.pop_back();
  bytes_ -= bytes_of(taken);
  return taken;
}

}  // namespace orrery::mongo
