// See codec.h.
#include "catalog/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::catalog {
namespace {

using value::Node;
using value::Type;

constexpr std::string_view kTypedOrder = "typed";

// Builds one JSON object.
class ObjectWriter {
 public:
  ObjectWriter& text(std::string_view name, std::string_view text) {
    key(name);
    value::append_json_string(out_, text);
    return *this;
  }
  ObjectWriter& number(std::string_view name, int64_t number) {
    key(name);
    out_ += std::to_string(number);
    return *this;
  }
  ObjectWriter& boolean(std::string_view name, bool truth) {
    key(name);
    out_ += truth ? "true" : "false";
    return *this;
  }
  ObjectWriter& raw(std::string_view name, std::string_view json) {
    key(name);
    out_ += json;
    return *this;
  }
  std::string done() { return (out_.empty() ? "{" : out_) + "}"; }

 private:
  void key(std::string_view name) {
    out_ += out_.empty() ? '{' : ',';
    value::append_json_string(out_, name);
    out_ += ':';
  }
  std::string out_;
};

template <class List, class Encode>
std::string array_of(const List& list, const Encode& encode_one) {
  std::string out = "[";
  for (const auto& element : list) {
    if (out.size() > 1) out += ',';
    out += encode_one(element);
  }
  return out + "]";
}

std::string encode(const Throughput& throughput) {
  ObjectWriter out;
  out.number("units", throughput.units).boolean("autoscale", throughput.autoscale);
  if (throughput.increment_percent) out.number("increment", *throughput.increment_percent);
  return out.done();
}

std::string encode_paths(const std::vector<value::Path>& paths) {
  return array_of(paths, [](const value::Path& path) { return value::quoted(to_string(path)); });
}

std::string encode(const PartitionMap& map) {
  return ObjectWriter()
      .number("version", static_cast<int64_t>(map.version))
      .number("nextId", map.next_id)
      .raw("ranges", array_of(map.ranges,
                              [](const PartitionRange& range) {
                                return ObjectWriter()
                                    .number("id", range.id)
                                    .text("min", to_hex_upper(range.min))
                                    .text("max", to_hex_upper(range.max))
                                    .raw("parents",
                                         array_of(range.parents,
                                                  [](uint32_t id) { return std::to_string(id); }))
                                    .text("volume", range.volume_name)
                                    .done();
                              }))
      .raw("splits", array_of(map.splits,
                              [](const PastSplit& split) {
                                return ObjectWriter()
                                    .number("at", split.why.at_s)
                                    .text("cause", to_text(split.why.cause))
                                    .number("parent", split.parent)
                                    .number("left", split.left)
                                    .number("right", split.right)
                                    .done();
                              }))
      .raw("merges", array_of(map.merges,
                              [](const PastMerge& merge) {
                                return ObjectWriter()
                                    .number("at", merge.why.at_s)
                                    .text("cause", to_text(merge.why.cause))
                                    .number("left", merge.left)
                                    .number("right", merge.right)
                                    .number("child", merge.child)
                                    .text("min", to_hex_upper(merge.min))
                                    .text("cut", to_hex_upper(merge.cut))
                                    .text("max", to_hex_upper(merge.max))
                                    .done();
                              }))
      .done();
}

std::string_view placement_name(value::Placement placement) {
  switch (placement) {
    case value::Placement::hash_v1:
      return "hash1";
    case value::Placement::hash_v2:
      return "hash2";
    case value::Placement::multi_hash:
      return "multihash";
    case value::Placement::range:
      return "range";
  }
  return "";
}

// Reads members; the first thing that is missing or of the wrong type is remembered.
class ObjectReader {
 public:
  static constexpr int64_t kExactMax = int64_t{1} << 53;

  explicit ObjectReader(const Node& node) : node_(node) {}

