// Messages between a prober and its worker: a length of four bytes, little-endian, and as much JSON.
#pragma once

#include <nexuml/value.h>

#include <chrono>
#include <optional>

namespace nexuml {

inline constexpr std::int64_t probe_protocol_version = 1;
inline constexpr std::size_t max_probe_message = 16u << 20;

bool send_message(int descriptor, const Value& message);

// Nothing at the end of the stream, for a message that is no message, and when `until` has passed.
std::optional<Value> receive_message(int descriptor, std::chrono::steady_clock::time_point until);

}  // namespace nexuml
