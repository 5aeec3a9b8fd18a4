// The words for a name that is not there: shared by the catalog (declared) and the registry (loaded).
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/identity.h>

#include <string>
#include <vector>

namespace nexuml::detail {

// What is known about components when one is missing.
struct KnownNames {
  std::vector<Identity> identities;  // of every kind
  std::vector<std::string> targets;  // canonical spellings
  std::string searched;              // "7 libraries were searched, 1 could not be read"; may be empty
};

// E730 unknown, E731 known as another kind, E732 known in another version, E735 a component that was removed.
void report_missing_definition(const Identity& wanted, const Where& type_at, const Where& version_at,
                               const KnownNames& known, Diagnostics& problems);

// E733 with near names.
void report_missing_target(TargetKind kind, const std::string& spelling, const Where& at,
                           const KnownNames& known, Diagnostics& problems);

// E736: the target exists and is of another kind.
void report_wrong_target_kind(const std::string& spelling, TargetKind found, TargetKind wanted,
                              const Where& at, Diagnostics& problems);

}  // namespace nexuml::detail
