// See written_version.h.
#include "volume/objects/written_version.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "volume/objects/mutation.h"
#include "volume/objects/text_number.h"

namespace orrery::volume {
namespace {

constexpr const char* kVersionAttribute = "state";
constexpr int kReadAttempts = 16;

// From one state to the next. Code::retry: it is another one by now.
Status change(ObjectStore& store, const WrittenVersion& from, WrittenVersion to) {
  to.turn = from.turn + 1;
  ObjectChange wanted{.set_attributes = {{kVersionAttribute, encode(to)}}};
  if (from.turn == 0) {
    wanted.presence = ObjectChange::Presence::must_be_new;
  } else {
    wanted.presence = ObjectChange::Presence::must_be_there;
    wanted.attributes_equal = {{kVersionAttribute, encode(from)}};
  }
  const Outcome changed = store.apply(kVersionObject, wanted);
  switch (changed.applied) {
    case Applied::done:
      return {};
    case Applied::differs:
    case Applied::exists:
    case Applied::absent:
      return fail(Code::retry, "it was changed meanwhile");
    default:
      break;
  }
  return fail(Code::internal, fmt::format("cannot change the version that is written in {}: {}",
                                          store.place(), changed.message));
}

Result<bool> all_can_read(ObjectStore& store, uint32_t version) {
  auto incarnations = list_leases(store);
  if (!incarnations) return pass(incarnations.error());
  for (const std::string& incarnation : *incarnations) {
    auto row = read_lease(store, incarnation);
    if (!row) return pass(row.error());
    if (!*row || (*row)->state == LeaseRow::State::over) continue;
    if ((*row)->versions.newest < version) return false;
  }
  return true;
}

}  // namespace

std::string encode(const WrittenVersion& version) {
  return fmt::format("{} {} {}", version.written, version.announced, version.turn);
}

std::optional<WrittenVersion> decode_written_version(std::string_view text) {
  const size_t first = std::min(text.find(' '), text.size());
  const size_t second = std::min(text.find(' ', first + 1), text.size());
  const auto part = [&](size_t from, size_t to) {
    return from < to ? text.substr(from, to - from) : std::string_view();
  };
  const auto written = number_of<uint32_t>(part(0, first));
  const auto announced = number_of<uint32_t>(part(first + 1, second));
  const auto turn = number_of<uint64_t>(part(second + 1, text.size()));
  if (!written || !announced || !turn || *written == 0) return std::nullopt;
  return WrittenVersion{.written = *written, .announced = *announced, .turn = *turn};
}

Result<WrittenVersion> read_written_version(ObjectStore& store) {
  auto object = store.inspect(kVersionObject);
  if (!object && object.error().code == Code::not_found) return WrittenVersion();
  if (!object) return pass(object.error());
  const auto version = decode_written_version(object->attribute(kVersionAttribute));
  if (version) return *version;
  return fail(Code::corrupt, fmt::format("the object {} in {} says '{}'", kVersionObject,
                                         store.place(), object->attribute(kVersionAttribute)));
}

Status admit(ObjectStore& store, SpokenVersions own) {
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    auto version = read_written_version(store);
    if (!version) return pass(version.error());
    if (version->written > own.newest) {
      return fail(Code::unsupported,
                  fmt::format("{} is written in version {} since all nodes could read it, and this "
                              "program reads versions {} to {}: start a newer one",
                              store.place(), version->written, own.oldest, own.newest));
    }
    if (version->written < own.oldest) {
      return fail(Code::unsupported,
                  fmt::format("{} is written in version {}, and this program reads versions {} to "
                              "{}: let all nodes run a release in between first",
                              store.place(), version->written, own.oldest, own.newest));
    }
    if (version->announced <= own.newest) return {};
    auto taken_back = change(store, *version, {.written = version->written});
    if (taken_back) return {};
    if (taken_back.error().code != Code::retry) return taken_back;
  }
  return fail(Code::overloaded,
              fmt::format("the version of {} is being changed again and again", store.place()));
}

Result<uint32_t> raise_written_version(ObjectStore& store, uint32_t next) {
  auto version = read_written_version(store);
  if (!version) return pass(version.error());
  if (version->written >= next) return version->written;
  if (!is_mutated(Mutation::raise_unannounced)) {
    const WrittenVersion announced{.written = version->written, .announced = next};
    if (auto done = change(store, *version, announced); !done) return pass(done.error());
    version->announced = next;
    ++version->turn;
  }
  auto readable = all_can_read(store, next);
  if (!readable) return pass(readable.error());
  if (!*readable) return version->written;
  if (auto done = change(store, *version, {.written = next}); !done) return pass(done.error());
  log::info("all nodes can read a newer version, which is written from now on",
            {{"version", next}});
  return next;
}

}  // namespace orrery::volume
