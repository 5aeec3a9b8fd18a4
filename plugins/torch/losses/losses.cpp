#include "losses/losses.h"

#include <ATen/ops/binary_cross_entropy.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/kl_div.h>
#include <ATen/ops/l1_loss.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/nll_loss_nd.h>
#include <ATen/ops/smooth_l1_loss.h>
#include <nexuml/tensor_serializers.h>
#include <nexuml/training.h>

#include <functional>

namespace nexuml::torch_targets {
namespace {

enum class LossReduction { none, mean, sum };

}  // namespace
}  // namespace nexuml::torch_targets

template <>
struct nexuml::EnumText<nexuml::torch_targets::LossReduction> {
  using Reduction = nexuml::torch_targets::LossReduction;
  static constexpr std::pair<Reduction, const char*> names[] = {
      {Reduction::none, "none"}, {Reduction::mean, "mean"}, {Reduction::sum, "sum"}};
};

namespace nexuml::torch_targets {
namespace {

std::int64_t number_of(LossReduction reduction) {
  switch (reduction) {
    case LossReduction::none:
      return at::Reduction::None;
    case LossReduction::mean:
      return at::Reduction::Mean;
    case LossReduction::sum:
      return at::Reduction::Sum;
  }
  return at::Reduction::Mean;
}

template <class Compute>
class ComputedLoss final : public LossFunction {
 public:
  explicit ComputedLoss(Compute compute) : compute_(std::move(compute)) {}
  at::Tensor operator()(const at::Tensor& prediction, const at::Tensor& target) const override {
    return compute_(prediction, target);
  }

