// What a model looks like from outside, and its recipe before anybody tried it.
#pragma once

#include <nexuml/recipe.h>
#include <nexuml/registry.h>
#include <torch/nn/module.h>

#include <map>
#include <string>

namespace nexuml {

// Parameters, buffers and children by name, with what they stand for: "[8, 4] torch.float32". A child that
// stands in several places is named after the first.
std::map<std::string, std::string> model_outline(const torch::nn::Module& module);

// What the model says of how it was built. Throws Error E747 where it says nothing.
Recipe claimed_recipe(const torch::nn::Module& model, const ComponentRegistry& registry,
                      const RecipeOptions& options = {});

}  // namespace nexuml
