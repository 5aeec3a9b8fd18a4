// What OneCycleLR asks of an optimizer: a momentum, or a first beta, that changes while it trains.
#pragma once

#include <cstddef>

namespace nexuml_torch {

class HasMomentum {
 public:
  virtual ~HasMomentum() = default;
  virtual void set_momentum(std::size_t group, double momentum) = 0;
};

}  // namespace nexuml_torch
