// Values → GraphSON. See graphson.h.
#include <cmath>

#include "api/gremlin/wire/graphson.h"
#include "value/json.h"

namespace orrery::gremlin {
namespace {

class Writer {
 public:
  Writer(std::string& out, GraphSon form) : out_(out), form_(form) {}

  Status write(const Value& value, size_t depth) {
    if (depth > kNestingMax) {
      return fail(Code::too_large, "a result nests too deep to be written");
    }
    switch (value.kind()) {
      case Kind::null:
        out_ += "null";
        return {};
      case Kind::boolean:
        out_ += value.as_bool() ? "true" : "false";
        return {};
      case Kind::int32:
      case Kind::int64:
        begin(value.kind() == Kind::int32 ? "g:Int32" : "g:Int64");
        out_ += std::to_string(value.as_integer());
        return end();
      case Kind::float32:
      case Kind::float64:
        begin(value.kind() == Kind::float32 ? "g:Float" : "g:Double");
        real(value.as_number());
        return end();
      case Kind::text:
        text(value.string());
        return {};
      case Kind::token:
        return token(value.string());
      case Kind::list:
        return list(value.elements(), "g:List", depth);
      case Kind::set:
        return list(value.elements(), "g:Set", depth);
      case Kind::map:
      case Kind::entry:
        return map(value.members(), depth);
      case Kind::vertex:
        return vertex(*value.vertex(), depth);
      case Kind::edge:
        return edge(*value.edge(), depth);
      case Kind::vertex_property:
        return vertex_property(*value.vertex_property(), true, depth);
      case Kind::property:
        return property(value.property()->key, value.property()->value, depth);
      case Kind::path:
        return path(*value.path(), depth);
      case Kind::tree:
        return tree(*value.tree(), depth);
    }
    return {};
  }

