// Counts by thread: each thread has an object of this library, which is destroyed when the thread ends.
#include "../one_layer.h"

namespace {

struct Count {
  std::string text = "run ";
  int calls = 0;
  ~Count() { text += "over"; }
};
thread_local Count count;

nexuml::ScenarioSpec counted(const nexuml::NoParameters&, const nexuml::ScenarioContext&) {
  nexuml::ScenarioSpec scenario;
  scenario.name = count.text + std::to_string(++count.calls);
  return scenario;
}

}  // namespace

NEXUML_LIBRARY(registry) {
  registry.add_scenario<nexuml::NoParameters>("counted", counted);
}
