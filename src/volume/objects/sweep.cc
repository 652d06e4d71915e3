// See sweep.h.
#include "volume/objects/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "volume/objects/file_entry.h"
#include "volume/objects/lease.h"
#include "volume/objects/root.h"
#include "volume/objects/text_number.h"

namespace orrery::volume {
namespace {

constexpr std::string_view kFilePrefix = "file.";

// ROOT.EPOCH.N: what tokens and files are named by.
struct Origin {
  std::string root;
  uint64_t epoch = 0;
};
std::optional<Origin> origin_of(std::string_view token) {
  const size_t first = token.find('.');
  const size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto epoch = number_of<uint64_t>(token.substr(first + 1, second - first - 1));
  if (!epoch) return std::nullopt;
  return Origin{.root = std::string(token.substr(0, first)), .epoch = *epoch};
}

// What a root says.
struct Known {
  uint64_t epoch = 0;
  std::string owner;
  std::string maker;
  std::set<std::string, std::less<>> tokens;
  std::set<std::string, std::less<>> files;
};

// Whoever cannot read a root must not take its files for nobody's.
Result<Known> known_of(const std::string& id, const ObjectState& root) {
  const auto damaged = [&](std::string_view what) {
    return fail(Code::corrupt,
                fmt::format("{} of the root {} cannot be read, so nothing is swept", what, id));
  };
  const auto epoch = number_of<uint64_t>(root.attribute(kEpoch));
  if (!epoch) return damaged("the epoch");
  Known known{.epoch = *epoch,
              .owner = std::string(root.attribute(kOwner)),
              .maker = std::string(root.attribute(kMaker)),
              .tokens = {},
              .files = {}};
  for (const auto& [path, text] : root.entries) {
    if (path.ends_with('/')) continue;
    const auto entry = decode_file_entry(text);
    if (!entry) return damaged(fmt::format("the entry '{}'", path));
    if (!entry->token.empty()) known.tokens.insert(entry->token);
    if (!entry->file.empty()) known.files.insert(entry->file);
  }
  return known;
}

class Sweep {
 public:
  explicit Sweep(ObjectStore& store) : store_(store) {}

  Result<SweepReport> run() {
    auto listed = store_.list("");
    if (!listed) return pass(listed.error());
    report_.listed = listed->size();
    std::vector<std::string> roots;
    std::vector<std::string> leases;
    for (const std::string& name : *listed) {
      if (name.starts_with("root.")) roots.push_back(name.substr(5));
      if (name.starts_with("lease.")) leases.push_back(name.substr(6));
      if (name.starts_with(kFilePrefix)) add_file(name);
    }
    if (auto read = read_roots(roots); !read) return pass(read.error());
    for (const auto& [file, numbers] : files_) {
      if (auto swept = sweep_file(file, numbers); !swept) return pass(swept.error());
    }
    for (const std::string& incarnation : leases) {
      if (auto swept = sweep_lease(incarnation); !swept) return pass(swept.error());
    }
    return report_;
  }

 private:
  // FILE.K
  void add_file(const std::string& name) {
    const size_t dot = name.rfind('.');
    if (const auto number = number_of<uint64_t>(std::string_view(name).substr(dot + 1))) {
      files_[name.substr(0, dot)].insert(*number);
    }
  }

  Status read_roots(const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
      auto root = store_.inspect(root_object(id));
      if (!root && root.error().code == Code::not_found) continue;
      if (!root) return pass(root.error());
      auto known = known_of(id, *root);
      if (!known) return pass(known.error());
      roots_.emplace(id, std::move(*known));
    }
    // The index is read last: whatever it names then was not garbage before.
    auto index = store_.inspect(kIndexObject);
    if (!index && index.error().code != Code::not_found) return pass(index.error());
    std::set<std::string, std::less<>> named;
    if (index) {
      for (const auto& [name, value] : index->entries) {
        named.insert(name.starts_with("n:") ? value : name.substr(name.find('.') + 1));
      }
    }
    for (auto it = roots_.begin(); it != roots_.end();) {
      auto nobodys =
          named.contains(it->first) ? Result<bool>(false) : is_over(store_, it->second.maker);
      if (!nobodys) return pass(nobodys.error());
      if (!*nobodys || !remove_root(it->first, it->second)) {
        ++it;
      } else {
        it = roots_.erase(it);
      }
    }
    return {};
  }

