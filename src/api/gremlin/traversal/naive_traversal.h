// Random graphs and random traversals over them, each with what it has to give by a naive
// evaluator: one walker for each result, one edge after the other, no bulk, no batches, no index.
// For tests.
#pragma once

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace orrery::gremlin {

struct NaiveEdge {
  int out;
  int in;
  std::string label;
  int weight;
  int number;
};

class NaiveGraph {
 public:
  explicit NaiveGraph(std::mt19937& random) : random_(random) {
    vertices_ = 2 + below(8);
    for (int i = below(18); i > 0; --i) new_edge(below(vertices_), below(vertices_));
  }

  // The traversals that make the graph. Vertices lie in some partition keys.
  std::vector<std::string> texts() const {
    std::vector<std::string> made;
    for (int i = 0; i < vertices_; ++i) made.push_back(text_of(i));
    for (const NaiveEdge& edge : edges_) made.push_back(text_of(edge));
    return made;
  }

  // Changes the graph, and gives the traversal that does the same.
  std::string change() {
    const int vertex = below(vertices_);
    if (gone_.erase(vertex) > 0) return text_of(vertex);
    const std::string number = std::to_string(vertex);
    switch (below(6)) {
      case 0:
        gone_.insert(vertex);
        std::erase_if(
            edges_, [&](const NaiveEdge& edge) { return edge.out == vertex || edge.in == vertex; });
        return "g.V('" + number + "').drop()";
      case 1:
        return "g.V('" + number + "').property('m'," + std::to_string(below(100)) + ")";
      case 2:
      case 3: {
        if (edges_.empty()) break;
        const auto at = edges_.begin() + below(static_cast<int>(edges_.size()));
        const std::string edge =
            "g.V('" + std::to_string(at->out) + "').outE().has('e'," + std::to_string(at->number);
        if (below(2) == 0) {
          at->weight = below(5);
          return edge + ").property('w'," + std::to_string(at->weight) + ")";
        }
        edges_.erase(at);
        return edge + ").drop()";
      }
      default:
        break;
    }
    int other = below(vertices_);
    if (gone_.contains(other)) other = vertex;
    return text_of(new_edge(vertex, other));
  }

  struct Case {
    std::string text;          // without what it ends with
    std::vector<int> walkers;  // the vertices that it ends at, each as often as it does
    std::multiset<std::string> ids() const {
      std::multiset<std::string> made;
      for (const int vertex : walkers) made.insert(std::to_string(vertex));
      return made;
    }
  };
  Case make_case() {
    Case made{"g.V()", {}};
    for (int i = 0; i < vertices_; ++i) {
      if (!gone_.contains(i)) made.walkers.push_back(i);
    }
    if (below(3) == 0) {  // or from one vertex, by its id
      const int vertex = below(vertices_);
      made = {"g.V('" + std::to_string(vertex) + "')", {}};
      if (!gone_.contains(vertex)) made.walkers.push_back(vertex);
    }
    for (int step = below(6); step > 0 && made.walkers.size() < 2000; --step) add_step(made);
    return made;
  }

 private:
  using Walkers = std::vector<int>;
  using Function = std::function<Walkers(int)>;

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  const NaiveEdge& new_edge(int out, int in) {
    edges_.push_back({out, in, below(2) == 0 ? "a" : "b", below(5), numbers_++});
    return edges_.back();
  }
  static std::string text_of(int vertex) {
    const std::string number = std::to_string(vertex);
    return "g.addV('v').property('id','" + number + "').property('n'," + number +
           ").property('pk','k" + std::to_string(vertex % 5) + "')";
  }
  static std::string text_of(const NaiveEdge& edge) {
    return "g.V('" + std::to_string(edge.out) + "').addE('" + edge.label + "').to(V('" +
           std::to_string(edge.in) + "')).property('w'," + std::to_string(edge.weight) +
           ").property('e'," + std::to_string(edge.number) + ")";
  }

  // `way`: o, i or b; an empty label is any.
  Walkers hop(int vertex, char way, const std::string& label, int weight_min = 0) const {
    Walkers to;
    for (const NaiveEdge& edge : edges_) {
      if ((!label.empty() && edge.label != label) || edge.weight < weight_min) continue;
      if (way != 'i' && edge.out == vertex) to.push_back(edge.in);
      if (way != 'o' && edge.in == vertex) to.push_back(edge.out);
    }
    return to;
  }
  static void each(Case& made, const std::string& text, const Function& function) {
    Walkers to;
    for (const int vertex : made.walkers) {
      const Walkers some = function(vertex);
      to.insert(to.end(), some.begin(), some.end());
    }
    made.text += text;
    made.walkers = std::move(to);
  }
  static void keep(Case& made, const std::string& text, const std::function<bool(int)>& test) {
    made.text += text;
    std::erase_if(made.walkers, [&](int vertex) { return !test(vertex); });
  }
  static Walkers joined(Walkers a, const Walkers& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  Walkers twice(int vertex, char way, bool with_first) const {
    Walkers all;
    for (const int next : hop(vertex, way, "")) {
      if (with_first) all.push_back(next);
      all = joined(std::move(all), hop(next, way, ""));
    }
    return all;
  }

  void add_step(Case& made) {
    const std::string label = below(3) == 0 ? "" : below(2) == 0 ? "a" : "b";
    const std::string quoted = label.empty() ? "" : "'" + label + "'";
    const int most = below(vertices_);
    switch (below(17)) {
      case 15: {
        // Of all loops together: what it gives depends on the order of more than one.
        if (made.walkers.size() > 1) return;
        Walkers level = made.walkers;
        std::set<int> seen;
        for (int loop = 0; loop < 3; ++loop) {
          Walkers next;
          for (const int vertex : level) {
            for (const int to : hop(vertex, 'o', label)) {
              if (seen.insert(to).second) next.push_back(to);
            }
          }
          level = std::move(next);
        }
        made.text += ".repeat(out(" + quoted + ").dedup()).times(3)";
        made.walkers = std::move(level);
        return;
      }
      case 0:
        return each(made, ".out(" + quoted + ")", [&](int v) { return hop(v, 'o', label); });
      case 1:
        return each(made, ".in(" + quoted + ")", [&](int v) { return hop(v, 'i', label); });
      case 2:
        return each(made, ".both(" + quoted + ")", [&](int v) { return hop(v, 'b', label); });
      case 3:
        return keep(made, ".has('n', lte(" + std::to_string(most) + "))",
                    [&](int v) { return v <= most; });
      case 4:
        return each(made, ".repeat(out()).times(2)", [&](int v) { return twice(v, 'o', false); });
      case 5:
        return keep(made, ".where(out(" + quoted + "))",
                    [&](int v) { return !hop(v, 'o', label).empty(); });
      case 6:
        return keep(made, ".not(__.in(" + quoted + "))",
                    [&](int v) { return hop(v, 'i', label).empty(); });
      case 7: {
        const std::set<int> different(made.walkers.begin(), made.walkers.end());
        made.text += ".dedup()";
        made.walkers.assign(different.begin(), different.end());
        return;
      }
      case 8:
        return each(made, ".union(out('a'), __.in(" + quoted + "))",
                    [&](int v) { return joined(hop(v, 'o', "a"), hop(v, 'i', label)); });
      case 9:
        return each(made, ".optional(out(" + quoted + "))", [&](int v) {
          const Walkers to = hop(v, 'o', label);
          return to.empty() ? Walkers{v} : to;
        });
      case 10:
        return each(made, ".coalesce(out(" + quoted + "), both())", [&](int v) {
          const Walkers to = hop(v, 'o', label);
          return to.empty() ? hop(v, 'b', "") : to;
        });
      case 11:
        return each(made, ".outE(" + quoted + ").has('w', gte(2)).inV()",
                    [&](int v) { return hop(v, 'o', label, 2); });
      case 12:
        return each(made, ".bothE(" + quoted + ").has('w', gte(1)).otherV()",
                    [&](int v) { return hop(v, 'b', label, 1); });
      case 13:
        return each(made, ".repeat(both()).emit().times(2)",
                    [&](int v) { return twice(v, 'b', true); });
      case 14:
        return each(made, ".choose(out('a'), __.in(), out(" + quoted + "))", [&](int v) {
          return hop(v, 'o', "a").empty() ? hop(v, 'o', label) : hop(v, 'i', "");
        });
      default:
        return keep(made, ".where(bothE().count().is(gt(" + std::to_string(most) + ")))",
                    [&](int v) { return static_cast<int>(hop(v, 'b', "").size()) > most; });
    }
  }

  std::mt19937& random_;
  int vertices_ = 0;
  std::vector<NaiveEdge> edges_;
  std::set<int> gone_;
  int numbers_ = 0;  // of edges made
};

}  // namespace orrery::gremlin
