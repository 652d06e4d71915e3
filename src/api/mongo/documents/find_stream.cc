// See find_stream.h.
#include "api/mongo/documents/find_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/match/filter_fields.h"

namespace orrery::mongo {

using value::Value;

Answer<std::unique_ptr<FindStream>> FindStream::open(const HandlerContext& context,
                                                     cluster::RoutingPtr routing,
                                                     const FindQuery& query,
                                                     const FindOptions& options, int64_t now_ms) {
  auto made = std::make_unique<FindStream>();
  std::optional<Sort> sort;
  if (options.sort.is_object() && options.sort.size() > 0) {
    auto parsed = Sort::parse(options.sort, query.collation);
    if (!parsed) return pass(std::move(parsed.error()));
    sort = std::move(*parsed);
  }
  FindQuery ordered = query;
  ordered.is_natural = true;
  if (options.limit > 0) ordered.most = static_cast<uint64_t>(options.limit + options.skip);
  if (sort) want_order(ordered, *sort, ordered.most);
  if (!options.projection.is_object()) {
    ordered.fields.emplace();
    for (size_t i = 0; sort && i < sort->parts().size(); ++i) {
      add_field(sort->parts()[i].path, *ordered.fields);
    }
  }
  auto documents =
      MatchingDocuments::open(context, std::move(routing), ordered, made->budget, now_ms);
  if (!documents) return pass(std::move(documents.error()));
  made->documents_ = std::move(*documents);
  if (options.projection.is_object()) {
    auto projection = Projection::parse(
        options.projection,
        {.collation = query.collation, .context = made->documents_->parse_context()});
    if (!projection) return pass(std::move(projection.error()));
    made->projection_ = std::move(*projection);
  }
  if (sort && !made->documents_->gives(*sort)) {
    if (sort->is_reverse_natural()) {
      auto reverse = Sort::parse(Value::make_object(
          {{Value::make_string("_id"), Value::make_integer(-1, value::NumberKind::int32)}}));
      if (!reverse) return pass(std::move(reverse.error()));
      sort = std::move(*reverse);
    }
    made->sort_ = std::move(sort);
  }
  made->skip_ = options.skip;
  if (options.limit > 0) made->left_ = options.limit;
  return made;
}

// Keeps no more than skip and limit ask for: beyond twice that, the half that comes last goes.
Answer<void> FindStream::sort_all() {
  const auto before = [this](const Kept& a, const Kept& b) {
    const auto order = sort_->compare(a.key, b.key);
    return order != 0 ? order < 0 : a.number < b.number;
  };
  uint64_t number = 0;
  const size_t most =
      left_ && *left_ + skip_ < (int64_t{1} << 31) ? static_cast<size_t>(*left_ + skip_) : SIZE_MAX;
  std::vector<Kept> all;
  const auto cut = [&] {
    std::ranges::sort(all, before);
    while (all.size() > most) {
      kept_bytes_ -= all.back().bytes.size() + sizeof(Kept);
      all.pop_back();
    }
  };
  for (;;) {
    auto found = documents_->next();
    if (!found) return pass(std::move(found.error()));
    if (!*found) break;
    Sort::Key key = sort_->key((*found)->document);
    size_t bytes = sizeof(Kept) + (*found)->bytes.size();
    for (Value& part : key) {
      part = part.to_owned();
      bytes += part.memory();
    }
    kept_bytes_ += bytes;
    all.push_back({std::move(key), std::string((*found)->bytes), (*found)->position, number++});
    if (most < SIZE_MAX && all.size() >= 2 * most + 64) cut();
    if (kept_bytes_ > kSortBytesMax) {
      return refuse(kQueryExceededMemory,
                    fmt::format("Sort exceeded memory limit of {} bytes: ask for fewer documents "
                                "with a filter or a limit",
                                kSortBytesMax));
    }
  }
  cut();
  kept_.assign(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
  is_sorted_ = true;
  return {};
}

Answer<void> FindStream::project(const Value& document, std::string_view bytes,
                                 std::optional<size_t> position, std::string& out) {
  if (projection_.is_everything()) {
    out.assign(bytes);
    return {};
  }
  auto projected = projection_.apply(document, position, documents_->evaluation());
  if (!projected) return pass(std::move(projected.error()));
  auto written = to_bson(*projected);
  if (!written) return pass(std::move(written.error()));
  out = std::move(*written);
  return {};
}

Answer<bool> FindStream::next(std::string& bson) {
  if (left_ && *left_ <= 0) return false;
  if (sort_) {
    if (!is_sorted_) {
      if (auto sorted = sort_all(); !sorted) return pass(std::move(sorted.error()));
    }
    while (skip_ > 0 && !kept_.empty()) {
      kept_.pop_front();
      --skip_;
    }
    if (kept_.empty()) return false;
    Kept kept = std::move(kept_.front());
    kept_.pop_front();
    kept_bytes_ -= std::min(kept_bytes_, kept.bytes.size() + sizeof(Kept));
    Value document;
    if (!projection_.is_everything()) {
      auto parsed = from_bson(kept.bytes);
      if (!parsed) return pass(std::move(parsed.error()));
      document = std::move(*parsed);
    }
    if (left_) --*left_;
    if (auto done = project(document, kept.bytes, kept.position, bson); !done) {
      return pass(std::move(done.error()));
    }
    return true;
  }
  for (;;) {
    auto found = documents_->next();
    if (!found) return pass(std::move(found.error()));
    if (!*found) return false;
    if (skip_ > 0) {
      --skip_;
      continue;
    }
    if (left_) --*left_;
    auto done = project((*found)->document, (*found)->bytes, (*found)->position, bson);
    if (!done) return pass(std::move(done.error()));
    return true;
  }
}

double FindStream::end_batch(size_t bytes_returned) {
  return documents_->end_batch(bytes_returned);
}

}  // namespace orrery::mongo
