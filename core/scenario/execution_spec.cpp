#include <fmt/format.h>
#include <nexuml/scenario.h>

#include <algorithm>

namespace nexuml {
namespace {

void check_workers(const RayExecutionSpec& spec, RuleProblems& problems) {
  if (const auto* count = std::get_if<std::int64_t>(&spec.workers)) {
    if (*count < 1) problems.add("workers", fmt::format("at least 1 worker expected, found {}", *count));
    return;
  }
  const auto& [min, max] = std::get<std::pair<std::int64_t, std::int64_t>>(spec.workers);
  if (min < 1 || max < min)
    problems.add("workers",
                 fmt::format("a range [min, max] with 1 <= min <= max expected, found [{}, {}]", min, max));
}

void check_resources(const RayExecutionSpec& spec, RuleProblems& problems) {
  if (spec.resources_per_worker.empty())
    problems.add("resources_per_worker", "at least one resource is needed").hint = "write {CPU: 1.0}";
  for (const auto& [name, amount] : spec.resources_per_worker) {
    if (std::ranges::all_of(name, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }))
      problems.add("resources_per_worker", "a resource needs a name, found blanks");
    if (!(amount > 0))
      problems.add("resources_per_worker",
                   fmt::format("the amount of '{}' must be greater than 0, found {}", name, amount));
  }
}

}  // namespace

void LocalExecutionSpec::describe(Schema<LocalExecutionSpec>& s) {
  s.summary("Runs in this process.");
  s.field("kind", &LocalExecutionSpec::kind).doc("Always local.").one_of({"local"}).required();
  s.discriminator("kind");
}

void RayClusterTarget::describe(Schema<RayClusterTarget>& s) {
  s.summary("A Ray cluster that exists already.");
  s.field("kind", &RayClusterTarget::kind).doc("Always cluster.").one_of({"cluster"});
  s.field("address", &RayClusterTarget::address).doc("Address of the cluster's head, or auto.");
  s.field("working_dir", &RayClusterTarget::working_dir).doc("Folder that is sent to the workers.");
  s.field("py_executable", &RayClusterTarget::py_executable).doc("Python of the workers.");
}

void RayExecutionSpec::describe(Schema<RayExecutionSpec>& s) {
  s.summary("Runs on a Ray cluster.");
  s.field("kind", &RayExecutionSpec::kind).doc("Always ray.").one_of({"ray"}).required();
  s.field("target", &RayExecutionSpec::target).doc("The cluster.");
  s.field("workers", &RayExecutionSpec::workers).doc("How many workers, or a range [min, max].");
  s.field("resources_per_worker", &RayExecutionSpec::resources_per_worker)
      .doc("Resource name -> amount that each worker takes.");
  s.field("storage_path", &RayExecutionSpec::storage_path).doc("Where the workers write.");
  s.discriminator("kind");
  s.check(check_workers);
  s.check(check_resources);
}

}  // namespace nexuml
