// $out and $merge: parsed here, done by the caller.
#pragma once

#include "api/mongo/pipeline/stage.h"

namespace orrery::mongo {

Answer<Output> parse_output(std::string_view name, const Value& spec, StageParser& parser);

}  // namespace orrery::mongo
