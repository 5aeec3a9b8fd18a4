// A callable among the arguments. expect: nn_module takes JSON-safe values
#include <nexuml/nn_module.h>

auto layer = nexuml::nn_module("torch.nn:Linear", [](double x) { return x; });
