#include "host/command_line.h"

#include <fmt/format.h>
#include <nexuml/diagnostic.h>

#include <CLI/CLI.hpp>
#include <list>

#include "host/version.h"

namespace nexuml {
namespace {

// Options that write into the invocation when parsing is done. Strings live in lists: CLI11 keeps their
// addresses.
class Declarations {
 public:
  explicit Declarations(Invocation& invocation) : invocation_(invocation) {}

  CLI::App* command(CLI::App& parent, const std::string& name, const std::string& help,
                    std::string path = {}) {
    CLI::App* app = parent.add_subcommand(name, help);
    app->fallthrough();
    if (path.empty()) path = name;
    app->final_callback([this, path] { invocation_.command = path; });
    return app;
  }
  // A group such as `registry`, which needs one of its commands.
  CLI::App* group(CLI::App& parent, const std::string& name, const std::string& help) {
    CLI::App* app = parent.add_subcommand(name, help);
    app->fallthrough();
    app->require_subcommand(1);
    return app;
  }
  CLI::Option* text(CLI::App* app, const std::string& names, const char* key, const std::string& help) {
    auto& target = texts_.emplace_back(key, std::string()).second;
    return app->add_option(names, target, help);
  }
  CLI::Option* texts(CLI::App* app, const std::string& names, const char* key, const std::string& help) {
    auto& target = lists_.emplace_back(key, std::vector<std::string>()).second;
    return app->add_option(names, target, help)->allow_extra_args(!names.starts_with('-'));
  }
  CLI::Option* integer(CLI::App* app, const std::string& names, const char* key, const std::string& help) {
    auto& target = integers_.emplace_back(key, std::nullopt).second;
    return app->add_option_function<std::int64_t>(
        names, [&target](std::int64_t value) { target = value; }, help);
  }
  CLI::Option* flag(CLI::App* app, const std::string& names, const char* key, const std::string& help) {
    auto& target = flags_.emplace_back(key, false).second;
    return app->add_flag(names, target, help);
  }
  void store() const {
    for (const auto& [key, value] : texts_)
      if (!value.empty()) invocation_.options.set(key, value);
    for (const auto& [key, value] : lists_)
      if (!value.empty()) invocation_.options.set(key, Value(value));
    for (const auto& [key, value] : integers_)
      if (value) invocation_.options.set(key, *value);
    for (const auto& [key, value] : flags_)
      if (value) invocation_.options.set(key, true);
  }

 private:
  Invocation& invocation_;
  std::list<std::pair<const char*, std::string>> texts_;
  std::list<std::pair<const char*, std::vector<std::string>>> lists_;
  std::list<std::pair<const char*, std::optional<std::int64_t>>> integers_;
  std::list<std::pair<const char*, bool>> flags_;
};

void declare_common(CLI::App& app, Invocation& invocation, Declarations& declare) {
  app.add_option("--root", invocation.search.roots, "A folder with component folders (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--prefix", invocation.search.prefixes,
                 "An installation whose entry points are searched (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--use", invocation.search.use, "id=version: the version of a library to use (repeatable)")
      ->allow_extra_args(false);
  app.add_flag("--builtin-only", invocation.search.builtin_only, "Only the libraries shipped with this host");
  app.add_flag("--json", invocation.json, "One JSON document on stdout");
  declare.texts(&app, "-O,--override", "overrides",
                "key.path=value: set a field of the scenario (repeatable)");
  declare.texts(&app, "-P,--parameter", "parameters",
                "name=value: a parameter of a scenario function (repeatable)");
  declare.integer(&app, "--threads", "threads", "Threads inside an operator")->check(CLI::Range(1, 4096));
  declare.integer(&app, "--seed", "seed", "Seed of every random stream (0 when not given)")
      ->check(CLI::NonNegativeNumber);
  declare.text(&app, "--log-level", "log_level", "What is logged to stderr")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}));
}

void declare_scenarios(CLI::App* app, Declarations& declare) {
  declare.texts(app, "scenario", "scenarios", "Name of a scenario, or a YAML file")->required();
}

