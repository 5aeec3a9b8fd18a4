#include "layers/variational_latent.h"

#include <nexuml/layer.h>
#include <torch/nn/modules/linear.h>

#include <array>
#include <string>

#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

class VariationalLatentRuntime final : public nexuml::PipelineLayer {
 public:
  VariationalLatentRuntime(const nexuml::LayerBuildContext& context, const VariationalLatent& definition)
      : PipelineLayer(context),
        beta_(definition.beta),
        mean_(register_module("mu_proj", torch::nn::Linear(feature_count(context), definition.latent_dim))),
        log_variance_(register_module("logvar_proj",
                                      torch::nn::Linear(feature_count(context), definition.latent_dim))) {}

  void forward(nexuml::Batch& batch) override {
    const at::Tensor flat = input(batch).reshape({input(batch).size(0), -1});
    const at::Tensor mean = mean_->forward(flat), log_variance = log_variance_->forward(flat);
    at::Tensor latent = mean;
    if (is_training()) {
      const at::Tensor deviation = (0.5 * log_variance).exp();
      latent = mean + at::randn_like(deviation) * deviation;
    }
    const std::array outputs{latent, mean, log_variance};
    for (std::size_t i = 0; i < keys_out().size(); ++i)
      set_output(batch, i < outputs.size() ? outputs[i] : divergence(mean, log_variance), i);
  }

 private:
  // Batch mean of the divergence from the standard normal, once per sample: [batch].
  at::Tensor divergence(const at::Tensor& mean, const at::Tensor& log_variance) const {
    const at::Tensor samples = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(1);
    return (beta_ * samples.mean()).expand({mean.size(0)});
  }

  const double beta_;
  torch::nn::Linear mean_, log_variance_;
};

}  // namespace

void VariationalLatent::describe(nexuml::Schema<VariationalLatent>& s) {
  s.summary("A Gaussian latent by the reparameterisation trick.");
  s.field("latent_dim", &VariationalLatent::latent_dim).doc("Width of the latent.").at_least(1);
  s.field("beta", &VariationalLatent::beta).doc("Factor of the divergence.");
}

nexuml::Shapes VariationalLatent::infer(const nexuml::LayerInferContext& context) const {
  const std::size_t outputs = context.keys_out.size();
  if (context.keys_in.size() != 1 || outputs < 1 || outputs > 4)
    context.fail("one input and one to four outputs (latent, mu, logvar, kl) are needed, found " +
                 std::to_string(context.keys_in.size()) + " and " + std::to_string(outputs));
  (void)feature_count(context);
  nexuml::Shapes shapes;
  for (std::size_t i = 0; i < outputs; ++i)
    shapes.outputs[context.output_key(i)] = {.shape = i < 3 ? nexuml::Shape{latent_dim} : nexuml::Shape{},
                                             .dtype = context.input().dtype};
  return shapes;
}

std::shared_ptr<nexuml::PipelineLayer> VariationalLatent::build(
    const nexuml::LayerBuildContext& context) const {
  return std::make_shared<VariationalLatentRuntime>(context, *this);
}

}  // namespace nexuml_library