 private:
  bool is_typed() const { return form_ != GraphSon::untyped; }
  void begin(std::string_view type) {
    if (!is_typed()) return;
    out_ += "{\"@type\":\"";
    out_ += type;
    out_ += "\",\"@value\":";
  }
  Status end() {
    if (is_typed()) out_ += '}';
    return {};
  }
  void text(std::string_view text) { value::append_json_string(out_, text); }
  void real(double number) {
    if (std::isnan(number)) {
      out_ += "\"NaN\"";
    } else if (std::isinf(number)) {
      out_ += number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    } else {
      const size_t from = out_.size();
      value::append_json_number(out_, number);
      if (out_.find_first_of(".eE", from) == std::string::npos) out_ += ".0";
    }
  }
  Status token(const std::string& name) {
    const size_t dot = name.rfind('.');
    begin("g:" + name.substr(0, dot));
    text(name.substr(dot + 1));
    return end();
  }
  Status list(const Value::List& elements, std::string_view type, size_t depth) {
    if (form_ == GraphSon::v3) begin(type);
    out_ += '[';
    bool first = true;
    for (const Value& element : elements) {
      if (!first) out_ += ',';
      first = false;
      if (auto written = write(element, depth + 1); !written) return written;
    }
    out_ += ']';
    if (form_ == GraphSon::v3) out_ += '}';
    return {};
  }
  Status map(const Value::Map& members, size_t depth) {
    if (form_ == GraphSon::v3) {
      begin("g:Map");
      out_ += '[';
      bool first = true;
      for (const auto& [key, value] : members) {
        if (!first) out_ += ',';
        first = false;
        if (auto written = write(key, depth + 1); !written) return written;
        out_ += ',';
        if (auto written = write(value, depth + 1); !written) return written;
      }
      out_ += "]}";
      return {};
    }
    out_ += '{';
    bool first = true;
    for (const auto& [key, value] : members) {
      if (!first) out_ += ',';
      first = false;
      text(key.print());
      out_ += ':';
      if (auto written = write(value, depth + 1); !written) return written;
    }
    out_ += '}';
    return {};
  }
  void id_and_label(const std::string& id, const std::string& label) {
    out_ += "{\"id\":";
    text(id);
    out_ += ",\"label\":";
    text(label);
  }
  Status vertex(const Vertex& vertex, size_t depth) {
    begin("g:Vertex");
    id_and_label(vertex.key.id, vertex.label);
    if (!is_typed()) out_ += ",\"type\":\"vertex\"";
    if (!vertex.properties.empty() && !in_path_) {
      out_ += ",\"properties\":{";
      std::vector<std::string_view> done;
      for (const auto& property : vertex.properties) {
        if (std::ranges::find(done, property->key) != done.end()) continue;
        if (!done.empty()) out_ += ',';
        done.push_back(property->key);
        text(property->key);
        out_ += ":[";
        bool first = true;
        for (const auto& same : vertex.properties) {
          if (same->key != property->key) continue;
          if (!first) out_ += ',';
          first = false;
          if (auto written = vertex_property(*same, is_typed(), depth + 1); !written)
            return written;
        }
        out_ += ']';
      }
      out_ += '}';
    }
    out_ += '}';
    return end();
  }
  Status vertex_property(const VertexProperty& property, bool with_label, size_t depth) {
    begin("g:VertexProperty");
    out_ += "{\"id\":";
    text(property.id);
    out_ += ",\"value\":";
    if (auto written = write(property.value, depth + 1); !written) return written;
    if (with_label) {
      out_ += ",\"label\":";
      text(property.key);
    }
    if (!property.meta.empty()) {
      out_ += ",\"properties\":{";
      bool first = true;
      for (const auto& [key, value] : property.meta) {
        if (!first) out_ += ',';
        first = false;
        text(key);
        out_ += ':';
        if (auto written = write(value, depth + 1); !written) return written;
      }
      out_ += '}';
    }
    out_ += '}';
    return end();
  }
  Status property(const std::string& key, const Value& value, size_t depth) {
    begin("g:Property");
    out_ += "{\"key\":";
    text(key);
    out_ += ",\"value\":";
    if (auto written = write(value, depth + 1); !written) return written;
    out_ += '}';
    return end();
  }
  Status edge(const Edge& edge, size_t depth) {
    begin("g:Edge");
    id_and_label(edge.key.id, edge.label);
    if (!is_typed()) out_ += ",\"type\":\"edge\"";
    out_ += ",\"inVLabel\":";
    text(edge.in_label);
    out_ += ",\"outVLabel\":";
    text(edge.out_label);
    out_ += ",\"inV\":";
    text(edge.in.id);
    out_ += ",\"outV\":";
    text(edge.out.id);
    if (!edge.properties.empty() && !in_path_) {
      out_ += ",\"properties\":{";
      bool first = true;
      for (const auto& [key, value] : edge.properties) {
        if (!first) out_ += ',';
        first = false;
        text(key);
        out_ += ':';
        const Status written =
            is_typed() ? property(key, value, depth + 1) : write(value, depth + 1);
        if (!written) return written;
      }
      out_ += '}';
    }
    out_ += '}';
    return end();
  }
  Status path(const PathValue& path, size_t depth) {
    Value::List labels;
    for (const auto& some : path.labels) {
      Value::List names;
      for (const std::string& label : some) names.push_back(Value::text(label));
      labels.push_back(Value::list(std::move(names), Kind::set));
    }
    begin("g:Path");
    out_ += "{\"labels\":";
    if (auto written = list(labels, "g:List", depth + 1); !written) return written;
    out_ += ",\"objects\":";
    const bool outer = std::exchange(in_path_, is_typed());
    if (auto written = list(path.objects, "g:List", depth + 1); !written) return written;
    in_path_ = outer;
    out_ += '}';
    return end();
  }
  Status tree(const Tree& tree, size_t depth) {
    if (depth > kNestingMax) return fail(Code::too_large, "a tree is too deep to be written");
    begin("g:Tree");
    out_ += is_typed() ? '[' : '{';
    bool first = true;
    for (const auto& [key, children] : tree.children) {
      if (!first) out_ += ',';
      first = false;
      if (!is_typed()) {
        text(key.is_vertex() ? key.vertex()->key.id
             : key.is_edge() ? key.edge()->key.id
                             : key.print());
        out_ += ':';
      }
      out_ += "{\"key\":";
      if (auto written = write(key, depth + 1); !written) return written;
      out_ += ",\"value\":";
      if (auto written = this->tree(*children, depth + 1); !written) return written;
      out_ += '}';
    }
    out_ += is_typed() ? ']' : '}';
    return end();
  }

  std::string& out_;
  const GraphSon form_;
  bool in_path_ = false;
};

}  // namespace

Status append_graphson(std::string& out, const Value& value, GraphSon form, size_t depth) {
  return Writer(out, form).write(value, depth);
}

Status append_traverser(std::string& out, const Value& value, uint64_t bulk, GraphSon form) {
  out += "{\"@type\":\"g:Traverser\",\"@value\":{\"bulk\":{\"@type\":\"g:Int64\",\"@value\":";
  out += std::to_string(bulk);
  out += "},\"value\":";
  if (auto written = append_graphson(out, value, form, 1); !written) return written;
  out += "}}";
  return {};
}

}  // namespace orrery::gremlin
