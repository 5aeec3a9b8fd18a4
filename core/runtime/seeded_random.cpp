#include "runtime/seeded_random.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <openssl/evp.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nexuml {
namespace detail {

// Generators of one scope, one a device, all with the same seed.
class DeviceGenerators {
 public:
  explicit DeviceGenerators(std::uint64_t seed) : seed_(seed) {}

  const at::Generator& on(const c10::Device& device) {
    const bool cpu = device.is_cpu() || device.is_meta();
    const auto key =
        cpu ? std::pair(c10::DeviceType::CPU, c10::DeviceIndex(0)) : std::pair(device.type(), device.index());
    const auto [place, added] = generators_.try_emplace(key);
    if (added && cpu) {
      place->second = at::make_generator<at::CPUGeneratorImpl>(seed_);
    } else if (added) {
      const auto& hooks = at::globalContext().getAcceleratorHooksInterface(device.type());
      place->second = hooks.getNewGenerator(device.index());
      place->second.set_current_seed(seed_);
    }
    return place->second;
  }

 private:
  std::uint64_t seed_;
  std::map<std::pair<c10::DeviceType, c10::DeviceIndex>, at::Generator> generators_;
};

// Keeps the default generator to itself and puts it back.
class SerialSeed {
 public:
  explicit SerialSeed(std::uint64_t seed) : lock_(one_at_a_time()), before_(default_random_state()) {
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard lock(generator.mutex());
    generator.set_current_seed(seed);
  }
  ~SerialSeed() { set_default_random_state(before_); }

 private:
  static std::recursive_mutex& one_at_a_time() {
    static std::recursive_mutex mutex;
    return mutex;
  }
  std::unique_lock<std::recursive_mutex> lock_;
  at::Tensor before_;
};

}  // namespace detail

namespace {

constexpr auto hook_key = c10::DispatchKey::DeferredInit;

thread_local detail::DeviceGenerators* active_generators = nullptr;

bool mentions(const c10::Argument& argument, const char* type) {
  return argument.type()->str().find(type) != std::string::npos;
}

struct RandomOperator {
  std::size_t generator_index = 0;
  std::size_t arguments = 0;
};

// Filled once by install_hook, read by every draw.
std::unordered_map<c10::OperatorName, RandomOperator>& hooked_operators() {
  static auto& operators = *new std::unordered_map<c10::OperatorName, RandomOperator>;
  return operators;
}

std::optional<RandomOperator> random_operator(const c10::FunctionSchema& schema) {
  std::optional<RandomOperator> found;
  bool takes_tensor = false;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    if (mentions(schema.arguments()[i], "Generator")) found = RandomOperator{i, schema.arguments().size()};
    takes_tensor |= mentions(schema.arguments()[i], "Tensor");
  }
  // Factories such as rand() fill an empty tensor through an operator that takes one.
  return takes_tensor ? found : std::nullopt;
}

const at::Tensor* first_tensor(const torch::jit::Stack& stack, std::size_t begin) {
  for (std::size_t i = begin; i < stack.size(); ++i)
    if (stack[i].isTensor()) return &stack[i].toTensor();
  return nullptr;
}

void pass_generator(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  if (active_generators) {
    const RandomOperator& random = hooked_operators().at(op.operator_name());
    const std::size_t begin = stack->size() - random.arguments;
    c10::IValue& generator = (*stack)[begin + random.generator_index];
    const at::Tensor* tensor = first_tensor(*stack, begin);
    if (generator.isNone() && tensor) generator = active_generators->on(tensor->device());
  }
  op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, hook_key), stack);
}

// Registers the hook for every operator that draws. Never removed: an operator may run while a process ends.
void install_hook() {
  static auto& registrations = *new std::vector<c10::RegistrationHandleRAII>;
  auto& dispatcher = c10::Dispatcher::singleton();
  if (!dispatcher.hasBackendFallbackForDispatchKey(hook_key))
    registrations.push_back(
        dispatcher.registerFallback(hook_key, c10::KernelFunction::makeFallthrough(), "nexuml"));
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto handle = dispatcher.findSchema(name);
    const auto random = handle ? random_operator(handle->schema()) : std::nullopt;
    if (!random || handle->hasKernelForDispatchKey(hook_key)) continue;
    hooked_operators().emplace(name, *random);
    registrations.push_back(
        dispatcher.registerImpl(name, hook_key, c10::KernelFunction::makeFromBoxedFunction<&pass_generator>(),
                                std::nullopt, nullptr, "nexuml"));
  }
}

at::Tensor drawn_in_scope(std::uint64_t seed) {
  detail::DeviceGenerators generators(seed);
  active_generators = &generators;
  const c10::impl::IncludeDispatchKeyGuard include(hook_key);
  at::Tensor drawn = at::empty({64});
  drawn.narrow(0, 0, 32).uniform_();
  drawn.narrow(0, 32, 32).normal_();
  active_generators = nullptr;
  return drawn;
}

// The expected bits come from the generator that is passed by hand.
bool hook_works() {
  try {
    install_hook();
    const at::Tensor before = default_random_state();
    const at::Tensor drawn = drawn_in_scope(7);
    const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(7);
    at::Tensor expected = at::empty({64});
    expected.narrow(0, 0, 32).uniform_(0, 1, generator);
    expected.narrow(0, 32, 32).normal_(0, 1, generator);
    return at::equal(drawn, expected) && at::equal(drawn, drawn_in_scope(7)) &&
           at::equal(before, default_random_state());
  } catch (const std::exception&) {
    active_generators = nullptr;
    return false;
  }
}

std::atomic<bool> forced_serial{false};

}  // namespace

struct SeededRandom::Stream {
  explicit Stream(std::uint64_t seed) : generators(seed) {
    if (parallel()) {
      outer = std::exchange(active_generators, &generators);
      include.emplace(hook_key);
    } else {
      serial.emplace(seed);
    }
  }
  ~Stream() {
    if (include) active_generators = outer;
  }

  detail::DeviceGenerators generators;
  detail::DeviceGenerators* outer = nullptr;
  std::optional<c10::impl::IncludeDispatchKeyGuard> include;
  std::optional<detail::SerialSeed> serial;
};

SeededRandom::SeededRandom(std::uint64_t seed) : stream_(std::make_unique<Stream>(seed)) {}
SeededRandom::~SeededRandom() = default;

bool SeededRandom::parallel() {
  static const bool works = hook_works();
  return works && !forced_serial;
}

void SeededRandom::force_serial(bool serial) {
  forced_serial = serial;
}

at::Tensor default_random_state() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_default_random_state(const at::Tensor& state) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

std::uint64_t layer_seed(std::uint64_t seed, std::string_view stage, std::string_view layer) {
  std::string text = std::to_string(seed);
  text.append(1, '\0').append(stage).append(1, '\0').append(layer);
  // Fetched once: looking the algorithm up costs more than hashing a name.
  static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  unsigned char digest[EVP_MAX_MD_SIZE];
  if (EVP_Digest(text.data(), text.size(), digest, nullptr, sha256, nullptr) != 1)
    throw std::runtime_error("OpenSSL offers no SHA-256");
  std::uint64_t derived = 0;
  for (int i = 0; i < 8; ++i) derived = derived << 8 | digest[i];
  return derived;
}

}  // namespace nexuml
