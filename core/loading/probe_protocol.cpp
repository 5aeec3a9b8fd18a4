#include "loading/probe_protocol.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace nexuml {
namespace {

using Clock = std::chrono::steady_clock;

bool write_all(int descriptor, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(descriptor, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return true;
}

bool read_all(int descriptor, char* bytes, std::size_t count, Clock::time_point until) {
  while (count > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd ready{descriptor, POLLIN, 0};
    const int polled = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (polled < 0 && errno == EINTR) continue;
    if (polled <= 0) return false;
    const ssize_t got = ::read(descriptor, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

bool send_message(int descriptor, const Value& message) {
  const std::string text = write_json(message, {.indent = -1});
  const std::uint32_t size = static_cast<std::uint32_t>(text.size());
  const char head[4] = {static_cast<char>(size), static_cast<char>(size >> 8), static_cast<char>(size >> 16),
                        static_cast<char>(size >> 24)};
  return write_all(descriptor, head, sizeof head) && write_all(descriptor, text.data(), text.size());
}

std::optional<Value> receive_message(int descriptor, Clock::time_point until) {
  unsigned char head[4];
  if (!read_all(descriptor, reinterpret_cast<char*>(head), sizeof head, until)) return std::nullopt;
  const std::size_t size = head[0] | head[1] << 8 | head[2] << 16 | static_cast<std::size_t>(head[3]) << 24;
  if (size > max_probe_message) return std::nullopt;
  std::string text(size, '\0');
  if (!read_all(descriptor, text.data(), size, until)) return std::nullopt;
  Diagnostics problems;
  Value message = parse_json(text, "probe", problems);
  if (problems.has_errors() || !message.is_map()) return std::nullopt;
  return message;
}

}  // namespace nexuml
