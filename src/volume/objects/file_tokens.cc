// See file_tokens.h.
#include "volume/objects/file_tokens.h"

#include <string>

#include "volume/objects/root.h"

namespace orrery::volume {
namespace {

// Removes tokens and, with the last one, the stripes. A crash leaves a first stripe without tokens,
// which a sweep finds.
void drop_stripes(ObjectStore& store, const FileEntry& entry) {
  const std::string first = entry.object(0);
  for (;;) {
    auto state = store.inspect(first);
    if (!state) break;  // never made, or gone
    const std::string refs(state->attribute(kRefs));
    std::string rest = refs;
    if (const size_t at = rest.find(entry.token + " "); at != std::string::npos) {
      rest.erase(at, entry.token.size() + 1);
    }
    if (rest != refs) {
      const Outcome taken = store.apply(first, {.presence = ObjectChange::Presence::must_be_there,
                                                .attributes_equal = {{kRefs, refs}},
                                                .set_attributes = {{kRefs, rest}}});
      if (taken.applied == Applied::differs) continue;
      if (!taken.is_done()) return;
    }
    if (!rest.empty()) return;
    break;
  }
  // A file that was not finished may have more stripes than its size tells.
  const uint64_t counted = (entry.size + kStripeBytes - 1) / kStripeBytes;
  uint64_t missed = 0;
  for (uint64_t i = 1; i < counted || missed <= 8; ++i) {
    const Outcome removed = store.apply(
        entry.object(i), {.presence = ObjectChange::Presence::must_be_there, .remove = true});
    missed = removed.applied == Applied::absent ? missed + 1 : 0;
    if (!removed.is_done() && removed.applied != Applied::absent) return;
  }
  store.apply(first, {.presence = ObjectChange::Presence::must_be_there,
                      .attributes_equal = {{kRefs, ""}},
                      .remove = true});
}

}  // namespace

void drop_file(ObjectStore& store, const FileEntry& entry) {
  switch (entry.kind) {
    case FileEntry::Kind::inline_bytes:
      return;
    case FileEntry::Kind::stripes:
      return drop_stripes(store, entry);
    case FileEntry::Kind::log:
      for (size_t i = 0; i < entry.extents.size(); ++i) {
        store.apply(entry.object(i),
                    {.presence = ObjectChange::Presence::must_be_there, .remove = true});
      }
      return;
  }
}

Result<bool> add_token(ObjectStore& store, const FileEntry& entry) {
  for (;;) {
    auto state = store.inspect(entry.object(0));
    if (!state && state.error().code == Code::not_found) return false;
    if (!state) return pass(state.error());
    const std::string refs(state->attribute(kRefs));
    if (refs.empty()) return false;
    const Outcome added =
        store.apply(entry.object(0), {.presence = ObjectChange::Presence::must_be_there,
                                      .attributes_equal = {{kRefs, refs}},
                                      .set_attributes = {{kRefs, refs + entry.token + " "}}});
    if (added.is_done()) return true;
    if (added.applied == Applied::absent) return false;
    if (added.applied != Applied::differs) return fail(Code::internal, added.message);
  }
}

}  // namespace orrery::volume
