// One traversal from its request to its last answer.
#pragma once

#include <memory>

#include "api/gremlin/connection.h"

namespace orrery::gremlin {

// On a thread of the lanes; every outcome is answered.
void start_evaluation(const HandlerContext& context, std::shared_ptr<Outbox> outbox,
                      std::shared_ptr<const Login> login, Message message, GraphSon form);

}  // namespace orrery::gremlin
