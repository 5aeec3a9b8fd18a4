// A data source where a layer is needed. expect: This definition is of another kind than the place it is put
// in
#include <nexuml/scenario.h>

struct Source {
  int size = 1;
  static void describe(nexuml::Schema<Source>& s) { s.field("size", &Source::size); }
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext&) const;
};
nexuml::LayerSpec spec{.component = Source{}};
