#include "window.h"

#include <nexuml/diagnostic.h>

namespace acme {

nexuml::Value window_to_value(const Window& window) {
  return nexuml::Value::map({{"length", window.length}, {"overlap", window.overlap}});
}

Window window_from_value(const nexuml::Value& value) {
  const nexuml::Value* length = value.find("length");
  const nexuml::Value* overlap = value.find("overlap");
  if (!length || !length->is_integer() || !overlap || !overlap->is_number())
    throw nexuml::Error("E741", "a window is {length: integer, overlap: number}, found " +
                                    nexuml::describe_for_message(value));
  return {length->as_integer(), overlap->as_number()};
}

}  // namespace acme
