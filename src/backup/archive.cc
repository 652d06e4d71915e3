// See archive.h.
#include "backup/archive.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/pack.h"
#include "base/private_file.h"

namespace orrery::backup {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "orrery archive 1";
constexpr std::string_view kSuffix = ".log";
constexpr size_t kHashBytes = 32;

std::string hash_of(std::string_view bytes) {
  const auto hash = sha256(bytes);
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

// When all of a backup's partitions were copied.
int64_t exported_ms(const Manifest& manifest) {
  int64_t latest = manifest.catalog.exported_ms;
  for (const BackedUpPartition& one : manifest.partitions) {
    latest = std::max(latest, one.exported_ms);
  }
  return latest;
}

// How far the archive leads on from a backup.
class Reach {
 public:
  explicit Reach(const Manifest& manifest)
      : catalog_lsn_(manifest.catalog.lsn), catalog_until_ms_(manifest.catalog.exported_ms) {
    for (const BackedUpPartition& one : manifest.partitions) {
      partitions_[one.volume_name] = {.sequence = one.sequence, .until_ms = one.exported_ms};
    }
  }

  void add(const std::string& name, const ArchivedLook& look) {
    if (look.catalog_lsn == catalog_lsn_) {
      catalog_until_ms_ = std::max(catalog_until_ms_, look.catalog_until_ms);
    }
    for (const ArchivedSection& section : look.sections) {
      const auto found = partitions_.find(section.volume_name);
      if (found == partitions_.end()) continue;
      State& state = found->second;
      if (state.is_broken || section.sequence < state.sequence) continue;
      if (section.after > state.sequence) {
        state.is_broken = true;
        continue;
      }
      if (section.sequence > state.sequence) state.looks.push_back(name);
      state.sequence = section.sequence;
      state.until_ms = std::max(state.until_ms, section.until_ms);
    }
  }

  int64_t until_ms() const {
    int64_t all = catalog_until_ms_;
    for (const auto& [name, state] : partitions_) all = std::min(all, state.until_ms);
    return all;
  }

  std::map<std::string, std::vector<std::string>> take_looks() {
    std::map<std::string, std::vector<std::string>> looks;
    for (auto& [name, state] : partitions_) looks[name] = std::move(state.looks);
    return looks;
  }

 private:
  struct State {
    uint64_t sequence = 0;
    int64_t until_ms = 0;
    bool is_broken = false;
    std::vector<std::string> looks = {};
  };
  const uint64_t catalog_lsn_;
  int64_t catalog_until_ms_;
  std::map<std::string, State> partitions_;
};

}  // namespace

std::string encode(const ArchivedLook& look) {
  Packer packed;
  packed.text(kMagic)
      .number(look.catalog_lsn)
      .number(static_cast<uint64_t>(look.catalog_until_ms))
      .number(look.sections.size());
  for (const ArchivedSection& section : look.sections) {
    packed.text(section.volume_name)
        .number(section.after)
        .number(section.sequence)
        .number(static_cast<uint64_t>(section.until_ms))
        .number(section.batches.size());
    for (const partition::CommitBatch& batch : section.batches) {
      packed.number(batch.first)
          .number(batch.last)
          .number(static_cast<uint64_t>(batch.time_ms))
          .text(batch.bytes);
    }
  }
  std::string bytes = packed.take();
  bytes += hash_of(bytes);
  return bytes;
}

Result<ArchivedLook> decode_look(std::string_view bytes) {
  if (bytes.size() < kHashBytes || hash_of(bytes.substr(0, bytes.size() - kHashBytes)) !=
                                       bytes.substr(bytes.size() - kHashBytes)) {
    return fail(Code::corrupt, "its checksum is wrong");
  }
  Unpacker from(bytes.substr(0, bytes.size() - kHashBytes));
  if (from.text() != kMagic) return fail(Code::unsupported, "it has another format");
  ArchivedLook look;
  look.catalog_lsn = from.number();
  look.catalog_until_ms = static_cast<int64_t>(from.number());
  const uint64_t sections = from.count(5 * sizeof(uint64_t));
  for (uint64_t i = 0; i < sections; ++i) {
    ArchivedSection& section = look.sections.emplace_back();
    section.volume_name = from.text();
    section.after = from.number();
    section.sequence = from.number();
    section.until_ms = static_cast<int64_t>(from.number());
    const uint64_t batches = from.count(4 * sizeof(uint64_t));
    for (uint64_t j = 0; j < batches; ++j) {
      partition::CommitBatch& batch = section.batches.emplace_back();
      batch.first = from.number();
      batch.last = from.number();
      batch.time_ms = static_cast<int64_t>(from.number());
      batch.bytes = from.text();
    }
  }
  if (!from.is_good()) return fail(Code::corrupt, "it is not what its checksum promises");
  return look;
}

Result<std::vector<std::string>> Archive::names() const {
  std::vector<std::string> found;
  std::error_code error;
  if (!fs::exists(path_, error)) return found;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.ends_with(kSuffix)) found.push_back(std::move(name));
  }
  if (error) {
    return fail(Code::internal, fmt::format("cannot list {}: {}", path_, error.message()));
  }
  std::ranges::sort(found);
  return found;
}

