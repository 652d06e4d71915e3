// Vertex programs: pageRank, peerPressure, connectedComponent, shortestPath. They look at the whole
// graph, which is read once, and give what they found to the traversers as properties that are not
// stored, or as paths.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <set>

#include "api/gremlin/traversal/compile.h"

namespace orrery::gremlin {
namespace {

struct Whole {
  std::vector<VertexPtr> vertices;
  std::unordered_map<Value, size_t, Value::Hash> index;
};

Result<Whole> read_whole(Run& run) {
  Whole whole;
  auto cursor = run.graph.find_vertices({});
  if (!cursor) return pass(cursor.error());
  while (true) {
    auto some = (*cursor)->next(1024);
    if (!some) return pass(some.error());
    if (some->empty()) return whole;
    for (Value& value : *some) {
      if (auto kept = run.keep(64); !kept) return pass(kept.error());
      if (whole.index.emplace(value, whole.vertices.size()).second) {
        whole.vertices.push_back(value.vertex());
      }
    }
  }
}

struct Hop {
  size_t to;
  EdgePtr edge;
};

// The neighbours of each vertex by the edges that a traversal from it gives.
Result<std::vector<std::vector<Hop>>> hops_of(Run& run, const Whole& whole, Traversal& edges) {
  std::vector<std::vector<Hop>> hops(whole.vertices.size());
  for (size_t i = 0; i < whole.vertices.size(); ++i) {
    auto found = edges.all(run, run.fresh(Value::of(whole.vertices[i])));
    if (!found) return pass(found.error());
    for (const Traverser& one : *found) {
      if (!one.value.is_edge()) return fail(Code::invalid, "a vertex program goes along edges");
      const EdgePtr edge = one.value.edge();
      const ElementKey& other = edge->out == whole.vertices[i]->key ? edge->in : edge->out;
      auto vertex = std::make_shared<Vertex>();
      vertex->key = other;
      const auto at = whole.index.find(Value::of(vertex));
      if (at != whole.index.end()) hops[i].push_back({at->second, edge});
    }
    if (auto checked = run.check(16); !checked) return pass(checked.error());
  }
  return hops;
}

struct ProgramSpec {
  std::string property;
  std::shared_ptr<Traversal> edges;
  int64_t times = -1;
  double alpha = 0.85;
  // of shortestPath
  std::shared_ptr<Traversal> target;
  Modulator distance;
  bool has_distance = false;
  double distance_max = -1;
  bool with_edges = false;
};

Result<std::shared_ptr<Traversal>> way(Compiler& compiler, std::string_view step) {
  auto child = compiler.child(Chain{"__", {StepCall{std::string(step), {}}}});
  if (!child) return pass(child.error());
  return std::shared_ptr<Traversal>(std::move(*child));
}

Status read_option(Compiler& compiler, const StepCall& with, ProgramSpec& spec) {
  const auto& arguments = with.arguments;
  if (!arguments[0].is_text()) return fail(Code::unsupported, print(with) + " is not supported");
  const std::string& full = arguments[0].value.string();
  const std::string name = full.substr(full.rfind('.') + 1);
  const Argument* value = arguments.size() > 1 ? &arguments[1] : nullptr;
  if (name == "includeEdges") {
    spec.with_edges = value == nullptr || value->value.as_bool();
    return {};
  }
  if (value == nullptr) return fail(Code::invalid, print(with) + " has no value");
  if (name == "edges" && value->is_token()) {
    const std::string& direction = value->value.string();
    auto edges = way(compiler, direction == "Direction.IN"    ? "inE"
                               : direction == "Direction.OUT" ? "outE"
                                                              : "bothE");
    if (!edges) return pass(edges.error());
    spec.edges = std::move(*edges);
    return {};
  }
  if ((name == "edges" || name == "target") && value->chain) {
    auto child = compiler.child(*value->chain);
    if (!child) return pass(child.error());
    (name == "edges" ? spec.edges : spec.target) = std::move(*child);
    return {};
  }
  if (name == "propertyName" && value->is_text()) {
    spec.property = value->value.string();
  } else if (name == "times" && value->value.is_integer()) {
    spec.times = value->value.as_integer();
  } else if (name == "maxDistance" && value->value.is_number()) {
    spec.distance_max = value->value.as_number();
  } else if (name == "distance") {
    auto by = compiler.modulator(StepCall{"by", {*value}});
    if (!by) return pass(by.error());
    spec.distance = std::move(*by);
    spec.has_distance = true;
  } else {
    return fail(Code::unsupported, print(with) + " is not supported");
  }
  return {};
}

Result<ProgramSpec> read_spec(Compiler& compiler, const Calls& calls, std::string property,
                              std::string_view edges) {
  ProgramSpec spec;
  spec.property = std::move(property);
  auto usual = way(compiler, edges);
  if (!usual) return pass(usual.error());
  spec.edges = std::move(*usual);
  if (!calls.arguments().empty() && calls.arguments()[0].value.is_number()) {
    spec.alpha = calls.arguments()[0].value.as_number();
  }
  for (const StepCall* call : calls.after) {
    if (call->name == "with") {
      if (auto read = read_option(compiler, *call, spec); !read) return pass(read.error());
    } else if (call->name == "times") {
      if (!call->arguments[0].value.is_integer()) return bad_arguments(calls);
      spec.times = call->arguments[0].value.as_integer();
    } else if (call->name == "by" && !call->arguments.empty()) {
      if (call->arguments[0].is_text()) {
        spec.property = call->arguments[0].value.string();
      } else if (call->arguments[0].chain) {
        auto child = compiler.child(*call->arguments[0].chain);
        if (!child) return pass(child.error());
        spec.edges = std::move(*child);
      }
    }
  }
  if (spec.times > 1000) return fail(Code::invalid, "a vertex program may take 1000 rounds");
  return spec;
}

void set(const VertexPtr& vertex, const std::string& name, Value value) {
  std::erase_if(vertex->properties, [&](const auto& one) { return one->key == name; });
  auto property = std::make_shared<VertexProperty>();
  property->id = vertex->key.id + "|" + name;
  property->key = name;
  property->value = std::move(value);
  property->owner = vertex;
  vertex->properties.push_back(std::move(property));
}

// How much each vertex starts with: how many traversers are at it.
std::vector<double> starts_at(const Whole& whole, const Batch& batch) {
  std::vector<double> starts(whole.vertices.size());
  for (const Traverser& traverser : batch) {
    const auto at = whole.index.find(traverser.value);
    if (at != whole.index.end()) starts[at->second] += static_cast<double>(traverser.bulk);
  }
  return starts;
}

Status page_rank(Run& run, const ProgramSpec& spec, const Whole& whole,
                 const std::vector<std::vector<Hop>>& hops, const std::vector<double>& starts) {
  const size_t count = whole.vertices.size();
  // From all vertices alike the ranks add up to 1; otherwise each begins with its traversers.
  const bool is_of_all = std::ranges::all_of(starts, [](double start) { return start == 1; });
  std::vector<double> rank = starts;
  if (is_of_all) std::ranges::fill(rank, 1 / static_cast<double>(count));
  const int64_t rounds = spec.times >= 0 ? spec.times : 20;
  for (int64_t round = 0; round < rounds; ++round) {
    std::vector<double> next(count);
    double spread = 0;  // what goes to all vertices alike
    for (size_t i = 0; i < count; ++i) {
      spread += hops[i].empty() ? rank[i] : (1 - spec.alpha) * rank[i];
      for (const Hop& hop : hops[i])
        next[hop.to] += spec.alpha * rank[i] / static_cast<double>(hops[i].size());
    }
    double change = 0;
    for (size_t i = 0; i < count; ++i) {
      next[i] += spread / static_cast<double>(count);
      change += std::abs(next[i] - rank[i]);
    }
    rank = std::move(next);
    if (auto checked = run.check(count); !checked) return checked;
    if (spec.times < 0 && change < 1e-5) break;
  }
  for (size_t i = 0; i < count; ++i) set(whole.vertices[i], spec.property, Value::real(rank[i]));
  return {};
}

Status peer_pressure(Run& run, const ProgramSpec& spec, const Whole& whole,
                     const std::vector<std::vector<Hop>>& hops, const std::vector<double>& starts) {
  const size_t count = whole.vertices.size();
  std::vector<size_t> cluster(count);
  std::vector<double> strength(count, 1);
  for (size_t i = 0; i < count; ++i) cluster[i] = i;
  for (size_t i = 0; i < count; ++i) strength[i] = std::max(starts[i], 0.0);
  const int64_t rounds = spec.times >= 0 ? spec.times : 30;
  for (int64_t round = 0; round < rounds; ++round) {
    std::vector<std::map<size_t, double>> votes(count);
    for (size_t i = 0; i < count; ++i) {
      if (strength[i] == 0) continue;  // it has no vote
      votes[i][cluster[i]] += strength[i];
      for (const Hop& hop : hops[i]) votes[hop.to][cluster[i]] += strength[i];
    }
    bool changed = false;
    for (size_t i = 0; i < count; ++i) {
      size_t best = cluster[i];
      double most = -1;
      for (const auto& [which, weight] : votes[i]) {
        const bool smaller = whole.vertices[which]->key.id < whole.vertices[best]->key.id;
        if (weight > most || (weight == most && smaller)) {
          most = weight;
          best = which;
        }
      }
      changed = changed || best != cluster[i];
      cluster[i] = best;
    }
    if (auto checked = run.check(count); !checked) return checked;
    if (!changed) break;
  }
  for (size_t i = 0; i < count; ++i) {
    set(whole.vertices[i], spec.property, Value::text(whole.vertices[cluster[i]]->key.id));
  }
  return {};
}

Status connected(Run& run, const ProgramSpec& spec, const Whole& whole,
                 const std::vector<std::vector<Hop>>& hops, const std::vector<double>& /*starts*/) {
  const size_t count = whole.vertices.size();
  std::vector<size_t> parent(count);
  for (size_t i = 0; i < count; ++i) parent[i] = i;
  const auto root = [&](size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (size_t i = 0; i < count; ++i) {
    for (const Hop& hop : hops[i]) parent[root(i)] = root(hop.to);
    if (auto checked = run.check(); !checked) return checked;
  }
  std::map<size_t, std::string> names;
  for (size_t i = 0; i < count; ++i) {
    std::string& name = names[root(i)];
    const std::string& id = whole.vertices[i]->key.id;
    if (name.empty() || id < name) name = id;
  }
  for (size_t i = 0; i < count; ++i) {
    set(whole.vertices[i], spec.property, Value::text(names[root(i)]));
  }
  return {};
}

using Program = Status (*)(Run&, const ProgramSpec&, const Whole&,
                           const std::vector<std::vector<Hop>>&, const std::vector<double>&);

class ProgramStep final : public BarrierStep {
 public:
  ProgramStep(Program program, ProgramSpec spec) : program_(program), spec_(std::move(spec)) {}
  void reset() override { BarrierStep::reset(), all_.clear(); }

 protected:
  Status take(Run& run, Batch batch) override {
    if (auto kept = run.keep(batch); !kept) return kept;
    std::ranges::move(batch, std::back_inserter(all_));
    return {};
  }
  Status give(Run& run, Batch& out) override {
    auto whole = read_whole(run);
    if (!whole) return pass(whole.error());
    auto hops = hops_of(run, *whole, *spec_.edges);
    if (!hops) return pass(hops.error());
    if (auto done = program_(run, spec_, *whole, *hops, starts_at(*whole, all_)); !done)
      return done;
    std::ranges::move(all_, std::back_inserter(out));
    all_.clear();
    return {};
  }

 private:
  const Program program_;
  const ProgramSpec spec_;
  Batch all_;
};

// All shortest paths from each traverser's vertex to each that the target traversal takes.
class ShortestPathStep final : public FlatStep {
 public:
  explicit ShortestPathStep(ProgramSpec spec) : spec_(std::move(spec)) {}
  bool is_stateful() const override { return true; }

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    auto whole = read_whole(run);
    if (!whole) return pass(whole.error());
    auto hops = hops_of(run, *whole, *spec_.edges);
    if (!hops) return pass(hops.error());
    for (const Traverser& traverser : in) {
      const auto at = whole->index.find(traverser.value);
      if (at == whole->index.end()) continue;
      if (auto found = from(run, *whole, *hops, at->second, out); !found) return found;
    }
    return {};
  }

 private:
  using Before = std::vector<std::vector<std::pair<size_t, EdgePtr>>>;

  Status from(Run& run, const Whole& whole, const std::vector<std::vector<Hop>>& hops, size_t start,
              Batch& out) const {
    constexpr double kFar = INFINITY;
    std::vector<double> distance(whole.vertices.size(), kFar);
    Before before(whole.vertices.size());
    using Entry = std::pair<double, size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
    distance[start] = 0;
    next.emplace(0, start);
    while (!next.empty()) {
      const auto [so_far, i] = next.top();
      next.pop();
      if (so_far > distance[i]) continue;
      for (const Hop& hop : hops[i]) {
        double length = 1;
        if (spec_.has_distance) {
          auto value = spec_.distance.apply(run, run.fresh(Value::of(hop.edge)));
          if (!value) return pass(value.error());
          if (!value->is_number() || value->as_number() < 0) {
            return fail(Code::invalid, "the distance of shortestPath() is a number of 0 or more");
          }
          length = value->as_number();
        }
        const double there = so_far + length;
        if (spec_.distance_max >= 0 && there > spec_.distance_max + 1e-9) continue;
        if (there < distance[hop.to] - 1e-12) {
          distance[hop.to] = there;
          before[hop.to].clear();
          next.emplace(there, hop.to);
        }
        if (hop.to != start && std::abs(there - distance[hop.to]) <= 1e-12) {
          before[hop.to].emplace_back(i, hop.edge);
        }
      }
      if (auto checked = run.check(8); !checked) return checked;
    }
    for (size_t i = 0; i < whole.vertices.size(); ++i) {
      if (distance[i] == kFar) continue;
      if (spec_.target) {
        auto wanted = spec_.target->has_any(run, run.fresh(Value::of(whole.vertices[i])));
        if (!wanted) return pass(wanted.error());
        if (!*wanted) continue;
      }
      std::vector<Value> tail;
      if (auto given = give(run, whole, before, start, i, tail, out); !given) return given;
    }
    return {};
  }

  // Walks back to the start; `tail` is what comes after vertex i, last first.
  Status give(Run& run, const Whole& whole, const Before& before, size_t start, size_t i,
              std::vector<Value>& tail, Batch& out) const {
    if (tail.size() > 2000) return fail(Code::too_large, "a shortest path is too long");
    tail.push_back(Value::of(whole.vertices[i]));
    if (i == start) {
      auto path = std::make_shared<PathValue>();
      path->objects.assign(tail.rbegin(), tail.rend());
      path->labels.resize(path->objects.size());
      if (auto kept = run.keep(64 * path->objects.size()); !kept) return kept;
      out.push_back(run.fresh(Value::of(std::shared_ptr<const PathValue>(std::move(path)))));
    }
    for (const auto& [previous, edge] : before[i]) {
      if (spec_.with_edges) tail.push_back(Value::of(edge));
      if (auto given = give(run, whole, before, start, previous, tail, out); !given) return given;
      if (spec_.with_edges) tail.pop_back();
    }
    tail.pop_back();
    return {};
  }

  const ProgramSpec spec_;
};

Result<StepPtr> make_program(Compiler& compiler, const Calls& calls) {
  const std::string& name = calls.call.name;
  Program program = page_rank;
  std::string property = "gremlin.pageRankVertexProgram.pageRank";
  std::string_view edges = "outE";
  if (name == "peerPressure") {
    program = peer_pressure;
    property = "gremlin.peerPressureVertexProgram.cluster";
  } else if (name == "connectedComponent") {
    program = connected;
    property = "gremlin.connectedComponentVertexProgram.component";
    edges = "bothE";
  }
  auto spec = read_spec(compiler, calls, property, edges);
  if (!spec) return pass(spec.error());
  return std::make_unique<ProgramStep>(program, std::move(*spec));
}

Result<StepPtr> make_shortest_path(Compiler& compiler, const Calls& calls) {
  auto spec = read_spec(compiler, calls, "", "bothE");
  if (!spec) return pass(spec.error());
  return std::make_unique<ShortestPathStep>(std::move(*spec));
}

}  // namespace

Maker find_program_step(std::string_view name) {
  if (name == "pageRank" || name == "peerPressure" || name == "connectedComponent")
    return make_program;
  return name == "shortestPath" ? make_shortest_path : nullptr;
}

}  // namespace orrery::gremlin
