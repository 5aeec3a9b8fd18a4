// What an NnModule asks of the layer that holds it; needs no shapes and no target.
#pragma once

#include <nexuml/export.h>
#include <nexuml/nn_module.h>

#include <cstddef>
#include <optional>
#include <string>

namespace nexuml {

// The message of E808, where the keys of the layer do not fit.
NEXUML_EXPORT std::optional<std::string> keys_problem(const NnModule& module, std::size_t inputs,
                                                      std::size_t outputs, bool has_label);
inline constexpr const char* keys_problem_hint = "register a layer definition for anything else";

}  // namespace nexuml
