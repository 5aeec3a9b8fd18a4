// Discovery: from search places to a Catalog. Opens no library and keeps no state between runs.
//
//     auto catalog = discover(options, process_environment());
//     for (const auto& problem : catalog->diagnostics()) ...          // one bad library never hides another
#pragma once

#include <memory>

#include "discovery/abi.h"
#include "discovery/search.h"
#include "registry/catalog.h"

namespace nexuml {

std::shared_ptr<const Catalog> discover(const SearchOptions& options, const Environment& environment,
                                        const AbiFacts& host = host_abi());

}  // namespace nexuml