  std::string text(std::string_view name) {
    const Node* member = get(name, Type::string);
    return member == nullptr ? "" : std::string(member->text);
  }
  // A whole number in [least, most]; all are small enough for JSON to keep them exactly.
  int64_t number(std::string_view name, int64_t least = 0, int64_t most = kExactMax) {
    const Node* member = get(name, Type::number);
    return member == nullptr ? least : whole(name, *member, least, most);
  }
  uint32_t number32(std::string_view name) {
    return static_cast<uint32_t>(number(name, 0, UINT32_MAX));
  }
  int64_t whole(std::string_view name, const Node& node, int64_t least, int64_t most) {
    if (node.type == Type::number && node.number >= static_cast<double>(least) &&
        node.number <= static_cast<double>(most) && node.number == std::trunc(node.number)) {
      return static_cast<int64_t>(node.number);
    }
    wrong(name);
    return least;
  }
  bool boolean(std::string_view name) {
    const Node* member = get(name, Type::boolean);
    return member != nullptr && member->boolean;
  }
  std::string hex(std::string_view name) {
    auto bytes = from_hex(text(name));
    if (!bytes) wrong(name);
    return bytes ? *bytes : "";
  }
  const Node* optional(std::string_view name) const { return node_.find(name); }
  // Calls `each` with the elements.
  template <class Each>
  void array(std::string_view name, const Each& each) {
    const Node* member = get(name, Type::array);
    if (member == nullptr) return;
    for (const Node* element = member->first; element != nullptr; element = element->next) {
      each(*element);
    }
  }
  void paths(std::string_view name, std::vector<value::Path>& out) {
    array(name, [&](const Node& element) { add_path(name, element, out); });
  }
  void add_path(std::string_view name, const Node& element, std::vector<value::Path>& out) {
    if (element.type != Type::string) return wrong(name);
    auto path = value::parse_property_path(element.text);
    if (!path) return wrong(name);
    out.push_back(std::move(*path));
  }
  void wrong(std::string_view name) {
    if (problem_.empty()) problem_ = name;
  }
  void adopt(const ObjectReader& inner) {
    if (problem_.empty()) problem_ = inner.problem_;
  }
  const std::string& problem() const { return problem_; }

 private:
  const Node* get(std::string_view name, Type type) {
    const Node* member = node_.find(name);
    if (member == nullptr || member->type != type) {
      wrong(name);
      return nullptr;
    }
    return member;
  }
  const Node& node_;
  std::string problem_;
};

std::unexpected<Error> damaged(std::string_view what, std::string_view member) {
  return fail(Code::corrupt,
              fmt::format("the catalog's record of a {} is damaged at '{}'", what, member));
}

std::optional<Throughput> read_throughput(ObjectReader& in) {
  const Node* node = in.optional("throughput");
  if (node == nullptr) return std::nullopt;
  ObjectReader inner(*node);
  Throughput throughput{.units = inner.number32("units"), .autoscale = inner.boolean("autoscale")};
  if (inner.optional("increment") != nullptr) {
    throughput.increment_percent = inner.number32("increment");
  }
  in.adopt(inner);
  return throughput;
}

void read_map(ObjectReader& in, PartitionMap& map) {
  const Node* node = in.optional("map");
  if (node == nullptr) return in.wrong("map");
  ObjectReader reader(*node);
  map.version = static_cast<uint64_t>(reader.number("version", 1));
  map.next_id = reader.number32("nextId");
  reader.array("ranges", [&](const Node& element) {
    ObjectReader one(element);
    PartitionRange& range = map.ranges.emplace_back();
    range.id = one.number32("id");
    range.min = one.hex("min");
    range.max = one.hex("max");
    one.array("parents", [&](const Node& id) {
      range.parents.push_back(static_cast<uint32_t>(one.whole("parents", id, 0, UINT32_MAX)));
    });
    range.volume_name = one.text("volume");
    if (range.id >= map.next_id) one.wrong("id");
    reader.adopt(one);
  });
  const auto read_split = [&](const Node& element) {
    ObjectReader one(element);
    PastSplit& split = map.splits.emplace_back();
    split.why.at_s = one.number("at");
    const std::string name = one.text("cause");
    const auto cause =
        std::ranges::find(kSplitCauses, name, [](SplitCause known) { return to_text(known); });
    if (cause == std::end(kSplitCauses)) return reader.wrong("cause");
    split.why.cause = *cause;
    split.parent = one.number32("parent");
    split.left = one.number32("left");
    split.right = one.number32("right");
    reader.adopt(one);
  };
  if (reader.optional("splits") != nullptr) reader.array("splits", read_split);
  const auto read_merge = [&](const Node& element) {
    ObjectReader one(element);
    PastMerge& merge = map.merges.emplace_back();
    merge.why.at_s = one.number("at");
    const std::string name = one.text("cause");
    merge.why.cause =
        name == to_text(MergeCause::asked) ? MergeCause::asked : MergeCause::throughput;
    if (name != to_text(merge.why.cause)) return reader.wrong("cause");
    merge.left = one.number32("left");
    merge.right = one.number32("right");
    merge.child = one.number32("child");
    merge.min = one.hex("min");
    merge.cut = one.hex("cut");
    merge.max = one.hex("max");
    reader.adopt(one);
  };
  if (reader.optional("merges") != nullptr) reader.array("merges", read_merge);
  in.adopt(reader);
}

void read_key(ObjectReader& in, value::KeyDefinition& key) {
  const std::string name = in.text("placement");
  bool known = false;
  for (auto placement : {value::Placement::hash_v1, value::Placement::hash_v2,
                         value::Placement::multi_hash, value::Placement::range}) {
    if (placement_name(placement) == name) {
      key.placement = placement;
      known = true;
    }
  }
  if (!known) in.wrong("placement");
  in.paths("keyPaths", key.paths);
}

void read_composites(ObjectReader& in, std::vector<value::CompositeIndex>& composites) {
  in.array("compositeIndexes", [&](const Node& element) {
    if (element.type != Type::array) return in.wrong("compositeIndexes");
    value::CompositeIndex& composite = composites.emplace_back();
    for (const Node* part = element.first; part != nullptr; part = part->next) {
      ObjectReader one(*part);
      auto path = value::parse_property_path(one.text("path"));
      const bool descending = one.boolean("descending");
      if (!path) one.wrong("path");
      if (path) composite.parts.push_back({.path = std::move(*path), .descending = descending});
      in.adopt(one);
    }
  });
}

}  // namespace

