// See precondition.h: the writer asks this of committed items, a transaction of its own view.
#include "partition/precondition.h"

#include <fmt/format.h>

namespace orrery::partition {

Status check_precondition(const Write& write, const Item* current, bool has_etag) {
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
  auto now = [&]() -> std::string {
    return has_etag ? "\"" + to_text(current->version) + "\"" : "one that comes with the commit";
  };
  if (write.if_match && (!has_etag || current->version != *write.if_match)) {
    return fail(
        Code::precondition_failed,
        fmt::format("the item's etag is now {}, not the \"{}\" that If-Match asks for: read "
                    "it again and retry",
                    now(), to_text(*write.if_match)));
  }
  if (write.if_absent) {
    return fail(
        Code::precondition_failed,
        fmt::format("the item exists, its etag is {}, and If-None-Match: * asks that it does "
                    "not",
                    now()));
  }
  return {};
}

}  // namespace orrery::partition
