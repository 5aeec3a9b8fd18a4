#include <nexuml/module.h>

namespace nexuml {

TensorModule::~TensorModule() = default;

}  // namespace nexuml
