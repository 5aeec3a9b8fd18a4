#include "callbacks/device_stats_monitor.h"

#include <sys/resource.h>

#include <chrono>

#if __has_include(<c10/core/CachingDeviceAllocator.h>)
#include <c10/core/CachingDeviceAllocator.h>
#endif

#include "callbacks/system_load.h"

namespace nexuml_torch {

namespace {

using Clock = std::chrono::steady_clock;

// The kernel counts time in hundredths of a second: what is measured more often says nothing.
constexpr std::chrono::milliseconds between_samples{100};

// Peak memory of the process in MiB.
double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

// What the allocator of an accelerator says of itself, by the names of torch.cuda.memory_stats.
nexuml::OrderedMap<double> accelerator_memory(const at::Device& device) {
  nexuml::OrderedMap<double> numbers;
#if __has_include(<c10/core/CachingDeviceAllocator.h>)
  auto* allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(device.type()));
  if (!allocator || !allocator->initialized()) return numbers;
  const auto stats = allocator->getDeviceStats(device.has_index() ? device.index() : c10::DeviceIndex{0});
  const auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const auto note = [&](const std::string& name, const c10::CachingAllocator::Stat& stat) {
    numbers[name + ".all.current"] = static_cast<double>(stat.current);
    numbers[name + ".all.peak"] = static_cast<double>(stat.peak);
  };
  note("allocated_bytes", stats.allocated_bytes[all]);
  note("reserved_bytes", stats.reserved_bytes[all]);
  note("active_bytes", stats.active_bytes[all]);
  numbers["num_alloc_retries"] = static_cast<double>(stats.num_alloc_retries);
  numbers["num_ooms"] = static_cast<double>(stats.num_ooms);
#else
  (void)device;
#endif
  return numbers;
}

class DeviceStats final : public nexuml::Callback {
 public:
  explicit DeviceStats(std::optional<bool> cpu_stats) : cpu_stats_(cpu_stats) {}

  void train_epoch_start(nexuml::TrainingView&) override { times_ = cpu_times(); }
  void train_batch_end(nexuml::TrainingView& view) override {
    const Clock::time_point now = Clock::now();
    const bool epoch_ends = view.batch() == view.num_batches();
    if (now - sampled_ < between_samples && !epoch_ends) return;
    sampled_ = now;
    const auto write = [&](const std::string& name, double value) {
      view.record_step("DeviceStatsMonitor.on_train_batch_end/" + name, value);
    };
    const bool on_cpu = view.device().is_cpu();
    if (cpu_stats_.value_or(on_cpu)) write_cpu(write);
    if (!on_cpu)
      for (const auto& [name, value] : accelerator_memory(view.device())) write(name, value);
  }
  nexuml::OrderedMap<double> results() const override { return {{"peak_memory_mib", peak_memory()}}; }

 private:
  template <class Write>
  void write_cpu(const Write& write) {
    if (const auto times = cpu_times()) {
      if (const auto busy = times_ ? busy_percent(*times_, *times) : std::nullopt)
        write("cpu_percent", *busy);
      times_ = times;
    }
    if (const auto memory = memory_use()) {
      write("cpu_vm_percent", memory->used_percent);
      write("cpu_swap_percent", memory->swap_percent);
    }
    if (const auto resident = resident_memory()) write("process_memory_mib", *resident / (1 << 20));
  }

  const std::optional<bool> cpu_stats_;
  std::optional<CpuTimes> times_;  // at the last sample
  Clock::time_point sampled_{};
};

}  // namespace

void DeviceStatsMonitor::describe(nexuml::Schema<DeviceStatsMonitor>& s) {
  s.summary(
      "Writes down how busy the machine is, up to ten times a second and at the last batch of an epoch, to "
      "steps.csv and the loggers as DeviceStatsMonitor.on_train_batch_end/<number>; the peak memory of the "
      "process goes to the summary.");
  s.field("cpu_stats", &DeviceStatsMonitor::cpu_stats)
      .doc(
          "Processors and memory: cpu_percent, cpu_vm_percent, cpu_swap_percent, process_memory_mib. Null: "
          "where the run is on the CPU.");
}

std::shared_ptr<nexuml::Callback> DeviceStatsMonitor::build(const nexuml::CallbackBuildContext&) const {
  return std::make_shared<DeviceStats>(cpu_stats);
}

}  // namespace nexuml_torch
