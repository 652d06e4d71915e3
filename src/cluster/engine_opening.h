// A reservation among the open partitions, held while a partition is being opened. Only engine.cc
// and engine_opening.cc include this.
#pragma once

#include <utility>

#include "cluster/engine.h"

namespace orrery::cluster {

class Engine::Opening {
 public:
  explicit Opening(Engine* engine) : engine_(engine) {}
  Opening(Opening&& other) noexcept : engine_(std::exchange(other.engine_, nullptr)) {}
  Opening& operator=(Opening&&) = delete;
  ~Opening();

 private:
  Engine* engine_;
};

}  // namespace orrery::cluster
