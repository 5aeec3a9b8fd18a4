// How busy the processors and the memory of this machine are, as Linux tells it below /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nexuml_torch {

// Ticks of all processors since the machine started.
struct CpuTimes {
  std::uint64_t busy = 0, total = 0;
};
struct MemoryUse {
  double used_percent = 0;  // of what is not available to new programs
  double swap_percent = 0;  // 0 where there is no swap
};

// From the text of /proc/stat and /proc/meminfo; null where it says nothing of it.
std::optional<CpuTimes> cpu_times_in(std::string_view stat);
std::optional<MemoryUse> memory_use_in(std::string_view meminfo);

std::optional<CpuTimes> cpu_times();
std::optional<MemoryUse> memory_use();
std::optional<double> resident_memory();  // bytes of this process

// Null where no tick lies between the two.
std::optional<double> busy_percent(const CpuTimes& before, const CpuTimes& after);

}  // namespace nexuml_torch