Status Archive::write(const ArchivedLook& look) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) return fail(Code::internal, fmt::format("cannot make {}: {}", path_, error.message()));
  auto all = names();
  if (!all) return pass(all.error());
  uint64_t next = 1;
  if (!all->empty()) {
    const std::string& last = all->back();
    std::from_chars(last.data(), last.data() + last.size() - kSuffix.size(), next);
    ++next;
  }
  return write_private_file(fmt::format("{}/{:010}{}", path_, next, kSuffix), encode(look));
}

Result<ArchivedLook> Archive::read(std::string_view name) const {
  const std::string path = fmt::format("{}/{}", path_, name);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto look = decode_look(bytes);
  if (!look) {
    return fail(look.error().code, fmt::format("the archive {}: {}", path, look.error().message));
  }
  return look;
}

Result<PointInTime> find_point(const Folder& folder, int64_t at_ms) {
  auto names = folder.names();
  if (!names) return pass(names.error());
  std::optional<Manifest> base;
  std::optional<int64_t> next_ms;  // of the first backup after that time
  for (const std::string& name : *names) {
    auto manifest = folder.read(name);
    if (!manifest) return pass(manifest.error());
    const int64_t exported = exported_ms(*manifest);
    if (exported <= at_ms) {
      base = std::move(*manifest);
    } else if (!next_ms) {
      next_ms = exported;
    }
  }
  const std::string from_next =
      next_ms ? fmt::format(", or from {} on", time_text(*next_ms)) : std::string();
  if (!base) {
    return fail(Code::invalid,
                fmt::format("there is no backup that is as old as {}{}", time_text(at_ms),
                            next_ms ? ": choose a time from " + time_text(*next_ms) + " on"
                                    : std::string()));
  }
  const Archive archive(folder);
  auto looks = archive.names();
  if (!looks) return pass(looks.error());
  Reach reach(*base);
  for (const std::string& name : *looks) {
    auto look = archive.read(name);
    if (!look) return pass(look.error());
    reach.add(name, *look);
  }
  const int64_t until_ms = std::max(reach.until_ms(), exported_ms(*base));
  if (at_ms > until_ms) {
    return fail(Code::invalid,
                fmt::format("the commits up to {} were not archived: after the backup {} the "
                            "archive reaches to {}. Choose a time up to that{}",
                            time_text(at_ms), base->name, time_text(until_ms), from_next));
  }
  return PointInTime{.manifest = std::move(*base),
                     .replay = {.at_ms = at_ms, .looks = reach.take_looks()}};
}

std::string time_text(int64_t ms) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(static_cast<std::time_t>(ms / 1000)), ms % 1000);
}

Result<int64_t> parse_time(std::string_view text) {
  const std::string whole(text);
  std::tm time = {};
  int read = 0;
  int64_t ms = 0;
  if (std::sscanf(whole.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &time.tm_year, &time.tm_mon,
                  &time.tm_mday, &time.tm_hour, &time.tm_min, &time.tm_sec, &read) == 6) {
    std::string_view rest = std::string_view(whole).substr(static_cast<size_t>(read));
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      int64_t scale = 100;
      while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
        ms += (rest.front() - '0') * scale;
        scale /= 10;
        rest.remove_prefix(1);
      }
    }
    time.tm_year -= 1900;
    time.tm_mon -= 1;
    if (rest == "Z") return static_cast<int64_t>(::timegm(&time)) * 1000 + ms;
  }
  return fail(Code::invalid,
              fmt::format("'{}' is no time: write it in UTC, such as 2026-11-16T13:45:00Z", text));
}

}  // namespace orrery::backup
