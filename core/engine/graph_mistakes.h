// The mistakes that only the graph shows, in a scenario that could not be read whole.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/value.h>

#include "loading/library_loader.h"

namespace nexuml {

// `document` is as it was written and `mistakes` is what reading it found; what the graph of the rest shows
// beside them is returned. Loads the libraries that the rest needs. Nothing is returned where the rest has no
// meaning of its own. Throws nothing.
Diagnostics graph_mistakes(LibraryLoader& loader, const Value& document, const Diagnostics& mistakes);

}  // namespace nexuml