  bool remove_root(const std::string& id, const Known& known) {
    const Outcome removed =
        store_.apply(root_object(id), {.presence = ObjectChange::Presence::must_be_there,
                                       .attributes_equal = {{kEpoch, std::to_string(known.epoch)}},
                                       .remove = true});
    if (removed.is_done()) ++report_.roots;
    return removed.is_done() || removed.applied == Applied::absent;
  }

  // Whether this name, of a token or of a file, is of an owner that is gone, and its root has no
  // entry with it.
  bool is_garbage(const Origin& origin, std::string_view name,
                  const std::set<std::string, std::less<>> Known::* names) const {
    const auto root = roots_.find(origin.root);
    if (root != roots_.end()) {
      return root->second.epoch > origin.epoch && !(root->second.*names).contains(name);
    }
    // It may have been made since they were listed; and an error is no answer.
    auto again = store_.inspect(root_object(origin.root));
    return !again && again.error().code == Code::not_found;
  }

  Status sweep_file(const std::string& file, const std::set<uint64_t>& numbers) {
    auto first = store_.inspect(file + ".0");
    if (!first && first.error().code != Code::not_found) return pass(first.error());
    if (first && first->attributes.contains(kRefs)) return sweep_tokens(file, numbers, *first);
    // A log; or stripes whose first one is gone.
    const auto origin = origin_of(std::string_view(file).substr(kFilePrefix.size()));
    if (!origin || !is_garbage(*origin, file, &Known::files)) return {};
    for (const auto& [id, known] : roots_) {
      if (known.files.contains(file)) return {};
    }
    for (const uint64_t number : numbers) remove_object(file, number);
    return {};
  }

  Status sweep_tokens(const std::string& file, const std::set<uint64_t>& numbers,
                      const ObjectState& first) {
    const std::string refs(first.attribute(kRefs));
    std::string kept;
    uint64_t garbage = 0;
    for (size_t at = 0; at < refs.size();) {
      const size_t end = std::min(refs.find(' ', at), refs.size());
      const std::string token = refs.substr(at, end - at);
      const auto origin = origin_of(token);
      if (origin && is_garbage(*origin, token, &Known::tokens)) {
        ++garbage;
      } else {
        kept += token + " ";
      }
      at = end + 1;
    }
    if (garbage > 0) {
      const Outcome taken =
          store_.apply(file + ".0", {.presence = ObjectChange::Presence::must_be_there,
                                     .attributes_equal = {{kRefs, refs}},
                                     .set_attributes = {{kRefs, kept}}});
      if (!taken.is_done()) return {};  // somebody is at it: another time
      report_.tokens += garbage;
    }
    if (!kept.empty()) return {};
    for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
      remove_object(file, *number);
    }
    return {};
  }

  void remove_object(const std::string& file, uint64_t number) {
    const Outcome removed =
        store_.apply(file + "." + std::to_string(number),
                     {.presence = ObjectChange::Presence::must_be_there, .remove = true});
    if (removed.is_done()) ++report_.objects;
  }

  Status sweep_lease(const std::string& incarnation) {
    for (const auto& [id, known] : roots_) {
      if (known.owner == incarnation) return {};
    }
    auto over = is_over(store_, incarnation);
    if (!over) return pass(over.error());
    if (*over && remove_lease(store_, incarnation)) ++report_.leases;
    return {};
  }

  ObjectStore& store_;
  SweepReport report_;
  std::map<std::string, Known, std::less<>> roots_;
  std::map<std::string, std::set<uint64_t>> files_;
};

}  // namespace

Result<SweepReport> sweep(ObjectStore& store) {
  return Sweep(store).run();
}

}  // namespace orrery::volume
