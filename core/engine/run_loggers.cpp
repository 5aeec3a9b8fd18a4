#include "engine/run_loggers.h"

#include <fmt/format.h>
#include <nexuml/compile.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "tensor_io/hashing_writer.h"
#include "track/text_files.h"

namespace nexuml {

namespace {

namespace fs = std::filesystem;

// <name>_v0, _v1, ...: the next that is free.
fs::path next_version(const fs::path& folder, const std::string& name) {
  fs::path path;
  for (int version = 0; version == 0 || fs::exists(path); ++version)
    path = folder / fmt::format("{}_v{}", name, version);
  return path;
}

// Width and height stand in the header of a PNG file.
std::optional<std::pair<std::int64_t, std::int64_t>> png_size(const std::string& bytes) {
  constexpr std::size_t header = 24;
  if (bytes.size() < header || bytes.compare(1, 3, "PNG") != 0) return std::nullopt;
  const auto number = [&](std::size_t at) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  return std::pair(number(16), number(20));
}

std::vector<fs::path> plots_below(const fs::path& folder) {
  std::vector<fs::path> plots;
  std::error_code missing;
  for (const auto& entry : fs::recursive_directory_iterator(folder, missing))
    if (entry.path().extension() == ".png") plots.push_back(entry.path());
  std::sort(plots.begin(), plots.end());
  return plots;
}

}  // namespace

class RunLoggers::TensorBoardLog final : public Callback {
 public:
  explicit TensorBoardLog(const CompiledPipeline& pipeline) : pipeline_(pipeline) {}

  void open(const fs::path& folder, Diagnostics& advice) {
    advice_ = &advice;
    events_.emplace(folder);
  }
  EventFile* events() { return events_ ? &*events_ : nullptr; }

  // What cannot be written ends the logging, not the run.
  template <class Write>
  void write(const Write& write) {
    if (!events_) return;
    const std::string path = events_->path().string();
    try {
      write(*events_);
    } catch (const std::exception& error) {
      events_.reset();
      advice_->warning("W849", fmt::format("logging to TensorBoard ended early: {}", error.what()),
                       Where::in_file(path));
    }
  }

  void epoch_end(TrainingView& view) override {
    write([&](EventFile& events) {
      for (const auto& [name, value] : view.metrics()) events.scalar(name, value, view.global_step());
      events.scalar("epoch", static_cast<double>(view.epoch()), view.global_step());
      for (const auto& item : pipeline_.named_parameters()) {
        const at::Tensor values = item.value().detach().to(at::kCPU, at::kFloat).contiguous();
        events.histogram("weights/" + item.key(),
                         {values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                         view.global_step());
      }
    });
  }

 private:
  const CompiledPipeline& pipeline_;
  Diagnostics* advice_ = nullptr;
  std::optional<EventFile> events_;
};

RunLoggers::RunLoggers(const ScenarioInput& input, fs::path run_folder, const CompiledPipeline& pipeline)
    : input_(input), run_folder_(std::move(run_folder)), pipeline_(pipeline) {
  if (input_.spec.logging && input_.spec.logging->tensorboard)
    log_ = std::make_shared<TensorBoardLog>(pipeline_);
}

std::shared_ptr<Callback> RunLoggers::callback() const {
  return log_;
}

fs::path RunLoggers::base() const {
  const char* root = std::getenv("NEXUML_LOGS_ROOT");
  return root && *root ? fs::absolute(root) : run_folder_;
}

fs::path RunLoggers::event_folder() const {
  const LoggingSpec& logging = *input_.spec.logging;
  return next_version(base() / logging.tensorboard->log_dir / folder_name(logging.experiment_name),
                      folder_name(logging.run_name.value_or(input_.spec.name)));
}

void RunLoggers::draw(Diagnostics& advice) const {
  const auto& logging = input_.spec.logging;
  if (!logging || !logging->diagram || !logging->diagram->enabled) return;
  const fs::path folder = base() / logging->diagram->output_dir;
  try {
    fs::create_directories(folder);
    tensor_io::write_text_file((folder / (folder_name(input_.spec.name) + ".md")).string(),
                               mermaid_diagram(pipeline_, input_.spec));
  } catch (const std::exception& error) {
    advice.warning("W849", fmt::format("the drawing of the pipeline was not written: {}", error.what()),
                   Where::in_file(folder.string()));
  }
}

void RunLoggers::begin(Diagnostics& advice) {
  draw(advice);
  if (!log_) return;
  const fs::path folder = event_folder();
  try {
    log_->open(folder, advice);
    const fs::path artifacts = folder / "artifacts";
    fs::create_directories(artifacts);
    tensor_io::write_text_file(artifacts / "config.yaml", write_yaml(input_.document));
    Diagnostics ignored;
    const std::string origin = file_text(run_folder_ / "provenance.json").value_or("{}");
    tensor_io::write_text_file(artifacts / "runtime_metadata.yaml",
                               write_yaml(parse_json(origin, "provenance.json", ignored)));
  } catch (const std::exception& error) {
    advice.warning("W849", fmt::format("nothing is logged to TensorBoard: {}", error.what()),
                   Where::in_file(folder.string()));
  }
}

std::string RunLoggers::how_to_look() const {
  if (!log_ || !log_->events()) return {};
  return fmt::format("TensorBoard: tensorboard --logdir '{}'\n",
                     log_->events()->path().parent_path().parent_path().string());
}

// Where the events lie in the run folder, all of it lies there already.
void RunLoggers::copy_results(const fs::path& artifacts) const {
  if (base() == run_folder_) return;
  constexpr auto replacing = fs::copy_options::overwrite_existing | fs::copy_options::recursive;
  for (const char* name :
       {"summary.json", "metrics.csv", "steps.csv", "report.json", "report.html", "evaluation"})
    if (fs::exists(run_folder_ / name)) fs::copy(run_folder_ / name, artifacts / name, replacing);
}

void RunLoggers::step_recorded(std::int64_t step, const OrderedMap<double>& values) {
  if (log_)
    log_->write([&](EventFile& events) {
      for (const auto& [name, value] : values) events.scalar(name, value, step);
    });
}

void RunLoggers::finish(const Value& summary, std::int64_t step) {
  if (!log_) return;
  log_->write([&](EventFile& events) {
    for (const auto& entry : summary.entries())
      if ((entry.key.starts_with("test/") || entry.key.starts_with("eval/")) && entry.value.is_number())
        events.scalar(entry.key, entry.value.as_number(), step);
    const fs::path evaluation = run_folder_ / "evaluation";
    for (const fs::path& plot : plots_below(evaluation)) {
      const std::string bytes = file_text(plot).value_or("");
      if (const auto size = png_size(bytes))
        events.image(fs::relative(plot, evaluation).replace_extension().generic_string(), bytes, size->first,
                     size->second, step);
    }
    events.text("scenario", "```yaml\n" + file_text(run_folder_ / "scenario.yaml").value_or("") + "```\n",
                step);
    copy_results(events.path().parent_path() / "artifacts");
  });
}

}  // namespace nexuml