 private:
  Compute compute_;
};

template <class Compute>
std::shared_ptr<LossFunction> loss_function(Compute compute) {
  return std::make_shared<ComputedLoss<Compute>>(std::move(compute));
}

template <class T>
void describe_reduction(Schema<T>& s) {
  s.field("reduction", &T::reduction).doc("none, mean or sum over all elements.");
}

// A weight per class; what is not given weighs 1.
using ClassWeights = std::optional<at::Tensor>;

// On the device and in the dtype of the prediction; undefined where none was given.
c10::optional<at::Tensor> weights_for(const ClassWeights& weights, const at::Tensor& prediction) {
  if (!weights) return c10::nullopt;
  return weights->to(prediction.options());
}

struct MSELoss {
  LossReduction reduction = LossReduction::mean;
  static void describe(Schema<MSELoss>& s) {
    s.summary("Squared difference.");
    describe_reduction(s);
  }
  std::shared_ptr<LossFunction> build(const LossBuildContext&) const {
    return loss_function(
        [reduction = number_of(reduction)](const at::Tensor& prediction, const at::Tensor& target) {
          return at::mse_loss(prediction, target, reduction);
        });
  }
};

struct L1Loss {
  LossReduction reduction = LossReduction::mean;
  static void describe(Schema<L1Loss>& s) {
    s.summary("Absolute difference.");
    describe_reduction(s);
  }
  std::shared_ptr<LossFunction> build(const LossBuildContext&) const {
    return loss_function(
        [reduction = number_of(reduction)](const at::Tensor& prediction, const at::Tensor& target) {
          return at::l1_loss(prediction, target, reduction);
        });
  }
};

struct SmoothL1Loss {
  LossReduction reduction = LossReduction::mean;
  double beta = 1.0;
  static void describe(Schema<SmoothL1Loss>& s) {
    s.summary("Squared difference below beta, absolute difference above.");
    describe_reduction(s);
    s.field("beta", &SmoothL1Loss::beta).at_least(0);
  }
  std::shared_ptr<LossFunction> build(const LossBuildContext&) const {
    return loss_function([reduction = number_of(reduction), beta = beta](const at::Tensor& prediction,
                                                                         const at::Tensor& target) {
      // With beta 0 it is the absolute difference, as in Python.
      return beta == 0 ? at::l1_loss(prediction, target, reduction)
                       : at::smooth_l1_loss(prediction, target, reduction, beta);
    });
  }
};

struct HuberLoss {
  LossReduction reduction = LossReduction::mean;
  double delta = 1.0;
  static void describe(Schema<HuberLoss>& s) {
    s.summary("Squared difference below delta, a line above.");
    describe_reduction(s);
    s.field("delta", &HuberLoss::delta).greater_than(0);
  }
  std::shared_ptr<LossFunction> build(const LossBuildContext&) const {
    return loss_function([reduction = number_of(reduction), delta = delta](const at::Tensor& prediction,
                                                                           const at::Tensor& target) {
      return at::huber_loss(prediction, target, reduction, delta);
    });
  }
};

struct CrossEntropyLoss {
  ClassWeights weight;
  std::int64_t ignore_index = -100;
  LossReduction reduction = LossReduction::mean;
  double label_smoothing = 0.0;
  static void describe(Schema<CrossEntropyLoss>& s) {
    s.summary("Cross entropy of logits [batch, classes, ...] and class indices or probabilities.");
    s.field("weight", &CrossEntropyLoss::weight).doc("One weight a class: [classes].");
    s.field("ignore_index", &CrossEntropyLoss::ignore_index);
    describe_reduction(s);
    s.field("label_smoothing", &CrossEntropyLoss::label_smoothing).at_least(0).at_most(1);
  }
  std::shared_ptr<LossFunction> build(const LossBuildContext&) const {
    return loss_function([arguments = *this](const at::Tensor& prediction, const at::Tensor& target) {
      return at::cross_entropy_loss(prediction, target, weights_for(arguments.weight, prediction),
                                    number_of(arguments.reduction), arguments.ignore_index,
                                    arguments.label_smoothing);
    });
  }
};

struct NLLLoss {
  ClassWeights weight;
  std::int64_t ignore_index = -100;
  LossReduction reduction = LossReduction::mean;
  static void describe(Schema<NLLLoss>& s) {
    s.summary("Negative log likelihood of log probabilities [batch, classes, ...] and class indices.");
    s.field("weight", &NLLLoss::weight).doc("One weight a class: [classes].");
    s.field("ignore_index", &NLLLoss::ignore_index);
    describe_reduction(s);
  }
  std::shared_ptr<LossFunction> build(const LossBuildContext&) const {
    return loss_function([arguments = *this](const at::Tensor& prediction, const at::Tensor& target) {
      return at::nll_loss_nd(prediction, target, weights_for(arguments.weight, prediction),
                             number_of(arguments.reduction), arguments.ignore_index);
    });
  }
};

struct BCELoss {
  ClassWeights weight;
  LossReduction reduction = LossReduction::mean;
  static void describe(Schema<BCELoss>& s) {
    s.summary("Binary cross entropy of probabilities.");
    s.field("weight", &BCELoss::weight).doc("Weights that fit the prediction.");
    describe_reduction(s);
  }
  std::shared_ptr<LossFunction> build(const LossBuildContext&) const {
    return loss_function([arguments = *this](const at::Tensor& prediction, const at::Tensor& target) {
      return at::binary_cross_entropy(prediction, target, weights_for(arguments.weight, prediction),
                                      number_of(arguments.reduction));
    });
  }
};

struct BCEWithLogitsLoss {
  ClassWeights weight;
  LossReduction reduction = LossReduction::mean;
  ClassWeights pos_weight;
  static void describe(Schema<BCEWithLogitsLoss>& s) {
    s.summary("Binary cross entropy of logits.");
    s.field("weight", &BCEWithLogitsLoss::weight).doc("Weights that fit the prediction.");
    describe_reduction(s);
    s.field("pos_weight", &BCEWithLogitsLoss::pos_weight).doc("Weight of the positive answers, one a class.");
  }
  std::shared_ptr<LossFunction> build(const LossBuildContext&) const {
    return loss_function([arguments = *this](const at::Tensor& prediction, const at::Tensor& target) {
      return at::binary_cross_entropy_with_logits(
          prediction, target, weights_for(arguments.weight, prediction),
          weights_for(arguments.pos_weight, prediction), number_of(arguments.reduction));
    });
  }
};

template <class T>
void add_loss(Registration& registry, const std::string& name) {
  registry.add_target<T>("torch.nn:" + name, {.aliases = {"torch.nn.modules.loss:" + name}});
}

}  // namespace

void register_losses(Registration& registry) {
  add_loss<MSELoss>(registry, "MSELoss");
  add_loss<L1Loss>(registry, "L1Loss");
  add_loss<SmoothL1Loss>(registry, "SmoothL1Loss");
  add_loss<HuberLoss>(registry, "HuberLoss");
  add_loss<CrossEntropyLoss>(registry, "CrossEntropyLoss");
  add_loss<NLLLoss>(registry, "NLLLoss");
  add_loss<BCELoss>(registry, "BCELoss");
  add_loss<BCEWithLogitsLoss>(registry, "BCEWithLogitsLoss");
}

}  // namespace nexuml::torch_targets
