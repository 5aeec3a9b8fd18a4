#include "runtime/layer_failure.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

namespace nexuml {

Diagnostics failure_of(const std::string& layer, const std::string& code, const std::string& when) {
  Diagnostics named;
  const auto unnamed = [&](const std::string& what) {
    named.error(code, fmt::format("the layer failed {}: {}", when, what), Where::in_layer(layer));
  };
  try {
    throw;
  } catch (const Error& error) {
    for (Diagnostic diagnostic : error.diagnostics()) {
      if (diagnostic.where.layer.empty()) diagnostic.where.layer = layer;
      named.add(std::move(diagnostic));
    }
  } catch (const c10::Error& error) {
    unnamed(error.what_without_backtrace());
  } catch (const std::exception& error) {
    unnamed(error.what());
  } catch (...) {
    unnamed("an exception that is not a std::exception");
  }
  return named;
}

void rethrow_as_failure_of(const std::string& layer, const std::string& code, const std::string& when) {
  throw Error(failure_of(layer, code, when));
}

}  // namespace nexuml
