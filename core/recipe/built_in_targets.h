// The targets that no library registers: they belong to recipes themselves.
#pragma once

#include <nexuml/schema_node.h>

#include <memory>
#include <string_view>

namespace nexuml {

// A compiled pipeline, rebuilt from its one argument `scenario`. A module.
inline constexpr std::string_view kPipelineTarget = "nexuml.pipeline:CompiledPipeline";

// Inside a recipe: the very module that the recipe at `path` builds, a key path from the outermost recipe
// such as `members[0]`. It stands where one module is the child of several.
inline constexpr std::string_view kSharedTarget = "nexuml.recipe:Shared";

// Null for any other spelling.
std::shared_ptr<const TargetNode> built_in_target(std::string_view spelling);

}  // namespace nexuml
