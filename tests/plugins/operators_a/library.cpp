// Registers operators with LibTorch, under a namespace that `operators_b` takes for its own, too.
#include <torch/library.h>

#include "../one_layer.h"

#if !defined(OPERATORS_LAYER)
#define OPERATORS_LAYER "operators_a"
#endif

TORCH_LIBRARY(nexuml_ops, m) {
  m.def("twice(Tensor x) -> Tensor");
}

NEXUML_LIBRARY(registry) {
  registry.add<OneLayer>(OPERATORS_LAYER, "1");
}
