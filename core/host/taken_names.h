// Names that a project cannot have, because they mean something else in its sources or its build.
#pragma once

#include <string>
#include <string_view>

namespace nexuml {

// What the name is already, such as "a keyword of C++"; empty when it is free.
std::string_view owner_of_name(const std::string& name);
// The same for a name that is also a namespace and a target of CMake.
std::string_view owner_of_library_name(const std::string& name);

}  // namespace nexuml
