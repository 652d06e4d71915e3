// See modify.h.
#include "api/mongo/documents/modify.h"

#include <fmt/format.h>

#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/batches.h"
#include "api/mongo/documents/document_key.h"
#include "api/mongo/transactions/open_transaction.h"

namespace orrery::mongo {
namespace {

using partition::Verb;
using partition::Write;
using value::Value;

// Others may change the same document over and over.
constexpr int kAttemptsMax = 1'000;
constexpr size_t kKeysInPage = 500;

std::unexpected<WriteFailure> failed(Error error) {
  return std::unexpected(WriteFailure{.index = 0, .error = std::move(error)});
}

class Modifier {
 public:
  Modifier(const HandlerContext& context, Call& call, cluster::RoutingPtr routing,
           const Modification& modification)
      : context_(context),
        call_(call),
        routing_(std::move(routing)),
        modification_(modification),
        query_(modification.query) {
    query_.pinned = call.transaction;
  }

  std::expected<Modified, WriteFailure> run() {
    start_budget(call_, budget_);
    if (is_sorted()) want_order(query_, *modification_.sort, 1);
    if (!modification_.is_multi) query_.most = 1;
    query_.needs_keys_first = query_.needs_keys_first || modification_.is_multi;
    for (int attempt = 0;; ++attempt) {
      auto documents = MatchingDocuments::open(context_, routing_, query_, budget_, call_.now_ms());
      if (!documents) return failed(std::move(documents.error()));
      documents_ = std::move(*documents);
      if (!update_ && !modification_.update.is_undefined()) {
        auto parsed = Update::parse(modification_.update,
                                    {.match = {.collation = modification_.query.collation,
                                               .context = documents_->parse_context()},
                                     .array_filters = modification_.array_filters,
                                     .constants = modification_.constants});
        if (!parsed) return failed(std::move(parsed.error()));
        update_ = std::move(*parsed);
        if (modification_.is_multi && update_->kind() == Update::Kind::replacement) {
          return failed({kFailedToParse,
                         "multi update is not supported for replacement-style "
                         "update"});
        }
      }
      auto begun = documents_->begin_batch();
      if (!begun) return failed(std::move(begun.error()));
      auto outcome = modification_.is_multi ? change_all() : change_first();
      call_.charge += documents_->end_batch(0);
      if (!outcome) return std::unexpected(std::move(outcome.error()));
      if (modified_.matched > 0) return std::move(modified_);
      if (is_lost_ && attempt < kAttemptsMax) {
        is_lost_ = false;
        continue;
      }
      if (!modification_.upserts) return std::move(modified_);
      auto inserted = insert();
      if (!inserted) return std::unexpected(std::move(inserted.error()));
      if (*inserted || attempt >= kAttemptsMax) return std::move(modified_);
    }
  }

 private:
  using Outcome = std::expected<void, WriteFailure>;

  bool is_sorted() const { return modification_.sort && !modification_.sort->parts().empty(); }

  struct Change {
    partition::ItemKey key;
    Value before;
    Value after;                 // undefined: removed
    std::optional<Write> write;  // nothing: it is as it should be
  };

  Answer<std::optional<partition::Item>> read_item(const partition::ItemKey& key) {
    if (call_.transaction) return call_.transaction->read(routing_, key);
    auto read = context_.items.read(routing_, key.placement, key.row);
    if (!read) return pass(engine_error(read.error()));
    call_.charge += read->receipt.charge;
    return std::move(read->item);
  }

  // In a transaction it is done when that is committed.
  std::expected<cluster::WriteReply, Error> do_write(const Write& write) {
    if (!call_.transaction) return write_one(context_, routing_, write);
    auto staged = call_.transaction->stage(routing_, write);
    if (!staged) return pass(std::move(staged.error()));
    cluster::WriteReply reply;
    if (!*staged) reply.error = staged->error();
    return reply;
  }

  // What is to be done to the document of this key, as it is now. Nothing: it does not match (any
  // more).
  std::expected<std::optional<Change>, WriteFailure> plan(partition::ItemKey key) {
    auto read = read_item(key);
    if (!read) return failed(std::move(read.error()));
    if (!*read) return std::nullopt;
    const partition::Item& item = **read;
    auto document = from_bson(item.body);
    if (!document) return failed(std::move(document.error()));
    auto match = documents_->match(*document);
    if (!match) return failed(std::move(match.error()));
    if (!match->is_match) return std::nullopt;
    Change change;
    change.key = std::move(key);
    change.before = std::move(*document);
    if (!update_) {
      change.write = make_write(Verb::remove, routing_, change.key);
      if (!call_.transaction) change.write->if_version = item.version;
      return change;
    }
    auto updated = update_->apply({.document = change.before, .position = match->position},
                                  documents_->evaluation());
    if (!updated) return failed(std::move(updated.error()));
    if (!updated->is_changed) {
      change.after = change.before;
      return change;
    }
    auto made = prepare_next(*routing_, change.key, change.before, updated->document);
    if (!made) return failed(std::move(made.error()));
    change.after = std::move(made->document);
    change.write = make_write(Verb::replace, routing_, change.key, std::move(made->bytes));
    if (!call_.transaction) change.write->if_version = item.version;
    change.write->is_edit = update_->kind() != Update::Kind::replacement;
    return change;
  }

  void count(Change& change) {
    ++modified_.matched;
    if (change.write) {
      ++modified_.changed;
      call_.has_written = true;
    }
    if (modification_.is_multi) return;
    modified_.before = std::move(change.before);
    modified_.after = std::move(change.after);
  }

