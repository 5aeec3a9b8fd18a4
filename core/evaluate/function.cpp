#include <nexuml/function.h>

namespace nexuml {

Function::~Function() = default;

}  // namespace nexuml
