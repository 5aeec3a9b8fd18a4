// Where the C++ types lie that a library registered. A type outside every namespace has the name that the
// next library gives one of its own, and a process that holds both takes one for the other: in exceptions, in
// `dynamic_cast`, and in what a second version script shows.
#pragma once

#include <nexuml/registry.h>

#include <string>
#include <vector>

namespace nexuml {

// "layer/gain@1 (Gain)" for each definition and target of a library whose type lies outside every namespace.
// An anonymous namespace is one: its types are nobody else's. A class around a type looks like a namespace.
std::vector<std::string> types_without_namespace(const ComponentRegistry& registry,
                                                 const std::string& library);

}  // namespace nexuml
