// What an operator can set of the MongoDB face.
#pragma once

#include <array>

#include "api/mongo/handler_context.h"
#include "face/settings.h"

namespace orrery::mongo {

inline constexpr std::array kPorts = {face::Port{
    "mongo", 27017, "Port of MongoDB's protocol, with and without TLS; 0: any free one"}};
inline constexpr std::array kOptions = {
    face::Option{"mongo-replica-set", "NAME",
                 "The replica set that MongoDB's clients find here, for connection strings that "
                 "name one (globaldb); without it they find a mongos"}};

inline ServiceOptions service_options(const face::OptionValues& values) {
  return {.replica_set = values.text("mongo-replica-set")};
}

}  // namespace orrery::mongo