std::string encode(const Database& database) {
  ObjectWriter out;
  out.number("number", database.number).text("face", database.face).text("name", database.name);
  out.number("changed", database.changed_s)
      .number("revision", static_cast<int64_t>(database.revision));
  if (database.throughput) out.raw("throughput", encode(*database.throughput));
  return out.done();
}

std::string encode(const Container& container) {
  const ContainerSpec& spec = container.spec;
  ObjectWriter out;
  out.number("database", container.database).number("number", container.number);
  out.text("name", spec.name)
      .number("changed", container.changed_s)
      .number("revision", static_cast<int64_t>(container.revision));
  out.text("placement", placement_name(spec.key.placement));
  out.raw("keyPaths", encode_paths(spec.key.paths));
  if (!spec.encoding.empty()) out.text("encoding", spec.encoding);
  if (spec.value_order == value::ValueOrder::typed) out.text("valueOrder", kTypedOrder);
  out.boolean("indexed", spec.indexed).number("indexVersion", container.index_version);
  out.number("indexedVersion", container.indexed_version);
  if (container.shrinks) out.boolean("shrinks", true);
  out.raw("indexRules", array_of(spec.index_rules, [](const value::IndexRule& rule) {
            return ObjectWriter()
                .text("path", value::to_string(rule.path))
                .boolean("include", rule.include)
                .done();
          }));
  out.raw("alwaysIndexed", encode_paths(spec.always_indexed));
  out.raw("compositeIndexes",
          array_of(spec.composite_indexes, [](const value::CompositeIndex& composite) {
            return array_of(composite.parts, [](const value::CompositeIndex::Part& part) {
              return ObjectWriter()
                  .text("path", to_string(part.path))
                  .boolean("descending", part.descending)
                  .done();
            });
          }));
  out.raw("spatialIndexes", array_of(spec.spatial_indexes, [](const value::IndexPath& path) {
            return value::quoted(to_string(path));
          }));
  if (spec.default_life_ms) out.number("lifeMs", *spec.default_life_ms);
  if (spec.history_s > 0) out.number("history", spec.history_s);
  out.raw("uniqueKeys", array_of(spec.unique_keys, encode_paths));
  if (!spec.unique_conditions.empty()) {
    out.raw("uniqueConditions", array_of(spec.unique_conditions, [](const std::string& condition) {
              return value::quoted(condition);
            }));
  }
  if (container.throughput) out.raw("throughput", encode(*container.throughput));
  out.raw("map", encode(*container.map));
  out.text("face", spec.face_json);
  return out.done();
}

std::string encode(const Resource& resource) {
  ObjectWriter out;
  out.number("number", resource.number).number("parent", resource.parent);
  out.number("kind", resource.kind).text("name", resource.name);
  out.number("changed", resource.changed_s)
      .number("revision", static_cast<int64_t>(resource.revision));
  out.text("body", resource.body);
  return out.done();
}

std::string encode(const Removal& removal) {
  ObjectWriter out;
  out.text("volume", removal.volume_name);
  if (removal.clone_of) {
    out.text("cloneOf", removal.clone_of->parent);
    out.number("epoch", static_cast<int64_t>(removal.clone_of->epoch));
  }
  if (removal.and_of) {
    out.text("andOf", removal.and_of->parent);
    out.number("andEpoch", static_cast<int64_t>(removal.and_of->epoch));
  }
  return out.done();
}

Result<Database> decode_database(std::string_view text) {
  auto document = value::JsonDocument::parse(text);
  if (!document) return damaged("database", document.error().message);
  ObjectReader in(document->root());
  Database database;
  database.number = in.number32("number");
  database.face = in.text("face");
  database.name = in.text("name");
  database.changed_s = in.number("changed");
  database.revision = static_cast<uint64_t>(in.number("revision"));
  database.throughput = read_throughput(in);
  if (!in.problem().empty()) return damaged("database", in.problem());
  return database;
}

