// The torch library: NnModule, and the modules, optimizers and schedulers of torch under their Python names.
#include <nexuml/nn_module.h>
#include <nexuml/registration.h>

#include "callbacks/callbacks.h"
#include "losses/losses.h"
#include "optimizers/optimizers.h"
#include "schedulers/schedulers.h"
#include "targets/targets.h"

NEXUML_LIBRARY(registry) {
  using namespace nexuml::torch_targets;
  registry.add<nexuml::NnModule>("NnModule");
  register_linear_targets(registry);
  register_convolution_targets(registry);
  register_normalization_targets(registry);
  register_activation_targets(registry);
  register_pooling_targets(registry);
  register_dropout_targets(registry);
  register_padding_targets(registry);
  register_resampling_targets(registry);
  register_sequential_target(registry);
  register_optimizers(registry);
  register_epoch_schedulers(registry);
  register_cycle_schedulers(registry);
  register_plateau_scheduler(registry);
  register_composed_schedulers(registry);
  register_callbacks(registry);
  register_losses(registry);
  register_weight_schedules(registry);
}
