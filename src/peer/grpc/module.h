// The door of the module that has gRPC in it: see peer/node.h.
//
// The module uses nothing of the program but headers, so that it has no second copy of the
// program's state (logs, metrics) and the program need not export its symbols.
#pragma once

#include <memory>

#include "base/result.h"
#include "peer/node.h"

namespace orrery::peer {

// Raised whenever something that crosses this door changes: a module of another build is refused.
inline constexpr int kModuleVersion = 2;

struct ModuleDoor {
  int version = 0;
  Result<std::unique_ptr<Node>> (*open)(const NodeOptions& options, Answerer& answerer,
                                        ForwardReceiver& receiver) = nullptr;
};

// The name of the function of the module that gives its door.
inline constexpr const char* kModuleDoorName = "orrery_peer_door";

}  // namespace orrery::peer
