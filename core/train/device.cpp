#include "train/device.h"

#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <torch/cuda.h>

#include <charconv>
#include <set>

namespace nexuml {

namespace {

Where training_key(const char* name) {
  Where where;
  where.key_path = std::string("training.") + name;
  return where;
}

// The number of devices asked for; nothing for "auto".
std::optional<std::int64_t> asked_devices(const TrainingSpec& spec) {
  if (const auto* number = std::get_if<std::int64_t>(&spec.devices)) return *number;
  const std::string& text = std::get<std::string>(spec.devices);
  if (text == "auto") return std::nullopt;
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size())
    throw Error("E843", fmt::format("devices should be a number or 'auto', found '{}'", text),
                training_key("devices"));
  return number;
}

std::string precision_text(const TrainingSpec& spec) {
  if (const auto* number = std::get_if<std::int64_t>(&spec.precision)) return std::to_string(*number);
  return std::get<std::string>(spec.precision);
}

}  // namespace

at::Device choose_device(const TrainingSpec& spec) {
  static const std::set<std::string> known{"auto", "cpu", "gpu", "cuda"};
  if (!known.contains(spec.accelerator))
    throw Error("E843",
                fmt::format("the accelerator '{}' is not offered; offered are auto, cpu, gpu and cuda",
                            spec.accelerator),
                training_key("accelerator"), did_you_mean(spec.accelerator, {known.begin(), known.end()}));
  const auto devices = asked_devices(spec);
  const bool wants_gpu = spec.accelerator == "gpu" || spec.accelerator == "cuda";
  const bool has_gpu = torch::cuda::is_available();
  if (wants_gpu && !has_gpu)
    throw Error("E843",
                fmt::format("the accelerator '{}' was asked for, and this LibTorch sees no CUDA device",
                            spec.accelerator),
                training_key("accelerator"),
                "use a LibTorch with CUDA and a driver that matches it, or set training.accelerator to cpu");
  const bool use_gpu = wants_gpu || (spec.accelerator == "auto" && has_gpu);
  const std::int64_t all = use_gpu ? static_cast<std::int64_t>(torch::cuda::device_count()) : 1;
  const std::int64_t count = devices.value_or(1) == -1 ? all : devices.value_or(1);
  if (count != 1)
    throw Error("E843", fmt::format("{} devices were asked for; training runs on exactly one", count),
                training_key("devices"), "set training.devices to 1 or auto");
  return use_gpu ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
}

Precision choose_precision(const TrainingSpec& spec) {
  const std::string text = precision_text(spec);
  if (text == "32-true" || text == "32") return Precision::float32;
  if (text == "bf16-mixed" || text == "bf16") return Precision::bfloat16_mixed;
  throw Error("E844",
              fmt::format("the precision '{}' is not offered; offered are 32-true and bf16-mixed", text),
              training_key("precision"));
}

PrecisionGuard::PrecisionGuard(Precision precision, const at::Device& device)
    : active_(precision == Precision::bfloat16_mixed), type_(device.type()) {
  if (!active_) return;
  enabled_before_ = at::autocast::is_autocast_enabled(type_);
  dtype_before_ = at::autocast::get_autocast_dtype(type_);
  at::autocast::set_autocast_dtype(type_, at::kBFloat16);
  at::autocast::set_autocast_enabled(type_, true);
  at::autocast::increment_nesting();
}

PrecisionGuard::~PrecisionGuard() {
  if (!active_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(type_, enabled_before_);
  at::autocast::set_autocast_dtype(type_, dtype_before_);
}

}  // namespace nexuml
