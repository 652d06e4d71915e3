// The codec of the documents that collections have: BSON, with filters as its conditions.
//
// Pure; any thread may call.
#pragma once

#include <memory>
#include <string>

#include "value/codec.h"
#include "value/value.h"

namespace orrery::mongo {

const std::shared_ptr<const value::Codec>& document_codec();

// A filter as a text that document_codec()'s condition() takes: its BSON in base64.
std::string condition_text(const value::Value& filter);

}  // namespace orrery::mongo
