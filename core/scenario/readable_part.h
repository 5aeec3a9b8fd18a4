// What is left of a scenario document that has mistakes, so that the rest of it is checked in the same run.
//
//     check_scenario(document, {.names = &catalog}, mistakes);
//     if (auto rest = readable_part(document, mistakes, {ComponentKind::layer, "unread", "1"})) ...
//
// A layer whose component was refused keeps its keys and gets a stand-in for the component. Elsewhere the
// entry that holds the mistake is left out whole, so that its default stands. Items of lists are never
// removed: key paths of the rest mean the same in both documents.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <nexuml/identity.h>
#include <nexuml/value.h>

#include <optional>

namespace nexuml {

// Nothing where a mistake lies so that the rest has no meaning of its own.
NEXUML_EXPORT std::optional<Value> readable_part(const Value& document, const Diagnostics& mistakes,
                                                 const Identity& stand_in);

}  // namespace nexuml
