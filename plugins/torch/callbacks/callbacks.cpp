#include "callbacks/callbacks.h"

#include "callbacks/device_stats_monitor.h"
#include "callbacks/early_stopping.h"
#include "callbacks/learning_rate_monitor.h"
#include "callbacks/model_checkpoint.h"
#include "callbacks/rich_progress_bar.h"

void register_callbacks(nexuml::Registration& registry) {
  const std::string callbacks = "lightning.pytorch.callbacks";
  const auto add = [&]<class T>(const std::string& module, const std::string& name) {
    registry.add_target<T>(callbacks + "." + module + ":" + name,
                           {{callbacks + ":" + name, "pytorch_lightning.callbacks:" + name,
                             "pytorch_lightning.callbacks." + module + ":" + name}});
  };
  add.operator()<nexuml_torch::EarlyStopping>("early_stopping", "EarlyStopping");
  add.operator()<nexuml_torch::ModelCheckpoint>("model_checkpoint", "ModelCheckpoint");
  add.operator()<nexuml_torch::LearningRateMonitor>("lr_monitor", "LearningRateMonitor");
  add.operator()<nexuml_torch::RichProgressBar>("progress.rich_progress", "RichProgressBar");
  add.operator()<nexuml_torch::DeviceStatsMonitor>("device_stats_monitor", "DeviceStatsMonitor");
}
