// See codec.h.
#include "value/codec.h"

#include <utility>

#include "value/json.h"
#include "value/value.h"

namespace orrery::value {
namespace {

class JsonCodec final : public Codec {
 public:
  Result<Document> parse(std::string_view body) const override {
    auto document = JsonDocument::parse(body);
    if (!document) return pass(document.error());
    return std::move(*document).to_document();
  }
  bool append(std::string& out, const Value& value, size_t most) const override {
    return value.append_json(out, most);
  }
};

class UnknownCodec final : public Codec {
 public:
  explicit UnknownCodec(std::string encoding) : encoding_(std::move(encoding)) {}
  Result<Document> parse(std::string_view /*body*/) const override {
    return fail(Code::unsupported,
                "the container's bodies are encoded as '" + encoding_ +
                    "', which no face of this program reads: use one that has it");
  }
  bool append(std::string& out, const Value& value, size_t most) const override {
    return value.append_json(out, most);  // nothing was read that it could be of
  }

 private:
  const std::string encoding_;
};

}  // namespace

const std::shared_ptr<const Codec>& json_codec() {
  static const std::shared_ptr<const Codec> codec = std::make_shared<JsonCodec>();
  return codec;
}

std::shared_ptr<const Codec> unknown_codec(std::string encoding) {
  return std::make_shared<UnknownCodec>(std::move(encoding));
}

}  // namespace orrery::value
