// See note.h. Also what a run and a partition do with notes.
#include "partition/note.h"

#include <memory>
#include <utility>

#include "base/bytes.h"
#include "partition/format.h"
#include "partition/partition.h"
#include "partition/run.h"
#include "partition/store.h"
#include "value/ordered.h"

namespace orrery::partition {
namespace {

constexpr size_t kNumberBytes = 8;
constexpr size_t kPartBytes = 4;
constexpr size_t kUntilBytes = 8;
// What one note removes at most of those before it: each adds one, so that they do not pile up.
constexpr int kForgottenMax = 4;
// Behind its own, the notes of others that it looks at for ones that nobody needs any more. Owners
// are spread over all keys, so over time each note is looked at.
constexpr int kLookedAtMax = 4;

}  // namespace

std::string notes_from(std::string_view owner, uint64_t number) {
  std::string key(kNotes);
  value::append_ordered_bytes(key, owner);
  key.resize(key.size() + kNumberBytes);
  store_u64_be(key.data() + key.size() - kNumberBytes, number);
  return key;
}

std::string note_key(const Note& note, std::string_view placement) {
  std::string key = notes_from(note.owner, note.number);
  key.resize(key.size() + kPartBytes);
  store_u32_be(key.data() + key.size() - kPartBytes, note.part);
  return key.append(placement);
}

Result<std::string_view> placement_of_note(std::string_view key) {
  if (!key.starts_with(kNotes)) return fail(Code::corrupt, "the key of a note has another form");
  key.remove_prefix(kNotes.size());
  if (auto owner = value::take_ordered_bytes(key); !owner) return pass(owner.error());
  if (key.size() < kNumberBytes + kPartBytes) {
    return fail(Code::corrupt, "the key of a note is cut short");
  }
  return key.substr(kNumberBytes + kPartBytes);
}

std::string encode_note(std::string_view body, int64_t until_s) {
  std::string value(kUntilBytes, '\0');
  store_u64_le(value.data(), static_cast<uint64_t>(until_s));
  return value.append(body);
}

Result<StoredNote> decode_note(std::string_view value) {
  if (value.size() < kUntilBytes) return fail(Code::corrupt, "a note is cut short");
  return StoredNote{static_cast<int64_t>(load_u64_le(value.data())), value.substr(kUntilBytes)};
}

Status Run::put_note(const Write& write, const Note& note) {
  const std::string key = note_key(note, write.placement);
  const int64_t now_s = now_ms_ / 1000;
  const rocksdb::Slice upper_bound("o");
  rocksdb::ReadOptions options = read_options();
  options.iterate_upper_bound = &upper_bound;
  const std::unique_ptr<rocksdb::Iterator> it(store_.db().NewIterator(options, store_.ledger()));
  const std::string current = notes_from(note.owner, note.number);
  int forgotten = 0;
  for (it->Seek(notes_from(note.owner, 0)); it->Valid() && forgotten < kForgottenMax; it->Next()) {
    if (it->key().compare(current) >= 0) break;
    batch_.Delete(store_.ledger(), it->key());
    ++forgotten;
  }
  int looked_at = 0;
  for (it->Seek(key + '\0'); it->Valid() && looked_at < kLookedAtMax; it->Next(), ++looked_at) {
    auto stored = decode_note(it->value().ToStringView());
    if (!stored || stored->until_s <= now_s) batch_.Delete(store_.ledger(), it->key());
  }
  if (!it->status().ok()) return pass(store_.translate(it->status(), "reading notes"));
  batch_.Put(store_.ledger(), key, encode_note(note.body, now_s + note.life_s));
  return {};
}

Result<std::vector<KeptNote>> Partition::notes(std::string_view owner, uint64_t number) const {
  Store::Use use(*store_);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  const std::string first = notes_from(owner, number);
  const int64_t now_s = shared_.clock.now_ms() / 1000;
  std::vector<KeptNote> found;
  const std::unique_ptr<rocksdb::Iterator> it(
      store_->db().NewIterator(read_options(), store_->ledger()));
  for (it->Seek(first); it->Valid() && it->key().starts_with(first); it->Next()) {
    const std::string_view rest = it->key().ToStringView().substr(first.size());
    if (rest.size() < kPartBytes) return fail(Code::corrupt, "the key of a note is cut short");
    std::string placement(rest.substr(kPartBytes));
    // A split leaves copies of the other side's.
    if (placement < identity_.min || placement >= identity_.max) continue;
    auto stored = decode_note(it->value().ToStringView());
    if (!stored) return pass(stored.error());
    if (stored->until_s <= now_s) continue;
    found.push_back({std::move(placement), load_u32_be(rest.data()), std::string(stored->body)});
  }
  if (!it->status().ok()) return pass(store_->translate(it->status(), "reading notes"));
  return found;
}

}  // namespace orrery::partition
