#include "data/torch_loader.h"

#include <nexuml/data.h>

namespace nexuml_library {

void TorchLoader::describe(nexuml::Schema<TorchLoader>& s) {
  s.summary("Batches gathered from the dataset, in worker threads where num_workers is above 0.");
}

std::shared_ptr<nexuml::LoaderBackend> TorchLoader::build(const nexuml::LoaderBuildContext&) const {
  return nexuml::make_torch_loader_backend();
}

}  // namespace nexuml_library
