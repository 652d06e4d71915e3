// See document_codec.h.
#include "api/mongo/collections/document_codec.h"

#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/match/match.h"
#include "base/bytes.h"

namespace orrery::mongo {
namespace {

class FilterCondition final : public value::Condition {
 public:
  explicit FilterCondition(Matcher matcher) : matcher_(std::move(matcher)) {}
  // Without a limit of time: what holds for a document must always be the same.
  bool holds(const value::Node& item) const override {
    Budget budget;
    Evaluation evaluation(budget);
    const auto match = matcher_.matches(value::Value::from(item), evaluation);
    return match && *match;
  }

 private:
  const Matcher matcher_;
};

class DocumentCodec final : public value::Codec {
 public:
  Result<value::Document> parse(std::string_view body) const override {
    return bson_codec()->parse(body);
  }
  bool append(std::string& out, const value::Value& value, size_t most) const override {
    return bson_codec()->append(out, value, most);
  }
  std::shared_ptr<const value::Condition> condition(std::string_view text) const override {
    const auto bytes = from_base64(text);
    if (!bytes) return nullptr;
    const auto filter = from_bson(*bytes);
    if (!filter) return nullptr;
    auto matcher = Matcher::parse(*filter);
    if (!matcher) return nullptr;
    return std::make_shared<FilterCondition>(*std::move(matcher));
  }
};

}  // namespace

const std::shared_ptr<const value::Codec>& document_codec() {
  static const std::shared_ptr<const value::Codec> codec = std::make_shared<const DocumentCodec>();
  return codec;
}

std::string condition_text(const value::Value& filter) {
  // It came in a message, so it is not too large or too deep.
  const auto bson = to_bson(filter);
  return to_base64(bson ? *bson : std::string());
}

}  // namespace orrery::mongo
