// A live module instead of a target's name. expect: nn_module takes the name of a registered target
#include <nexuml/nn_module.h>

struct LiveModule {};
auto layer = nexuml::nn_module(LiveModule{}, 128, 64);
