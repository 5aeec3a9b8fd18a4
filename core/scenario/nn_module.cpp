#include <nexuml/nn_module.h>

namespace nexuml {

void NnModule::describe(Schema<NnModule>& s) {
  s.summary("Any module with one tensor in and one tensor out, as a layer.");
  s.field("factory", &NnModule::factory).doc("The module, such as torch.nn:Linear.").required().min_size(1);
  s.field("args", &NnModule::args).doc("Positional arguments.");
  s.field("kwargs", &NnModule::kwargs).doc("Keyword arguments.");
  s.factory_of(TargetKind::module);
}

TypeTag NnModule::nexuml_type_tag() noexcept {
  static const TypeTagObject tag;
  return &tag;
}

}  // namespace nexuml
