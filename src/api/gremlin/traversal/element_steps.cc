// Steps that find elements: V, E, and hops between vertices and edges.
#include <algorithm>
#include <array>
#include <deque>

#include "api/gremlin/traversal/compile.h"

namespace orrery::gremlin {
namespace {

// V() and E(), with the has() behind it.
class FindStep final : public Step {
 public:
  FindStep(bool edges, ElementFilter filter) : edges_(edges), filter_(std::move(filter)) {}

  Status pull(Run& run, size_t want, Batch& out) override {
    const size_t had = out.size();
    while (out.size() == had) {
      if (!cursor_) {
        if (waiting_.empty()) {
          Batch in;
          if (auto pulled = before->pull(run, 1, in); !pulled) return pulled;
          if (in.empty()) return {};
          std::ranges::move(in, std::back_inserter(waiting_));
        }
        from_ = std::move(waiting_.front());
        waiting_.pop_front();
        if (is_counted_) {
          auto count = run.graph.count(filter_, edges_);
          if (!count) return pass(count.error());
          if (*count) {
            if (**count == 0) continue;
            out.push_back(from_.step_to(Value()));
            out.back().bulk = saturated_product(out.back().bulk, **count);
            continue;
          }
        }
        auto cursor = edges_ ? run.graph.find_edges(filter_) : run.graph.find_vertices(filter_);
        if (!cursor) return pass(cursor.error());
        cursor_ = std::move(*cursor);
      }
      auto found = cursor_->next(want);
      if (!found) return pass(found.error());
      if (found->empty()) {
        cursor_.reset();
        continue;
      }
      if (auto checked = run.check(found->size()); !checked) return checked;
      for (Value& element : *found) {
        if (std::ranges::all_of(filter_.conditions,
                                [&](const Condition& one) { return matches(one, element); })) {
          out.push_back(from_.step_to(std::move(element)));
        }
      }
    }
    return {};
  }
  void reset() override { cursor_.reset(), waiting_.clear(); }
  void only_count() override { is_counted_ = true; }

 private:
  const bool edges_;
  const ElementFilter filter_;
  bool is_counted_ = false;
  std::deque<Traverser> waiting_;
  Traverser from_;
  std::unique_ptr<ElementCursor> cursor_;
};

// out(), inE() and so on, with the has() behind those that give edges. The edges of a batch come
// page by page: a limit() behind it does not wait for all of them.
class HopStep final : public Step {
 public:
  HopStep(HopFilter hop, bool to_edges) : hop_(std::move(hop)), to_edges_(to_edges) {}

  bool is_stateful() const override { return false; }
  void reset() override { end_batch(), input_.rest.clear(); }
  // As many vertices as edges: they need not be read.
  void only_ask() override { to_edges_ = is_asked_ = true; }
  Status pull(Run& run, size_t want, Batch& out) override {
    const size_t had = out.size();
    while (out.size() == had) {
      if (!edges_ && !neighbours_) {
        if (is_asked_ && hop_.conditions.empty()) {
          bool is_at_end = false;
          auto counted = count_numbers(run, out, is_at_end);
          if (!counted) return pass(counted.error());
          if (is_at_end) return {};
          if (*counted) continue;
        }
        if (auto begun = begin(run, want, out); !begun) return begun;
        if (in_.empty()) return {};
        continue;
      }
      if (neighbours_) {
        if (auto given = give_neighbours(run, want, out); !given) return given;
        continue;
      }
      auto found = edges_->next(want);
      if (!found) return pass(found.error());
      if (found->empty()) {
        end_batch();
        continue;
      }
      if (auto checked = run.check(found->size()); !checked) return checked;
      if (auto given = give(run, *found, out); !given) return given;
    }
    return {};
  }

  bool gives_numbers() const override { return !to_edges_ && hop_.conditions.empty(); }
  Result<bool> pull_numbers(Run& run, Frontier& out) override {
    if (!gives_numbers() || edges_ || neighbours_) return false;
    const size_t had = out.size();
    while (out.size() == had) {
      Frontier from;
      auto given = input_.next(run, *before, from);
      if (!given || !*given || from.empty()) return given;
      auto hopped = run.graph.hop(from, hop_, out);
      if (!hopped) return hopped;
      if (*hopped) continue;
      if (auto back = input_.give_back(run, from); !back) return pass(back.error());
      return false;
    }
    return true;
  }

 private:
  void end_batch() { edges_.reset(), neighbours_.reset(), in_.clear(); }

  // One traverser for all edges of the next vertices. False: they have to be gone through.
  Result<bool> count_numbers(Run& run, Batch& out, bool& is_at_end) {
    Frontier from;
    auto given = input_.next(run, *before, from);
    if (!given || !*given) return given;
    is_at_end = from.empty();
    if (is_at_end) return true;
    auto count = run.graph.count_hop(from, hop_);
    if (!count) return pass(count.error());
    if (!*count) {
      if (auto back = input_.give_back(run, from); !back) return pass(back.error());
      return false;
    }
    if (**count == 0) return true;
    out.push_back(run.fresh(Value()));
    out.back().bulk = **count;
    return true;
  }

