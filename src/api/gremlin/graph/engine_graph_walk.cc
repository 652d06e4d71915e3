// Hops over numbers of vertices (known_graph.h): many at once, without an object for each. The
// vertices themselves are decoded where a step needs more of them than where they are.
#include <algorithm>
#include <utility>

#include "api/gremlin/graph/engine_graph.h"
#include "api/gremlin/graph/item.h"
#include "value/json.h"

namespace orrery::gremlin {
namespace {

constexpr size_t kVerticesOfPageMin = 64;
constexpr size_t kVerticesOfRead = 4096;
// Of a hop, for each edge while it is made: its place in the frontiers, and what is known of its
// end.
constexpr size_t kBytesOfHop = 64;

uint64_t product(uint64_t a, uint64_t b) {
  uint64_t made = 0;
  return __builtin_mul_overflow(a, b, &made) ? UINT64_MAX : made;
}
uint64_t sum(uint64_t a, uint64_t b) {
  uint64_t made = 0;
  return __builtin_add_overflow(a, b, &made) ? UINT64_MAX : made;
}

// Each vertex once, in the order in which they came first.
Frontier merged(const Frontier& from) {
  Frontier made;
  NumberIndex index(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t at = index.find_or_add(from.vertices[i], made.size());
    if (at == made.size()) {
      made.add(from.vertices[i], from.bulks[i]);
    } else {
      made.bulks[at] = sum(made.bulks[at], from.bulks[i]);
    }
  }
  return made;
}

// Calls take(from, to) for the stretches of a list that a hop goes along.
template <class Take>
void each_stretch(const KnownGraph::List& list, const std::vector<uint32_t>& labels, bool any_label,
                  const Take& take) {
  for (const KnownGraph::Stretch& one : list.labels) {
    if (any_label || std::ranges::find(labels, one.label) != labels.end()) take(one.from, one.to);
  }
}

}  // namespace

template <class Take>
void EngineGraph::each_neighbour(const Lists& lists, const Take& take) {
  for (size_t i = 0; i < std::max(lists.out.size(), lists.in.size()); ++i) {
    for (const auto* side : {&lists.out, &lists.in}) {
      if (side->empty()) continue;
      const KnownGraph::List& list = *(*side)[i];
      each_stretch(list, lists.labels, lists.any_label, [&](size_t from, size_t to) {
        for (size_t at = from; at < to; ++at) take(i, list.others[at]);
      });
    }
  }
}

void EngineGraph::note_paid() {
  if (paid_keys_.empty()) return;
  for (const Number number : known_graph().numbers(paid_keys_)) paid_vertices_.insert(number);
  paid_keys_.clear();
}

Result<bool> EngineGraph::number(std::span<const VertexPtr> vertices, std::vector<uint32_t>& to) {
  if (writes_ || !has_cache()) return false;
  std::vector<ElementKey> keys;
  keys.reserve(vertices.size());
  for (const VertexPtr& vertex : vertices) keys.push_back(vertex->key);
  to = known_graph().numbers(keys);
  note_paid();
  return true;
}

Result<bool> EngineGraph::hop(const Frontier& from, const HopFilter& hop, Frontier& to) {
  const Frontier starts = merged(from);
  auto lists = lists_of(starts.vertices, hop);
  if (!lists) return pass(lists.error());
  if (!*lists) return false;
  size_t edges = 0;
  each_neighbour(**lists, [&](size_t, Number) { ++edges; });
  if (auto checked = check(); !checked) return pass(checked.error());
  if (auto has_room = check_room(edges * kBytesOfHop); !has_room) return pass(has_room.error());
  Frontier met;
  met.vertices.reserve(edges);
  met.bulks.reserve(edges);
  each_neighbour(**lists, [&](size_t i, Number number) { met.add(number, starts.bulks[i]); });
  std::vector<KnownGraph::Known> found;
  if (auto looked = look_at(met.vertices, false, found); !looked) return pass(looked.error());
  for (size_t i = 0; i < met.size(); ++i) {
    if (found[i].exists) to.add(met.vertices[i], met.bulks[i]);
  }
  return true;
}

Result<std::optional<uint64_t>> EngineGraph::count_hop(const Frontier& from, const HopFilter& hop) {
  auto lists = lists_of(from.vertices, hop);
  if (!lists) return pass(lists.error());
  if (!*lists) return std::nullopt;
  uint64_t count = 0;
  for (const auto* side : {&(*lists)->out, &(*lists)->in}) {
    for (size_t i = 0; i < side->size(); ++i) {
      each_stretch(*(*side)[i], (*lists)->labels, (*lists)->any_label,
                   [&](size_t first, size_t last) {
                     count = sum(count, product(last - first, from.bulks[i]));
                   });
    }
  }
  return count;
}

Result<std::vector<VertexPtr>> EngineGraph::numbered(std::span<const uint32_t> numbers) {
  std::vector<KnownGraph::Known> found;
  if (auto looked = look_at(numbers, true, found); !looked) return pass(looked.error());
  std::vector<VertexPtr> made(numbers.size());
  for (size_t i = 0; i < made.size(); ++i) made[i] = std::move(found[i].vertex);
  return made;
}

Status EngineGraph::look_at(std::span<const Number> numbers, bool decoded,
                            std::vector<KnownGraph::Known>& found) {
  found.assign(numbers.size(), {});
  std::vector<Number> missing;
  const auto is_enough = [&](const KnownGraph::Known& known) {
    return known.is_known && (!decoded || !known.exists || known.vertex);
  };
  known_graph().each_vertex(numbers, [&](size_t i, const KnownGraph::Known& known) {
    if (!is_enough(known)) return;
    found[i].is_known = true;
    found[i].exists = known.exists;
    found[i].json_bytes = known.json_bytes;
    if (decoded) found[i].vertex = known.vertex;
  });
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (found[i].is_known) continue;
    const auto read = read_vertices_.find(numbers[i]);
    if (read == read_vertices_.end() || !is_enough(read->second)) missing.push_back(numbers[i]);
  }
  for (size_t from = 0; from < missing.size(); from += kVerticesOfRead) {
    const size_t count = std::min(kVerticesOfRead, missing.size() - from);
    auto read = read_vertices(std::span(missing).subspan(from, count), decoded);
    if (!read) return read;
  }
  ReadCost cost;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!found[i].is_known) found[i] = read_vertices_[numbers[i]];
    if (paid_vertices_.insert(numbers[i]) && found[i].exists) {
      cost += ReadCost::of_item(found[i].json_bytes);
    }
  }
  if (cost.items == 0) return {};
  return reader_.charge(place(known_graph().keys(numbers.first(1))[0].partition), cost);
}

