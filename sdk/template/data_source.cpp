#include "@FILE@.h"

#include <ATen/CPUGeneratorImpl.h>
#include <nexuml/data.h>

namespace @NAMESPACE@ {

void @TYPE@::describe(nexuml::Schema<@TYPE@>& s) {
  s.summary("Normally distributed features, a function of the seed alone.");
  s.field("num_samples", &@TYPE@::num_samples).at_least(1);
  s.field("size", &@TYPE@::size).doc("Features of a sample.").at_least(1);
}

nexuml::DataDeclaration @TYPE@::declare() const {
  nexuml::DataDeclaration data;
  data.features["features"] = {{size}, nexuml::DType::float32};
  data.num_samples = num_samples;
  return data;
}

std::shared_ptr<nexuml::Dataset> @TYPE@::build(const nexuml::DataContext& context) const {
  const at::Generator generator = at::detail::createCPUGenerator(context.seed);
  nexuml::TensorDict x;
  x.set(context.feature_key, torch::randn({num_samples, size}, generator));
  return std::make_shared<nexuml::TensorDataset>(std::move(x));
}

}  // namespace @NAMESPACE@
