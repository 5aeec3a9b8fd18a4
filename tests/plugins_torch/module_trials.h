// Random calls of module targets that Python's torch accepts, seeded.
#pragma once

#include <nexuml/shape.h>
#include <nexuml/value.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace torch_tests {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool coin() { return between(0, 1) == 1; }
  template <class T>
  T pick(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }
  // One number for all dimensions, or one for each.
  nexuml::Value size(std::size_t dimensions, std::int64_t low, std::int64_t high) {
    if (coin()) return between(low, high);
    nexuml::Value sizes = nexuml::Value::list();
    for (std::size_t i = 0; i < dimensions; ++i) sizes.push_back(between(low, high));
    return sizes;
  }
  nexuml::Shape shape(std::int64_t channels, std::size_t spatial, std::int64_t low, std::int64_t high) {
    nexuml::Shape shape{channels};
    for (std::size_t i = 0; i < spatial; ++i) shape.push_back(between(low, high));
    return shape;
  }

 private:
  std::mt19937_64 engine_;
};

struct Trial {
  nexuml::Value args, kwargs;
  nexuml::Shape shape;  // of one sample
  nexuml::DType dtype = nexuml::DType::float32;
};

struct Target {
  std::string name;           // torch.nn:Conv2d
  std::string python_module;  // torch.nn.modules.conv
  std::function<Trial(Random&)> trial;
  std::vector<std::string>
      state;  // the names of Python's state dict, with the arguments that `state_args` hold
  nexuml::Value state_args = nexuml::Value::list();
};

std::vector<Target> all_targets();

}  // namespace torch_tests
