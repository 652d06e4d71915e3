// See precondition.h: the writer asks this of committed items, a transaction of its own view.
#include "partition/precondition.h"

#include <fmt/format.h>

namespace orrery::partition {

Status check_precondition(const Write& write, const Item* current, bool committed) {
  switch (write.verb) {
    case Verb::create:
      if (current != nullptr) {
        return fail(Code::conflict,
                    fmt::format("an item with id '{}' exists already under the partition key {}",
                                write.row, write.key_text));
      }
      break;
    case Verb::read:
    case Verb::replace:
    case Verb::remove:
      if (current == nullptr) {
        return fail(Code::not_found,
                    fmt::format("there is no item with id '{}' under the partition key {}",
                                write.row, write.key_text));
      }
      break;
    case Verb::upsert:
    case Verb::expire:
    case Verb::reindex:
    case Verb::indexed:
    case Verb::purge:
    case Verb::purged:
      break;
  }
  if (current == nullptr) return {};
  auto told = [](const Version& version) {
    return fmt::format("{}.{}", version.lsn, version.step);
  };
  if (write.if_version && (!committed || current->version != *write.if_version)) {
    return fail(Code::precondition_failed,
                fmt::format("the item's version is now {}, not the {} that is asked for: read it "
                            "again and retry",
                            committed ? told(current->version) : "one that comes with the commit",
                            told(*write.if_version)));
  }
  if (write.if_absent) {
    return fail(Code::precondition_failed,
                "the item exists, and is to be written only if it does not");
  }
  return {};
}

}  // namespace orrery::partition
