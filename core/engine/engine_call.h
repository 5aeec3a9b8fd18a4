// What a command of the engine is given: options, the library loader, where problems and answers go.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/value.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine_entry.h"
#include "loading/library_loader.h"

namespace nexuml {

class EngineCall {
 public:
  explicit EngineCall(const nexuml_engine_call& call) : call_(call) {}

  std::string command() const { return call_.command; }
  std::optional<std::string> text(std::string_view option) const;
  std::vector<std::string> texts(std::string_view option) const;
  std::optional<std::int64_t> integer(std::string_view option) const;
  bool flag(std::string_view option) const;
  // Whether progress belongs on stderr.
  bool talks() const;

  LibraryLoader& loader() const { return *call_.loader; }
  Diagnostics& diagnostics() const { return *call_.diagnostics; }
  // For --json; text commands print instead.
  bool json() const { return flag("json"); }
  Value& answer() const { return *call_.answer; }
  // Text on stdout; nothing with --json.
  void print(const std::string& text) const;

 private:
  const nexuml_engine_call& call_;
};

int check_scenarios(EngineCall& call);
int build_scenarios(EngineCall& call);
int train(EngineCall& call);
int evaluate(EngineCall& call);
int try_cases(EngineCall& call);
int show_checkpoint(EngineCall& call);
int verify_checkpoints(EngineCall& call);
int diff_checkpoints(EngineCall& call);
int check_contract(EngineCall& call);
int build_recipes(EngineCall& call);

}  // namespace nexuml