void declare_host_commands(CLI::App& app, Declarations& declare) {
  CLI::App* resolve = declare.command(app, "resolve", "Write a scenario with every default");
  declare_scenarios(resolve, declare);
  declare.text(resolve, "-o,--output", "output", "File to write instead of stdout");

  CLI::App* registry = declare.group(app, "registry", "What the libraries provide");
  CLI::App* list =
      declare.command(*registry, "list", "List components, scenarios and targets", "registry list");
  declare.text(list, "kind", "kind", "layers, data, eval, loaders, scenarios or targets")
      ->check(CLI::IsMember({"layers", "data", "eval", "loaders", "scenarios", "targets"}));

  CLI::App* backend = declare.group(app, "backend", "What carries out loading, writing, tracking");
  CLI::App* backends = declare.command(*backend, "list", "List backends", "backend list");
  declare.text(backends, "category", "category", "One category of backends")
      ->check(CLI::IsMember(
          {"data-export", "data-loader", "training", "tracking", "eval-storage", "pipeline-export"}));

  CLI::App* library = declare.group(app, "library", "The roots that are searched for libraries");
  for (const char* verb : {"add", "delete"}) {
    const bool adds = verb[0] == 'a';
    CLI::App* change =
        declare.command(*library, verb, adds ? "Search a folder from now on" : "Search it no more",
                        std::string("library ") + verb);
    auto* path = declare.text(change, "path", "path", "The folder")->required();
    if (adds) path->check(CLI::ExistingDirectory);
  }
  declare.command(*library, "list", "Show the roots and the libraries in them", "library list");

  CLI::App* inspect =
      declare.command(app, "inspect", "Show a component, target, library or scenario; opens no library");
  declare.text(inspect, "subject", "subject", "Name, kind/name@version, kind, library id, or a YAML file");
  declare.flag(inspect, "--schema", "schema", "Print the JSON Schema of its parameters");

  CLI::App* doctor =
      declare.command(app, "doctor", "Check the host, its LibTorch, the roots and every library");
  declare.flag(doctor, "--no-probe", "no_probe",
               "Look at files only; open no library in a process of its own");
  declare.integer(doctor, "--timeout", "timeout", "Milliseconds that opening one library may take")
      ->check(CLI::Range(100, 600'000));

  CLI::App* validate = declare.command(
      app, "validate", "Try out everything that the component libraries at a place owe their users");
  declare.text(validate, "path", "path", "A component folder, a folder of them, a library or its manifest")
      ->required();
  declare.texts(validate, "--cases", "cases", "A golden case or a folder of them (repeatable)");
  declare.text(validate, "--junit", "junit", "Write the report as JUnit XML, too");
  declare.flag(validate, "--only-failed", "only_failed", "Print only what failed");
  declare.integer(validate, "--timeout", "timeout", "Milliseconds that one component may take (60000)")
      ->check(CLI::Range(100, 3'600'000));

  CLI::App* create = declare.group(app, "new", "Start a project of your own");
  CLI::App* library_project =
      declare.command(*create, "library", "Write a component library that builds untouched", "new library");
  declare.text(library_project, "name", "name", "Folder and name of the library")->required();
  declare.texts(library_project, "--layer", "layers", "Name of a layer in it (repeatable)");
  declare.texts(library_project, "--data", "data_sources", "Name of a data source (repeatable)");
  declare.texts(library_project, "--eval", "eval_algorithms", "Name of an evaluation algorithm (repeatable)");
  declare.texts(library_project, "--loader", "loader_backends", "Name of a loader backend (repeatable)");
  declare.texts(library_project, "--target", "targets", "Name of a module target (repeatable)");
}

void declare_recipe_commands(CLI::App& app, Declarations& declare) {
  CLI::App* recipe = declare.group(app, "recipe", "JSON files that say how to rebuild one object");
  CLI::App* check = declare.command(
      *recipe, "check", "Check recipes against what libraries declare; opens none", "recipe check");
  declare.texts(check, "file", "files", "A recipe, FILE.json")->required();
  CLI::App* build =
      declare.command(*recipe, "build", "Build what recipes describe; a model serves the optimizers after it",
                      "recipe build");
  declare.texts(build, "file", "files", "A recipe, FILE.json")->required();
}

void declare_checkpoint_commands(CLI::App& app, Declarations& declare) {
  CLI::App* checkpoint =
      declare.group(app, "checkpoint", "Look into checkpoints and weights; needs no library");
  const char* places =
      "A checkpoint, a run folder, or a weights file (.safetensors, .pt, .ckpt; file.pt#key)";
  CLI::App* show = declare.command(*checkpoint, "show", "Tell what a checkpoint holds", "checkpoint show");
  declare.text(show, "path", "path", places)->required();
  CLI::App* verify =
      declare.command(*checkpoint, "verify", "Read every byte and compare", "checkpoint verify");
  declare.text(verify, "path", "path", places)->required();
  CLI::App* diff = declare.command(*checkpoint, "diff", "Tell where two differ", "checkpoint diff");
  declare.text(diff, "left", "left", places)->required();
  declare.text(diff, "right", "right", "What it is compared with")->required();
}

void declare_engine_commands(CLI::App& app, Declarations& declare) {
  CLI::App* check =
      declare.command(app, "check", "Check a scenario's graph without allocating weights or opening data");
  declare_scenarios(check, declare);
  declare.flag(check, "--allow-missing-eval", "allow_missing_eval",
               "Leave out evaluation algorithms that are not there");

  CLI::App* build = declare.command(app, "build", "Build the pipelines of scenarios");
  declare_scenarios(build, declare);
  declare.text(build, "--save-weights", "save_weights", "Write the initial weights as FILE.safetensors");
  declare.text(build, "--diagram", "diagram", "Write a diagram of the graph");
  declare.text(build, "--timing", "timing", "Write what each layer cost to build");

  CLI::App* train =
      declare.command(app, "train", "Train a scenario, evaluate it, and leave a run folder behind");
  const auto* scenario = declare.texts(train, "scenario", "scenarios",
                                       "Name of a scenario, or a YAML file; --resume has its own");
  const auto* resume =
      declare.text(train, "--resume", "resume", "Continue a run: its folder, or one of its checkpoints");
  train->parse_complete_callback([scenario, resume] {
    if (scenario->count() + resume->count() == 0) throw CLI::RequiredError("scenario, or --resume,");
  });
  declare
      .integer(train, "--checkpoint-every-steps", "checkpoint_every_steps", "Save a checkpoint every N steps")
      ->check(CLI::PositiveNumber);
  declare
      .integer(train, "--checkpoint-every-epochs", "checkpoint_every_epochs",
               "Save a checkpoint every N epochs")
      ->check(CLI::PositiveNumber);
  declare.flag(train, "--async-checkpoints", "async_checkpoints", "Write these while training goes on");
  declare.integer(train, "--keep-checkpoints", "keep_checkpoints", "Of these keep the last N")
      ->check(CLI::PositiveNumber);
  declare.integer(train, "--keep-every", "keep_every", "Keep those of each N-th step, or epoch")
      ->check(CLI::PositiveNumber);
  declare.integer(train, "--keep-best", "keep_best", "Keep the N best by --best-metric")
      ->check(CLI::PositiveNumber);
  declare.text(train, "--best-metric", "best_metric", "The metric of --keep-best (val/loss)");
  declare.text(train, "--best-mode", "best_mode", "Whether its smallest or largest value is best (min)")
      ->check(CLI::IsMember({"min", "max"}));
  declare.text(train, "--run-dir", "run_dir", "The run folder (runs/<scenario>/<UTC time> when not given)");
  declare.integer(train, "--max-epochs", "max_epochs", "Overrides training.max_epochs")
      ->check(CLI::PositiveNumber);
  declare.flag(train, "--allow-missing-eval", "allow_missing_eval",
               "Leave out evaluation algorithms that are not there");

  CLI::App* evaluate = declare.command(app, "evaluate", "Evaluate what a run folder holds");
  declare.text(evaluate, "run_dir", "run_dir", "The run folder")->required();

  declare_checkpoint_commands(app, declare);

  CLI::App* try_case = declare.command(app, "try", "Run one component on the tensors of a case and compare");
  declare.texts(try_case, "case", "cases", "CASE.json, CASE.safetensors or a folder of cases")->required();
}

// The word that stands where a command is expected, with the near one.
std::optional<std::string> unknown_command(const CLI::App& app) {
  const CLI::App* innermost = &app;
  while (!innermost->get_subcommands().empty()) innermost = innermost->get_subcommands().back();
  std::vector<std::string> rest = innermost->remaining();
  if (rest.empty()) rest = app.remaining();  // what a group does not know falls through to the whole
  if (innermost->get_require_subcommand_min() == 0 || rest.empty() || rest.front().starts_with('-'))
    return std::nullopt;
  std::vector<std::string> names;
  for (const CLI::App* command : innermost->get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_group() != "") names.push_back(command->get_name());
  std::string hint = did_you_mean(rest.front(), names);
  if (hint.empty()) hint = fmt::format("there are: {}", fmt::join(names, ", "));
  return fmt::format("there is no command '{}'; {}", rest.front(), hint);
}

}  // namespace

std::string Invocation::text(std::string_view option) const {
  const Value* value = options.find(option);
  return value ? value->as_string() : std::string();
}

std::vector<std::string> Invocation::texts(std::string_view option) const {
  std::vector<std::string> result;
  if (const Value* value = options.find(option))
    for (const Value& item : value->items()) result.push_back(item.as_string());
  return result;
}

bool Invocation::flag(std::string_view option) const {
  return options.find(option) != nullptr;
}

std::optional<Invocation> parse_command_line(int argc, char** argv, int& exit_code) {
  Invocation invocation;
  Declarations declare(invocation);
  CLI::App app("Modular deep-learning pipelines on LibTorch", "nexuml-run");
  app.set_version_flag("--version", host_version);
  app.require_subcommand(1);
  app.footer(
      "Exit: 0 done; 1 handled failure; 2 bad command line; 3 doctor, validate, try and checkpoint verify "
      "found problems.");
  declare_common(app, invocation, declare);
  declare_engine_commands(app, declare);
  declare_host_commands(app, declare);
  declare_recipe_commands(app, declare);
  // The step of the build that writes manifests; not for people.
  CLI::App* manifest = declare.command(app, "__manifest", "")->group("");
  declare.text(manifest, "library", "library", "")->required();
  declare.text(manifest, "output", "output", "")->required();
  declare.texts(manifest, "--requires", "requires", "");
  declare.flag(manifest, "--in-process", "in_process", "");
  declare.command(app, "__probe", "")->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (const auto message = unknown_command(app)) {
      fmt::print(stderr, "{}\n", *message);
      exit_code = 2;
      return std::nullopt;
    }
    exit_code = app.exit(problem) == 0 ? 0 : 2;
    return std::nullopt;
  }
  declare.store();
  if (invocation.json) invocation.options.set("json", true);
  return invocation;
}

}  // namespace nexuml
