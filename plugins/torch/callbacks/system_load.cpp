#include "callbacks/system_load.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace nexuml_torch {

namespace {

std::string text_of(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

std::optional<CpuTimes> cpu_times_in(std::string_view stat) {
  // cpu user nice system idle iowait irq softirq steal guest guest_nice; guests are within user and nice.
  std::istringstream words{std::string(stat.substr(0, stat.find('\n')))};
  std::string name;
  words >> name;
  if (name != "cpu") return std::nullopt;
  constexpr int idle = 3, iowait = 4, first_guest = 8;
  CpuTimes times;
  std::uint64_t ticks = 0;
  int field = 0;
  for (; field < first_guest && words >> ticks; ++field) {
    times.total += ticks;
    if (field != idle && field != iowait) times.busy += ticks;
  }
  return field > idle ? std::optional(times) : std::nullopt;
}

std::optional<MemoryUse> memory_use_in(std::string_view meminfo) {
  double total = 0, available = -1, swap_total = 0, swap_free = 0;
  std::istringstream lines{std::string(meminfo)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    double kib = 0;
    words >> name >> kib;
    if (name == "MemTotal:") total = kib;
    if (name == "MemAvailable:") available = kib;
    if (name == "SwapTotal:") swap_total = kib;
    if (name == "SwapFree:") swap_free = kib;
  }
  if (total <= 0 || available < 0) return std::nullopt;
  return MemoryUse{100 * (total - available) / total,
                   swap_total > 0 ? 100 * (swap_total - swap_free) / swap_total : 0};
}

std::optional<CpuTimes> cpu_times() {
  return cpu_times_in(text_of("/proc/stat"));
}
std::optional<MemoryUse> memory_use() {
  return memory_use_in(text_of("/proc/meminfo"));
}

std::optional<double> resident_memory() {
  std::istringstream words(text_of("/proc/self/statm"));
  double all = 0, resident = 0;
  if (!(words >> all >> resident)) return std::nullopt;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::optional<double> busy_percent(const CpuTimes& before, const CpuTimes& after) {
  if (after.total <= before.total || after.busy < before.busy) return std::nullopt;
  return 100.0 * static_cast<double>(after.busy - before.busy) /
         static_cast<double>(after.total - before.total);
}

}  // namespace nexuml_torch
