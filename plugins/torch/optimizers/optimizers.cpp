#include "optimizers/optimizers.h"

#include "optimizers/adam.h"
#include "optimizers/sgd.h"

void register_optimizers(nexuml::Registration& registry) {
  const std::vector<std::string> injected{"params"};
  registry.add_target<nexuml_torch::Adam>("torch.optim.adam:Adam", {{"torch.optim:Adam"}, injected});
  registry.add_target<nexuml_torch::AdamW>("torch.optim.adamw:AdamW", {{"torch.optim:AdamW"}, injected});
  registry.add_target<nexuml_torch::SGD>("torch.optim.sgd:SGD", {{"torch.optim:SGD"}, injected});
  nexuml_torch::register_adaptive_optimizers(registry);
  nexuml_torch::register_adam_family(registry);
  nexuml_torch::register_lbfgs(registry);
}
