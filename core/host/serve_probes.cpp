#include "host/commands.h"
#include "loading/probe.h"

namespace nexuml {

int serve_probes(Session&) {
  return run_probe_worker(3, 4);
}

}  // namespace nexuml
