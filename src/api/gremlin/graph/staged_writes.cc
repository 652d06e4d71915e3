// See staged_writes.h.
#include "api/gremlin/graph/staged_writes.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "partition/format.h"
#include "value/json.h"

namespace orrery::gremlin {
namespace {

using partition::Verb;

constexpr size_t kInTurnMax = 4;  // partition keys
constexpr size_t kTogether = 64;

std::string version_in(std::string_view json) {
  auto document = value::JsonDocument::parse(json);
  if (!document) return {};
  const value::Node* mark = document->root().find("_etag");
  return mark != nullptr ? std::string(mark->text) : "";
}

// The same object, and not only the same id.
bool is_same(const Value& a, const Value& b) {
  if (a.is_edge() != b.is_edge()) return false;
  return a.is_edge() ? a.edge() == b.edge() : a.vertex() == b.vertex();
}

void note_stored(const Value& element, const partition::Written& written) {
  if (!element.is_element() || written.item.body.empty()) return;
  (element.is_vertex() ? element.vertex()->version : element.edge()->version) =
      version_in(written.item.body);
}

}  // namespace

Verb StagedWrites::verb_for(const partition::ItemKey& key, Verb verb) const {
  const auto newest = newest_.find(partition::item_key(key.placement, key.row));
  if (newest == newest_.end() || verb != Verb::replace) return verb;
  return entries_[newest->second].write.verb == Verb::create ? Verb::create : verb;
}

Status StagedWrites::put(partition::Write write, Value element) {
  const std::string key = partition::item_key(write.placement, write.row);
  const auto newest = newest_.find(key);
  Entry* before = newest == newest_.end() ? nullptr : &entries_[newest->second];
  const bool is_gone = before != nullptr && before->write.verb == Verb::remove;
  if (before == nullptr || is_gone) {
    if (is_gone && write.verb == Verb::remove) return {};
    newest_[key] = entries_.size();
    ++count_;
    bytes_ += write.body.size();
    entries_.push_back({std::move(write), std::move(element)});
    return {};
  }
  const bool is_new = before->write.verb == Verb::create;
  if (write.verb == Verb::create && !is_same(before->element, element)) {
    return fail(Code::conflict,
                fmt::format("the traversal has made an element with the id {} already",
                            write.row.substr(0, 100)));
  }
  if (write.verb == Verb::remove && is_new) {  // as if it had never been
    bytes_ -= before->write.body.size();
    before->is_void = true;
    newest_.erase(key);
    --count_;
    return {};
  }
  // The first state is the one that must still be there.
  if (write.verb == Verb::replace) write.if_version = before->write.if_version;
  bytes_ += write.body.size();
  bytes_ -= before->write.body.size();
  before->write = std::move(write);
  return {};
}

std::vector<Value> StagedWrites::elements(bool edges) const {
  std::vector<Value> found;
  for (const Entry& entry : entries_) {
    const bool is_there = !entry.is_void && entry.write.verb != Verb::remove;
    if (is_there && entry.element.is_edge() == edges) found.push_back(entry.element);
  }
  return found;
}

// New vertices before the edges to them, and edges away before their vertices: an edge without its
// vertex is not left when this ends in the middle.
std::array<std::vector<StagedWrites::Group>, 3> StagedWrites::groups() {
  struct Ranked {
    size_t rank = 0;
    Group group = {};
  };
  std::vector<Ranked> ranked;
  std::unordered_map<std::string_view, size_t> by_placement;
  for (Entry& entry : entries_) {
    if (entry.is_void) continue;
    const auto [at, is_new] = by_placement.try_emplace(entry.write.placement, ranked.size());
    if (is_new) ranked.emplace_back();
    Ranked& one = ranked[at->second];
    one.group.push_back(&entry);
    const bool removes_vertex = entry.write.verb == Verb::remove && entry.element.is_vertex();
    const size_t rank = removes_vertex ? 2 : entry.element.is_edge() ? 1 : 0;
    one.rank = std::max(one.rank, rank);
  }
  std::array<std::vector<Group>, 3> made;
  for (Ranked& one : ranked) made[one.rank].push_back(std::move(one.group));
  return made;
}

Status StagedWrites::commit(const Terms& terms, WriteReport& report) {
  Status done;
  for (std::vector<Group>& rank : groups()) {
    // One after the other a failure leaves less behind; many would take too long.
    const size_t together = rank.size() > kInTurnMax ? kTogether : 1;
    for (size_t from = 0; from < rank.size(); from += together) {
      const auto some = std::span(rank).subspan(from, std::min(together, rank.size() - from));
      if (done) {
        done = store(some, terms, report);
      } else {
        for (const Group& group : some) report.waiting += group.size();
      }
    }
  }
  clear();
  return done;
}

void StagedWrites::clear() {
  entries_.clear();
  newest_.clear();
  count_ = 0;
  bytes_ = 0;
}

bool StagedWrites::is_of_one_key() const {
  return std::ranges::all_of(entries_, [&](const Entry& entry) {
    return entry.is_void || entry.write.placement == entries_.front().write.placement;
  });
}

void StagedWrites::commit_later(const Terms& terms, WriteReport& report, Done done) {
  Group group;
  for (Entry& entry : entries_) {
    if (entry.is_void) continue;
    // No step comes after it that would need the elements as they are stored.
    entry.write.wants_item = false;
    group.push_back(&entry);
  }
  write(group, terms,
        [this, count = group.size(), &report,
         done = std::move(done)](const cluster::WriteReply& reply) mutable {
          report.charge += reply.receipt.charge;
          (reply.error ? report.waiting : report.stored) += count;
          clear();
          done(reply.error ? Status(pass(*reply.error)) : Status());
        });
}

// Tells what is known of the graph. It may hear of the same writes again, when they are sent again.
class StagedWrites::Witness final : public partition::Witness {
 public:
  Witness(std::shared_ptr<KnownGraph> known, const Group& group) : known_(std::move(known)) {
    changes_.reserve(group.size());
    for (const Entry* entry : group) {
      const bool has_edge = entry->write.verb != Verb::remove && entry->element.is_edge();
      changes_.push_back({.placement = entry->write.placement,
                          .row = entry->write.row,
                          .edge = has_edge ? entry->element.edge() : nullptr});
      is_new_.push_back(entry->write.verb == Verb::create);
    }
  }
  void stored(std::span<const partition::Written> written) override {
    if (written.size() != changes_.size()) return;
    std::vector<StoredNotes::Stored> stored;
    stored.reserve(changes_.size());
    for (size_t i = 0; i < changes_.size(); ++i) {
      stored.push_back({.lsn = written[i].version.lsn, .change = changes_[i]});
      StoredNotes::Change& change = stored.back().change;
      if (!change.edge || !is_new_[i]) continue;
      change.new_bytes = static_cast<uint32_t>(written[i].new_bytes - change.row.size());
    }
    known_->note_stored(written.front().version.range, std::move(stored));
  }

