// See invariants.h.
#include "nodes/simulation/invariants.h"

#include <fmt/format.h>

#include <string_view>

#include "volume/objects/lease.h"
#include "volume/objects/root.h"
#include "volume/objects/text_number.h"
#include "volume/objects/written_version.h"

namespace orrery::nodes::simulation {

void Invariants::check_leases() {
  uint32_t coordinators = 0;
  for (const Life* life : current_) {
    if (!life || life->process.dead || !life->lease) continue;
    if (life->is_over && life->lease->is_good()) {
      world_.fail(fmt::format("I8: the lease of process {} is over, and it believes in it",
                              life->process.number));
    }
    if (life->node && life->node->is_coordinator()) ++coordinators;
  }
  if (coordinators > 1) ++world_.counts.two_coordinators;
}

void Invariants::check_change(const std::string& name, const Objects::Object* before,
                              const Objects::Object* after) {
  if (name.starts_with("lease.")) return check_row(name.substr(6), before, after);
  if (name.starts_with("root.")) return check_root(name, before, after);
  if (name == volume::kVersionObject) {
    ++world_.counts.versions_changed;
    for (const auto& life : lives_) check_readable(*life);
    return;
  }
  // file.ROOT.EPOCH.N.K, which was appended to.
  const size_t root_end = name.find('.', 5);
  const size_t epoch_end = name.find('.', root_end + 1);
  const auto sealer = sealed.find(name.substr(5, root_end - 5));
  const auto epoch = volume::number_of<uint64_t>(
      std::string_view(name).substr(root_end + 1, epoch_end - root_end - 1));
  if (sealer != sealed.end() && epoch && *epoch < sealer->second) {
    world_.fail(fmt::format("I1: an append of epoch {} succeeds, and epoch {} has read the logs",
                            *epoch, sealer->second));
  }
}

void Invariants::check_row(const std::string& incarnation, const Objects::Object* before,
                           const Objects::Object* after) {
  using State = volume::LeaseRow::State;
  const auto row = [](const Objects::Object* object) {
    return object ? volume::decode_lease_row(object->attributes.at("row")) : std::nullopt;
  };
  const auto was = row(before);
  const auto is = row(after);
  if (!was || !is) return;
  if (is->state < was->state || (was->state != State::live && is->counter != was->counter) ||
      is->counter < was->counter) {
    world_.fail(fmt::format("I8: the row of {} goes from {} to {}", incarnation,
                            volume::encode(*was), volume::encode(*is)));
  }
  if (is->state == State::live) return;
  for (const auto& life : lives_) {
    if (!life->lease || life->lease->incarnation() != incarnation) continue;
    life->is_revoked = true;
    life->is_over = is->state == State::over;
  }
}

void Invariants::check_readable(const Life& life) {
  const Objects::Object* object = objects_.find(volume::kVersionObject);
  if (!object || !life.lease) return;
  const Objects::Object* lease = objects_.find("lease." + life.lease->incarnation());
  const auto row = lease ? volume::decode_lease_row(lease->attributes.at("row")) : std::nullopt;
  if (!row || row->state == volume::LeaseRow::State::over) return;
  const auto version = volume::decode_written_version(object->attributes.at("state"));
  if (!version) return world_.fail("the written version cannot be read");
  if (version->written <= life.lease->options().versions.newest) return;
  world_.fail(fmt::format("I12: version {} is written, and process {} uses the volume",
                          version->written, life.process.number));
}

void Invariants::check_root(const std::string& name, const Objects::Object* before,
                            const Objects::Object* after) {
  if (!before || !after) return;
  const auto epoch = [](const Objects::Object* root) {
    return volume::number_of<uint64_t>(root->attributes.at(volume::kEpoch)).value_or(0);
  };
  const std::string& was = before->attributes.at(volume::kOwner);
  const std::string& is = after->attributes.at(volume::kOwner);
  if (epoch(after) < epoch(before) || (epoch(after) == epoch(before) && was != is && !is.empty())) {
    world_.fail(fmt::format("I1: {} goes from epoch {} of {} to epoch {} of {}", name,
                            epoch(before), was, epoch(after), is));
  }
}

void Invariants::check_freshness(Life& life) {
  if (life.process.dead || life.node->is_coordinator()) return;
  const auto as_of_us = life.node->catalog_as_of_us();
  if (!as_of_us || as_of_us == life.as_of_us) return;
  life.as_of_us = as_of_us;
  const double then_us =
      static_cast<double>(*as_of_us - life.process.clock_offset_us) / life.process.clock_rate;
  const size_t floor = history_.floor_at(kCatalogRef, static_cast<int64_t>(then_us) - 10);
  if (life.seat->catalog_lsn() < floor) {
    world_.fail(
        fmt::format("I9: process {} has the catalog as of LSN {}, and {} was acknowledged "
                    "before the moment that its copy is of",
                    life.process.number, life.seat->catalog_lsn(), floor));
  }
}

}  // namespace orrery::nodes::simulation
