#include "compile/graph.h"

namespace nexuml {

Graph analyse(const CompileInput& input, const CompileOptions& options, Diagnostics& problems) {
  Graph graph = build_graph(input, options, problems);
  infer_shapes(graph, options, problems);
  check_uses(graph, input, problems);
  return graph;
}

Diagnostics check(const CompileInput& input, const CompileOptions& options) {
  Diagnostics problems;
  (void)analyse(input, options, problems);
  problems.sort();
  return problems;
}

}  // namespace nexuml
