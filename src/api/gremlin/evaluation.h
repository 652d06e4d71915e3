// One traversal from its request to its last answer.
#pragma once

#include <memory>

#include "api/gremlin/answers.h"
#include "api/gremlin/auth/login.h"
#include "api/gremlin/handler_context.h"

namespace orrery::gremlin {

// On the loop's thread where that is quick, otherwise on one of the lanes; every outcome is
// answered.
void start_evaluation(const HandlerContext& context, std::unique_ptr<Answers> answers,
                      std::shared_ptr<const Login> login, Message message, GraphSon form);

}  // namespace orrery::gremlin
