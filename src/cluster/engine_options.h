// What an engine is opened with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/limits.h"
#include "partition/work.h"
#include "peer/link.h"
#include "value/codec.h"

namespace orrery::cluster {

enum class Throttling : uint8_t {
  enforce,  // over budget: Code::throttled
  report,   // over budget: served, and said so
};

struct EngineOptions {
  Limits limits;
  Throttling throttling = Throttling::enforce;
  bool sync_commits = true;
  const partition::Prices* prices = &partition::kOneForEach;  // what containers' work costs
  // The name of this node in a cluster, and how it calls the others; empty: a server alone.
  std::string node = {};
  peer::Link* link = nullptr;
  // Codecs of encodings other than JSON, by the names that containers use.
  std::map<std::string, std::shared_ptr<const value::Codec>, std::less<>> codecs = {};
};

}  // namespace orrery::cluster
