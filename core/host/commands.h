// The commands that need no tensors, one file each. Each returns an exit code and reports into the session.
#pragma once

#include "host/session.h"

namespace nexuml {

int list_registry(Session& session);
int list_backends(Session& session);
int add_root(Session& session);
int delete_root(Session& session);
int list_libraries(Session& session);
int inspect(Session& session);
int resolve(Session& session);
int doctor(Session& session);
int new_library(Session& session);
int check_recipes(Session& session);
int validate(Session& session);
int write_library_manifest(Session& session);
int serve_probes(Session& session);

// Any other command: opens libnexuml-engine and hands over.
int run_in_engine(Session& session);

}  // namespace nexuml
