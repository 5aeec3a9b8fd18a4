#include "engine/engine_entry.h"
#include "host/commands.h"

namespace nexuml {

int run_in_engine(Session& session) {
  auto& problems = session.diagnostics();
  LibraryLoader& loader = session.loader();
  if (!loader.open_runtime(problems)) return 1;
  const auto engine = loader.open_own("libnexuml-engine.so", problems);
  if (!engine) return 1;
  const auto engine_main = engine->get<int(const nexuml_engine_call*)>(NEXUML_ENGINE_ENTRY_SYMBOL);
  const nexuml_engine_call call{sizeof(nexuml_engine_call),
                                session.invocation().command.c_str(),
                                &session.invocation().options,
                                &loader,
                                &problems,
                                &session.answer()};
  return engine_main(&call);
}

}  // namespace nexuml
