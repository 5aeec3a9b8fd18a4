// Window: a plain value type of this library, and how it stands in recipes.
#pragma once

#include <nexuml/value.h>

#include <cstdint>

namespace acme {

struct Window {
  std::int64_t length = 64;
  double overlap = 0.5;
};

nexuml::Value window_to_value(const Window& window);
Window window_from_value(const nexuml::Value& value);  // throws nexuml::Error for what is no window

}  // namespace acme