  // With the next batch, if there is one.
  Status begin(Run& run, size_t want, Batch& out) {
    in_ = std::exchange(input_.rest, {});
    if (in_.empty()) {
      if (auto pulled = before->pull(run, want, in_); !pulled) return pulled;
    }
    if (in_.empty()) return {};
    if (auto checked = run.check(in_.size()); !checked) return checked;
    merge_bulk(run, in_);
    std::vector<VertexPtr> from;
    for (const Traverser& traverser : in_) {
      if (!traverser.value.is_vertex()) {
        return fail(Code::invalid, name + " is for vertices, and " +
                                       traverser.value.print().substr(0, 100) + " is none");
      }
      from.push_back(traverser.value.vertex());
    }
    if (is_asked_ && hop_.conditions.empty()) {
      auto degrees = run.graph.degrees_of(from, hop_);
      if (!degrees) return pass(degrees.error());
      if (*degrees) {
        give_degrees(**degrees, out);
        return {};
      }
    } else if (!to_edges_) {
      auto neighbours = run.graph.neighbours_of(from, hop_);
      if (!neighbours) return pass(neighbours.error());
      neighbours_ = std::move(*neighbours);
      if (neighbours_) return {};
    }
    auto edges = run.graph.edges_of(std::move(from), hop_);
    if (!edges) return pass(edges.error());
    edges_ = std::move(*edges);
    return {};
  }

  void give_degrees(const std::vector<uint64_t>& degrees, Batch& out) const {
    for (size_t i = 0; i < degrees.size(); ++i) {
      if (degrees[i] == 0) continue;
      out.push_back(in_[i].step_to(Value()));
      out.back().bulk = saturated_product(out.back().bulk, degrees[i]);
    }
  }

  Status give_neighbours(Run& run, size_t want, Batch& out) {
    auto found = neighbours_->next(want);
    if (!found) return pass(found.error());
    if (found->empty()) {
      end_batch();
      return {};
    }
    out.reserve(out.size() + found->size());
    for (Neighbour& one : *found) {
      out.push_back(in_[one.from].step_to(Value::of(std::move(one.vertex))));
    }
    return run.check(found->size());
  }

  Status give(Run& run, const std::vector<HopEdge>& found, Batch& out) const {
    if (to_edges_) {
      for (const HopEdge& one : found) {
        Value edge = Value::of(one.edge);
        if (std::ranges::all_of(hop_.conditions,
                                [&](const Condition& each) { return matches(each, edge); })) {
          out.push_back(in_[one.from].step_to(std::move(edge)));
        }
      }
      return {};
    }
    std::vector<ElementKey> ends;
    ends.reserve(found.size());
    for (const HopEdge& one : found) {
      ends.push_back(end_of(*one.edge, in_[one.from].value.as_vertex().key));
    }
    auto vertices = run.graph.vertices(ends);
    if (!vertices) return pass(vertices.error());
    for (size_t i = 0; i < found.size(); ++i) {
      if ((*vertices)[i]) out.push_back(in_[found[i].from].step_to(Value::of((*vertices)[i])));
    }
    return {};
  }

  const ElementKey& end_of(const Edge& edge, const ElementKey& from) const {
    if (hop_.way == Way::out) return edge.in;
    if (hop_.way == Way::in) return edge.out;
    // Of an edge of a vertex with itself both ends are the same.
    return edge.out == from ? edge.in : edge.out;
  }

  const HopFilter hop_;
  bool to_edges_;
  bool is_asked_ = false;  // only for how many there are
  NumberedInput input_;
  Batch in_;  // that the cursors are about
  std::unique_ptr<HopCursor> edges_;
  std::unique_ptr<NeighbourCursor> neighbours_;
};

// outV, inV, bothV, otherV
class EndStep final : public FlatStep {
 public:
  enum class Which : uint8_t { out, in, both, other };
  explicit EndStep(Which which) : which_(which) {}

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    std::vector<ElementKey> keys;
    for (const Traverser& traverser : in) {
      if (!traverser.value.is_edge()) {
        return fail(Code::invalid, name + " is for edges, and " +
                                       traverser.value.print().substr(0, 100) + " is none");
      }
      const Edge& edge = *traverser.value.edge();
      if (which_ == Which::other) {
        keys.push_back(came_from(traverser) == edge.out ? edge.in : edge.out);
        continue;
      }
      if (which_ != Which::in) keys.push_back(edge.out);
      if (which_ != Which::out) keys.push_back(edge.in);
    }
    auto vertices = run.graph.vertices(keys);
    if (!vertices) return pass(vertices.error());
    size_t at = 0;
    for (const Traverser& traverser : in) {
      for (int n = which_ == Which::both ? 2 : 1; n > 0; --n, ++at) {
        if ((*vertices)[at]) out.push_back(traverser.step_to(Value::of((*vertices)[at])));
      }
    }
    return {};
  }