Result<Container> decode_container(std::string_view text) {
  auto document = value::JsonDocument::parse(text);
  if (!document) return damaged("container", document.error().message);
  ObjectReader in(document->root());
  Container container;
  ContainerSpec& spec = container.spec;
  container.database = in.number32("database");
  container.number = in.number32("number");
  spec.name = in.text("name");
  container.changed_s = in.number("changed");
  container.revision = static_cast<uint64_t>(in.number("revision"));
  read_key(in, spec.key);
  if (in.optional("encoding") != nullptr) spec.encoding = in.text("encoding");
  if (in.optional("valueOrder") != nullptr) {
    if (in.text("valueOrder") != kTypedOrder) in.wrong("valueOrder");
    spec.value_order = value::ValueOrder::typed;
  }
  spec.indexed = in.boolean("indexed");
  container.index_version = in.number32("indexVersion");
  container.indexed_version = in.number32("indexedVersion");
  if (in.optional("shrinks") != nullptr) container.shrinks = in.boolean("shrinks");
  in.array("indexRules", [&](const Node& element) {
    ObjectReader one(element);
    auto path = value::parse_index_path(one.text("path"));
    if (path) {
      spec.index_rules.push_back({std::move(*path), one.boolean("include")});
    } else {
      one.wrong("path");
    }
    in.adopt(one);
  });
  in.paths("alwaysIndexed", spec.always_indexed);
  read_composites(in, spec.composite_indexes);
  in.array("spatialIndexes", [&](const Node& element) {
    auto path = value::parse_index_path(element.text);
    if (!path || element.type != Type::string) return in.wrong("spatialIndexes");
    spec.spatial_indexes.push_back(std::move(*path));
  });
  if (const Node* life = in.optional("lifeMs")) {
    spec.default_life_ms = in.whole("lifeMs", *life, -1, ObjectReader::kExactMax);
  }
  if (const Node* history = in.optional("history")) {
    spec.history_s = in.whole("history", *history, 1, INT32_MAX);
  }
  in.array("uniqueKeys", [&](const Node& element) {
    std::vector<value::Path>& paths = spec.unique_keys.emplace_back();
    if (element.type != Type::array) return in.wrong("uniqueKeys");
    for (const Node* path = element.first; path != nullptr; path = path->next) {
      if (path->type == Type::string && path->text.empty() && paths.empty()) {
        paths.emplace_back();  // a retired key
        continue;
      }
      in.add_path("uniqueKeys", *path, paths);
    }
  });
  if (in.optional("uniqueConditions") != nullptr) {
    in.array("uniqueConditions", [&](const Node& element) {
      if (element.type != Type::string) return in.wrong("uniqueConditions");
      spec.unique_conditions.emplace_back(element.text);
    });
  }
  container.throughput = read_throughput(in);
  auto map = std::make_shared<PartitionMap>();
  read_map(in, *map);
  container.map = std::move(map);
  spec.face_json = in.text("face");
  if (!in.problem().empty()) return damaged("container", in.problem());
  return container;
}

Result<Resource> decode_resource(std::string_view text) {
  auto document = value::JsonDocument::parse(text);
  if (!document) return damaged("resource", document.error().message);
  ObjectReader in(document->root());
  Resource resource;
  resource.number = in.number32("number");
  resource.parent = in.number32("parent");
  resource.kind = static_cast<uint8_t>(in.number("kind", 0, UINT8_MAX));
  resource.name = in.text("name");
  resource.changed_s = in.number("changed");
  resource.revision = static_cast<uint64_t>(in.number("revision"));
  resource.body = in.text("body");
  if (!in.problem().empty()) return damaged("resource", in.problem());
  return resource;
}

Result<Removal> decode_removal(std::string_view text) {
  auto document = value::JsonDocument::parse(text);
  if (!document) return damaged("removal", document.error().message);
  ObjectReader in(document->root());
  Removal removal;
  removal.volume_name = in.text("volume");
  if (in.optional("cloneOf") != nullptr) {
    removal.clone_of = {.parent = in.text("cloneOf"),
                        .epoch = static_cast<uint64_t>(in.number("epoch", 1))};
  }
  if (in.optional("andOf") != nullptr) {
    removal.and_of = {.parent = in.text("andOf"),
                      .epoch = static_cast<uint64_t>(in.number("andEpoch", 1))};
  }
  if (!in.problem().empty()) return damaged("removal", in.problem());
  return removal;
}

}  // namespace orrery::catalog
