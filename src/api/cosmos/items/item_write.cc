// See item_write.h.
#include "api/cosmos/items/item_write.h"

#include <fmt/format.h>

#include "api/cosmos/items/item_body.h"
#include "api/cosmos/items/item_patch.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/partition_key_header.h"
#include "partition/prepared_terms.h"

namespace orrery::cosmos {
namespace {

using partition::Verb;
using partition::Write;

Verb verb_of(ItemVerb verb) {
  switch (verb) {
    case ItemVerb::create:
      return Verb::create;
    case ItemVerb::upsert:
      return Verb::upsert;
    case ItemVerb::read:
      return Verb::read;
    case ItemVerb::remove:
      return Verb::remove;
    case ItemVerb::replace:
    case ItemVerb::patch:
      return Verb::replace;
  }
  return Verb::read;
}

// An item that was sent belongs where its own key says, which must agree with the request's when
// there is one.
std::expected<void, Refusal> fill_from_body(const ItemRequest& request,
                                            const value::KeyDefinition& definition,
                                            const Limits& limits, Write& write) {
  auto document = parse_item_document(request.body, limits);
  if (!document) return std::unexpected(Refusal{document.error()});
  auto item = check_item(*document, definition, limits);
  if (!item) return std::unexpected(Refusal{item.error()});
  write.placement = value::place(definition, item->key);
  write.key_text = value::to_json(item->key);
  if (!request.key.empty()) {
    auto placement = place_key(request.key, definition, limits);
    if (!placement) return std::unexpected(Refusal{placement.error()});
    if (*placement != write.placement) {
      return std::unexpected(
          Refusal{{.code = Code::invalid,
                   .message = fmt::format("the partition key in the item, {}, is not the one of "
                                          "the request, {}",
                                          write.key_text, request.key)},
                  kSubstatusKeyMismatch});
    }
  }
  if (!request.id.empty() && request.id != item->id && request.may_rename) {
    write.from = request.id;
  } else if (!request.id.empty() && request.id != item->id) {
    return std::unexpected(
        Refusal{{.code = Code::invalid,
                 .message = fmt::format("the item's id '{}' is not the one that the request names, "
                                        "'{}': a script cannot change an id",
                                        item->id, request.id)}});
  }
  write.row = std::move(item->id);
  write.body = std::move(item->body);
  write.lifetime = lifetime_of(item->ttl_s);
  write.prepared = partition::PreparedTerms::make(StrippedItem(document->root()).root(),
                                                  *write.schema, write.finisher.get());
  return {};
}

}  // namespace

Result<std::string> place_key(std::string_view key, const value::KeyDefinition& definition,
                              const Limits& limits) {
  if (key.empty()) {
    if (definition.paths.empty()) return value::place(definition, {});
    return fail(Code::invalid,
                "the partition key is missing (x-ms-documentdb-partitionkey, or partitionKey in an "
                "operation of a bulk request): an item of this container is found by its id and "
                "its partition key");
  }
  auto parsed = parse_key_header(key);
  if (!parsed) return pass(parsed.error());
  if (auto checked = check_key_values(*parsed, limits); !checked) return pass(checked.error());
  if (auto checked = check_levels(definition, *parsed, false); !checked) {
    return pass(checked.error());
  }
  return value::place(definition, *parsed);
}

std::expected<Write, Refusal> make_write(const ItemRequest& request,
                                         const cluster::Routing& routing, const Limits& limits) {
  const catalog::Container& container = *routing.container;
  const value::KeyDefinition& definition = container.spec.key;
  Write write;
  write.verb = verb_of(request.verb);
  write.schema = routing.schema;
  if (write.verb != Verb::read && write.verb != Verb::remove) {
    write.finisher = std::make_shared<ItemFinisher>(container.database, container.number);
  }
  if (request.verb == ItemVerb::create || request.verb == ItemVerb::upsert ||
      request.verb == ItemVerb::replace) {
    if (auto filled = fill_from_body(request, definition, limits, write); !filled) {
      return std::unexpected(filled.error());
    }
  } else {
    write.row = request.id;
    write.key_text = request.key;
    write.placement = request.placement;
    if (write.placement.empty()) {
      auto placement = place_key(request.key, definition, limits);
      if (!placement) return std::unexpected(Refusal{placement.error()});
      write.placement = std::move(*placement);
    }
  }
  if (request.verb == ItemVerb::patch) {
    auto editor = make_patch(request.body, definition, limits);
    if (!editor) return std::unexpected(Refusal{editor.error()});
    write.editor = std::move(*editor);
  }
  if (request.verb != ItemVerb::create && request.verb != ItemVerb::read &&
      !request.if_match.empty()) {
    write.if_version = parse_etag_condition(request.if_match);
  }
  write.if_absent = (request.verb == ItemVerb::upsert || request.verb == ItemVerb::patch) &&
                    request.if_none_match == "*";
  return write;
}

int success_status(ItemVerb verb, bool replaced) {
  switch (verb) {
    case ItemVerb::create:
      return 201;
    case ItemVerb::upsert:
      return replaced ? 200 : 201;
    case ItemVerb::remove:
      return 204;
    case ItemVerb::replace:
    case ItemVerb::read:
    case ItemVerb::patch:
      return 200;
  }
  return 200;
}

}  // namespace orrery::cosmos
