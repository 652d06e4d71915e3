// The flags of a server that is one node of several: --node and what goes with it.
#pragma once

#include <string>

#include "base/result.h"

namespace orrery::cli {

struct NodeOptions {
  std::string name;     // empty: a server alone
  std::string address;  // HOST:PORT, where other nodes reach this one
  std::string ca;
  std::string certificate;
  std::string private_key;

  bool is_node() const { return !name.empty(); }
};

// Code::invalid, with what to do, when they do not go together or with the volume (--volume).
Status check_node_options(const NodeOptions& options, const std::string& volume);

}  // namespace orrery::cli
