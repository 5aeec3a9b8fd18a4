// VariationalLatent: a Gaussian latent by the reparameterisation trick.
//
//     LayerSpec{.component = VariationalLatent{.latent_dim = 16, .beta = 0.1}, .keys_in = {"hidden"},
//               .keys_out = {"latent", "mu", "logvar", "kl"}};
//
// One to four output keys, in this order.
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>

namespace nexuml_library {

// Shape: [batch, ...] -> latent, mu and logvar [batch, latent_dim] and kl [batch], as many as there are
//   output keys
// Formula: z = mu + e exp(logvar / 2) in training, else mu; kl = -beta/2 mean sum(1 + logvar - mu^2 -
//   exp(logvar)), the batch mean repeated
// Source: Kingma and Welling, Auto-Encoding Variational Bayes, 2014; Higgins et al., beta-VAE, 2017
struct VariationalLatent {
  std::int64_t latent_dim = 32;
  double beta = 1.0;

  static void describe(nexuml::Schema<VariationalLatent>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