 private:
  // The vertex on the path before the edge.
  static ElementKey came_from(const Traverser& traverser) {
    for (const PathNode* node = traverser.path.get(); node != nullptr; node = node->before.get()) {
      if (node->value.is_vertex()) return node->value.vertex()->key;
    }
    return {};
  }

  const Which which_;
};

// Adds the conditions of the has() that follow a step.
Status add_conditions(const Calls& calls, std::vector<Condition>& to) {
  for (const StepCall* call : calls.after) {
    auto conditions = conditions_of(*call);
    if (!conditions) return pass(conditions.error());
    if (!*conditions) return bad_arguments(calls);
    to.insert(to.end(), (*conditions)->begin(), (*conditions)->end());
  }
  return {};
}

Result<StepPtr> make_find(Compiler&, const Calls& calls) {
  ElementFilter filter;
  const auto is_plain = [](const Value& value) {
    return value.is_text() || value.is_number() || value.kind() == Kind::boolean;
  };
  const std::function<void(const Value&)> add = [&](const Value& value) {
    if (value.is_vertex()) {
      filter.ids.push_back(
          Value::list({value.vertex()->key.partition, Value::text(value.vertex()->key.id)}));
    } else if (value.is_edge()) {
      filter.ids.push_back(
          Value::list({value.edge()->key.partition, Value::text(value.edge()->key.id)}));
    } else if (value.is_list() &&
               !(value.elements().size() == 2 && std::ranges::all_of(value.elements(), is_plain))) {
      for (const Value& element : value.elements()) {
        // Lists in a list are pairs or nothing.
        if (!element.is_list() || element.elements().size() == 2) add(element);
      }
    } else if (!value.is_null()) {
      filter.ids.push_back(value);
    }
  };
  for (const Argument& argument : calls.arguments()) {
    if (!argument.is_value()) return bad_arguments(calls);
    filter.by_id = true;
    add(argument.value);
  }
  if (auto added = add_conditions(calls, filter.conditions); !added) return pass(added.error());
  return std::make_unique<FindStep>(calls.call.name == "E", std::move(filter));
}

Result<StepPtr> make_hop_of(const Calls& calls, Way way, bool to_edges, size_t from) {
  auto labels = texts(calls, from);
  if (!labels) return pass(labels.error());
  HopFilter hop{way, std::move(*labels), {}};
  if (auto added = add_conditions(calls, hop.conditions); !added) return pass(added.error());
  return std::make_unique<HopStep>(std::move(hop), to_edges);
}

Result<StepPtr> make_hop(Compiler&, const Calls& calls) {
  const std::string& name = calls.call.name;
  const Way way = name.starts_with("out") ? Way::out : name.starts_with("in") ? Way::in : Way::both;
  return make_hop_of(calls, way, name.ends_with('E'), 0);
}

Result<Way> way_of(const Calls& calls) {
  const Argument& argument = calls.arguments()[0];
  if (argument.is_token()) {
    const std::string& name = argument.value.string();
    if (name == "Direction.OUT") return Way::out;
    if (name == "Direction.IN") return Way::in;
    if (name == "Direction.BOTH") return Way::both;
  }
  return bad_arguments(calls);
}

Result<StepPtr> make_to(Compiler&, const Calls& calls) {
  auto way = way_of(calls);
  if (!way) return pass(way.error());
  return make_hop_of(calls, *way, calls.call.name == "toE", 1);
}

Result<StepPtr> make_to_vertex(Compiler&, const Calls& calls) {
  auto way = way_of(calls);
  if (!way) return pass(way.error());
  return std::make_unique<EndStep>(*way == Way::out  ? EndStep::Which::out
                                   : *way == Way::in ? EndStep::Which::in
                                                     : EndStep::Which::both);
}

template <EndStep::Which which>
Result<StepPtr> make_end(Compiler&, const Calls&) {
  return std::make_unique<EndStep>(which);
}

}  // namespace

Maker find_element_step(std::string_view name) {
  if (name == "V" || name == "E") return make_find;
  for (const std::string_view hop : {"out", "in", "both", "outE", "inE", "bothE"}) {
    if (name == hop) return make_hop;
  }
  if (name == "outV") return make_end<EndStep::Which::out>;
  if (name == "inV") return make_end<EndStep::Which::in>;
  if (name == "bothV") return make_end<EndStep::Which::both>;
  if (name == "otherV") return make_end<EndStep::Which::other>;
  if (name == "to" || name == "toE") return make_to;
  if (name == "toV") return make_to_vertex;
  return nullptr;
}

}  // namespace orrery::gremlin
