// The time in recipes: ISO 8601, UTC, as Python's datetime.isoformat writes it.
#pragma once

#include <string>
#include <string_view>

namespace nexuml::detail {

// `2026-07-27T18:04:11.921043+00:00`; the fraction may be absent, as Python leaves out one of zero.
bool is_recipe_timestamp(std::string_view text) noexcept;

}  // namespace nexuml::detail
