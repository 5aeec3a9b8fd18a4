// The one door between nexuml-run, which knows no tensor, and libnexuml-engine, which it opens when a command
// needs one. Both come from one build, so C++ objects may pass.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/value.h>

#include <cstdint>

namespace nexuml {
class LibraryLoader;
}

extern "C" {

// `options` is a map: long option names with underscores, absent where not given. Common to every command:
//   json            boolean
//   threads, seed   integer
//   log_level       text
//   overrides       list of text, `key.path=value`, from -O
//   parameters      list of text, `name=value`, from -P
// Positional arguments: `scenarios` (list of text: names or files), `run_dir`, `path`, `case`, and so on, as
// the command's declaration in core/host/engine_commands.cpp says.
struct nexuml_engine_call {
  std::uint32_t struct_size;
  const char* command;  // "train"
  const nexuml::Value* options;
  nexuml::LibraryLoader* loader;     // the catalog, and the libraries that were opened
  nexuml::Diagnostics* diagnostics;  // the engine appends, the host prints
  nexuml::Value* answer;             // with --json: set to a map; the host adds "diagnostics" and prints it
};

// Returns the exit code: 0 done, 1 handled failure, 3 ran to the end and found problems. An exception never
// leaves it.
using nexuml_engine_main_function = int (*)(const nexuml_engine_call* call);
__attribute__((visibility("default"))) int nexuml_engine_main(const nexuml_engine_call* call);
}

#define NEXUML_ENGINE_ENTRY_SYMBOL "nexuml_engine_main"