Status EngineGraph::read_vertices(std::span<const Number> numbers, bool decoded) {
  const std::vector<ElementKey> keys = known_graph().keys(numbers);
  std::unordered_map<ElementKey, Number, KeyHash> by_key;
  std::vector<ItemReader::Key> asked;
  for (size_t i = 0; i < numbers.size(); ++i) {
    read_vertices_[numbers[i]] = {.is_known = true};
    if (!by_key.emplace(keys[i], numbers[i]).second) continue;
    asked.push_back({place(keys[i].partition), keys[i].id});
  }
  const ItemReader::Free free(reader_);
  auto fetched = reader_.fetch(std::move(asked), [&](std::string_view json) -> Status {
    auto document = value::JsonDocument::parse(json);
    if (!document) return pass(document.error());
    if (is_edge_item(document->root())) return {};
    VertexPtr vertex = vertex_of(document->root(), form_);
    const auto at = by_key.find(vertex->key);
    if (at == by_key.end()) return {};
    read_vertices_[at->second] = {.is_known = true,
                                  .exists = true,
                                  .json_bytes = static_cast<uint32_t>(json.size()),
                                  .vertex = decoded ? std::move(vertex) : nullptr};
    return keep(decoded ? 2 * json.size() + 256 : 64);
  });
  if (!fetched) return fetched;
  std::vector<std::pair<Number, KnownGraph::Known>> read;
  for (const Number number : numbers) read.emplace_back(number, read_vertices_[number]);
  known_graph().put_vertices(moment_->number, read);
  return {};
}

// The neighbours along lists, in their order; the vertices are read as they are asked for.
class EngineGraph::Neighbours final : public NeighbourCursor {
 public:
  Neighbours(EngineGraph& graph, const Lists& lists) : graph_(graph) {
    each_neighbour(lists, [this](size_t i, Number number) {
      numbers_.push_back(number);
      from_.push_back(i);
    });
  }

  Result<std::vector<Neighbour>> next(size_t want) override {
    std::vector<Neighbour> given;
    while (given.empty() && at_ < numbers_.size()) {
      const size_t count = std::min(std::max(want, kVerticesOfPageMin), numbers_.size() - at_);
      auto vertices = graph_.numbered(std::span(numbers_).subspan(at_, count));
      if (!vertices) return pass(vertices.error());
      given.reserve(count);
      for (size_t i = 0; i < count; ++i) {
        if ((*vertices)[i]) given.push_back({from_[at_ + i], std::move((*vertices)[i])});
      }
      at_ += count;
    }
    return given;
  }

 private:
  EngineGraph& graph_;
  std::vector<Number> numbers_;
  std::vector<size_t> from_;
  size_t at_ = 0;
};

Result<std::unique_ptr<NeighbourCursor>> EngineGraph::neighbours_of(std::vector<VertexPtr> vertices,
                                                                    const HopFilter& hop) {
  std::vector<Number> numbers;
  auto has_numbers = number(vertices, numbers);
  if (!has_numbers) return pass(has_numbers.error());
  if (!*has_numbers) return nullptr;
  auto lists = lists_of(numbers, hop);
  if (!lists) return pass(lists.error());
  if (!*lists) return nullptr;
  return std::make_unique<Neighbours>(*this, **lists);
}

Result<std::optional<std::vector<uint64_t>>> EngineGraph::degrees_of(
    std::span<const VertexPtr> vertices, const HopFilter& hop) {
  std::vector<Number> numbers;
  auto has_numbers = number(vertices, numbers);
  if (!has_numbers) return pass(has_numbers.error());
  if (!*has_numbers) return std::nullopt;
  auto lists = lists_of(numbers, hop);
  if (!lists) return pass(lists.error());
  if (!*lists) return std::nullopt;
  std::vector<uint64_t> degrees(vertices.size());
  each_neighbour(**lists, [&](size_t i, Number) { ++degrees[i]; });
  return degrees;
}

}  // namespace orrery::gremlin