 private:
  const std::shared_ptr<KnownGraph> known_;
  std::vector<StoredNotes::Change> changes_;
  std::vector<bool> is_new_;
};

void StagedWrites::write(const Group& group, const Terms& terms, Reply done) {
  std::vector<partition::Write> transaction;
  transaction.reserve(group.size());
  for (const Entry* entry : group) transaction.push_back(entry->write);
  if (terms.known) {
    terms.known->keep_up();
    transaction.front().witness = std::make_shared<Witness>(terms.known, group);
  }
  if (terms.anywhere == nullptr) {
    return terms.engine.write(terms.routing, std::move(transaction), std::move(done));
  }
  terms.anywhere->write(terms.routing, std::move(transaction), true,
                        [done = std::move(done)](face::StoredItems stored) mutable {
                          done(std::move(stored.reply));
                        });
}

Status StagedWrites::store(std::span<const Group> some, const Terms& terms, WriteReport& report) {
  std::vector<const Group*> left;
  for (const Group& group : some) left.push_back(&group);
  while (true) {
    std::vector<std::future<cluster::WriteReply>> replies;
    for (const Group* group : left) {
      std::promise<cluster::WriteReply> promise;
      replies.push_back(promise.get_future());
      write(*group, terms, [promise = std::move(promise)](cluster::WriteReply reply) mutable {
        promise.set_value(std::move(reply));
      });
    }
    std::optional<Error> failed;
    std::vector<const Group*> throttled;
    uint32_t wait_ms = 1;
    for (size_t i = 0; i < left.size(); ++i) {
      const Group& group = *left[i];
      auto error = take(replies[i], group, report);
      if (!error) continue;
      report.waiting += group.size();
      if (error->code == Code::throttled) {
        throttled.push_back(&group);
        wait_ms = std::max(wait_ms, error->retry_after_ms);
      }
      if (!failed || failed->code == Code::throttled) failed = std::move(error);
    }
    if (!failed) return {};
    // Before anything is stored the client can wait as well.
    const bool waits = failed->code == Code::throttled && report.stored > 0;
    if (!waits || !terms.wait(wait_ms)) return pass(*failed);
    for (const Group* group : throttled) report.waiting -= group->size();
    left = std::move(throttled);
  }
}

std::optional<Error> StagedWrites::take(const cluster::WriteReply& reply, const Group& group,
                                        WriteReport& report) {
  report.charge += reply.receipt.charge;
  if (reply.error) return reply.error;
  report.stored += group.size();
  for (size_t i = 0; i < group.size() && i < reply.written.size(); ++i) {
    note_stored(group[i]->element, reply.written[i]);
  }
  return std::nullopt;
}

std::optional<Error> StagedWrites::take(std::future<cluster::WriteReply>& answer,
                                        const Group& group, WriteReport& report) {
  try {
    return take(answer.get(), group, report);
  } catch (const std::future_error&) {  // as base/await.h
    return Error{.code = Code::overloaded,
                 .message =
                     "the server ran out of memory before this was finished: it may be done "
                     "or not"};
  }
}

}  // namespace orrery::gremlin