  // False: it does not match any more.
  std::expected<bool, WriteFailure> change_one(const partition::ItemKey& key) {
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
      auto planned = plan(key);
      if (!planned) return std::unexpected(std::move(planned.error()));
      if (!*planned) return false;
      Change& change = **planned;
      if (!change.write) {
        count(change);
        return true;
      }
      if (modification_.note) {
        change.write->note = modification_.note(
            {.matched = 1, .changed = 1, .before = change.before, .after = change.after});
      }
      auto reply = do_write(*change.write);
      if (!reply) return failed(std::move(reply.error()));
      if (!reply->error) {
        call_.charge += reply->receipt.charge;
        count(change);
        return true;
      }
      const Code code = reply->error->code;
      if (code == Code::precondition_failed || code == Code::not_found) continue;
      return std::unexpected(failure_of(*routing_, change.after, *reply->error));
    }
    return failed({kWriteConflict, "the document was changed by others over and over: try again"});
  }

  Outcome change_first() {
    std::optional<partition::ItemKey> chosen;
    Sort::Key least;
    for (;;) {
      auto found = documents_->next();
      if (!found) return failed(std::move(found.error()));
      if (!*found) break;
      const bool compares = is_sorted() && !documents_->gives(*modification_.sort);
      if (compares) {
        Sort::Key key = modification_.sort->key((*found)->document);
        if (chosen && modification_.sort->compare(key, least) >= 0) continue;
        for (Value& part : key) part = part.to_owned();
        least = std::move(key);
      }
      auto key = documents_->key();
      if (!key) return failed(std::move(key.error()));
      chosen = std::move(*key);
      if (!compares) break;
    }
    documents_->pause();
    if (!chosen) return {};
    auto done = change_one(*chosen);
    if (!done) return std::unexpected(std::move(done.error()));
    is_lost_ = !*done;
    return {};
  }

  Outcome change_all() {
    for (;;) {
      std::vector<partition::ItemKey> keys;
      while (keys.size() < kKeysInPage) {
        auto found = documents_->next();
        if (!found) return failed(std::move(found.error()));
        if (!*found) break;
        auto key = documents_->key();
        if (!key) return failed(std::move(key.error()));
        keys.push_back(std::move(*key));
      }
      if (keys.empty()) return {};
      documents_->pause();
      if (auto done = change_page(keys); !done) return done;
    }
  }

  Outcome change_page(const std::vector<partition::ItemKey>& keys) {
    if (call_.transaction) {
      for (const partition::ItemKey& key : keys) {
        auto done = change_one(key);
        if (!done) return std::unexpected(std::move(done.error()));
      }
      return {};
    }
    std::vector<Change> changes;
    WriteBatch batch(context_, routing_, false);
    for (const partition::ItemKey& key : keys) {
      auto planned = plan(key);
      if (!planned) {
        settle(changes, batch);
        return std::unexpected(std::move(planned.error()));
      }
      if (!*planned) continue;
      Change& change = **planned;
      if (!change.write) {
        count(change);
        continue;
      }
      batch.add(*change.write);
      changes.push_back(std::move(change));
    }
    return settle(changes, batch);
  }

  // What others were quicker with is done again, one by one.
  Outcome settle(std::vector<Change>& changes, WriteBatch& batch) {
    const WriteBatch::Outcome& outcome = batch.finish();
    call_.charge += outcome.charge;
    std::vector<const orrery::Error*> refused(changes.size());
    for (const auto& [at, error] : outcome.refused) refused[at] = &error;
    Outcome worst;
    for (size_t i = 0; i < changes.size(); ++i) {
      if (refused[i] == nullptr) {
        count(changes[i]);
        continue;
      }
      const Code code = refused[i]->code;
      if (code == Code::precondition_failed || code == Code::not_found) {
        auto again = change_one(changes[i].key);
        if (!again && worst) worst = std::unexpected(std::move(again.error()));
      } else if (worst) {
        worst = std::unexpected(failure_of(*routing_, changes[i].after, *refused[i]));
      }
    }
    return worst;
  }

  // False: another has inserted such a document meanwhile.
  std::expected<bool, WriteFailure> insert() {
    if (!routing_) {
      auto made = ensure_collection(context_, call_.database, call_.collection());
      if (!made) return failed(std::move(made.error()));
      routing_ = std::move(*made);
    }
    auto document = update_->upsert(modification_.query.filter, documents_->evaluation());
    if (!document) return failed(std::move(document.error()));
    auto made = prepare(*routing_, *document, call_.now_ms());
    if (!made) return failed(std::move(made.error()));
    Write write = make_write(Verb::create, routing_, made->key, made->bytes);
    if (modification_.note) {
      write.note = modification_.note({.upserted_id = made->id, .after = made->document});
    }
    auto reply = do_write(write);
    if (!reply) return failed(std::move(reply.error()));
    if (!reply->error) {
      call_.charge += reply->receipt.charge;
      call_.has_written = true;
      modified_.upserted_id = made->id;
      modified_.after = made->document;
      return true;
    }
    if (reply->error->code == Code::conflict && ++conflicts_ <= 1) return false;
    return std::unexpected(failure_of(*routing_, made->document, *reply->error));
  }

  const HandlerContext& context_;
  Call& call_;
  cluster::RoutingPtr routing_;
  const Modification& modification_;
  FindQuery query_;
  Budget budget_;
  std::unique_ptr<MatchingDocuments> documents_;
  std::optional<Update> update_;
  Modified modified_;
  bool is_lost_ = false;  // the document that was found did not match when it was to be changed
  int conflicts_ = 0;
};

}  // namespace

std::expected<Modified, WriteFailure> modify(const HandlerContext& context, Call& call,
                                             cluster::RoutingPtr routing,
                                             const Modification& modification) {
  return Modifier(context, call, std::move(routing), modification).run();
}

}  // namespace orrery::mongo
