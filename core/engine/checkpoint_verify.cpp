// checkpoint verify: every byte is read and compared with what was written.
#include <fmt/format.h>

#include "checkpoint/checkpoint_store.h"
#include "engine/engine_call.h"
#include "engine/stored_weights.h"

namespace nexuml {

namespace {

// Reading a file as a whole compares its checksums and offsets.
Diagnostics verify_weights(const StoredPlace& place) {
  try {
    read_stored(place);
  } catch (const Error& error) {
    return error.diagnostics();
  }
  return {};
}

}  // namespace

int verify_checkpoints(EngineCall& call) {
  const StoredPlace place = find_stored(call.text("path").value());
  Value results = Value::list();
  bool whole = true;
  const auto note = [&](const std::filesystem::path& path, const Diagnostics& problems) {
    whole = whole && !problems.has_errors();
    call.print(fmt::format("{:5}  {}\n", problems.has_errors() ? "ERROR" : "OK", path.string()));
    results.push_back(Value::map({{"path", path.string()}, {"whole", !problems.has_errors()}}));
    call.diagnostics().append(problems);
  };
  if (place.kind == StoredPlace::Kind::file) note(place.path, verify_weights(place));
  if (place.kind == StoredPlace::Kind::checkpoint) note(place.path, verify_checkpoint(place.path));
  for (const std::int64_t index : place.indices)
    note(place.checkpoint(index), verify_checkpoint(place.checkpoint(index)));
  call.answer().set("results", std::move(results));
  return whole ? 0 : 3;
}

}  // namespace nexuml
