// L-BFGS with one evaluation of the loss a step, as torch.optim.LBFGS with max_iter=1: a trainer computes the
// gradients once and calls step, so there is nothing to evaluate the loss again with.
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "optimizers/moment_optimizer.h"
#include "optimizers/optimizers.h"

namespace nexuml_torch {

namespace {

struct LBFGS {
  double lr = 1;
  std::int64_t max_iter = 20;
  std::optional<std::int64_t> max_eval;
  double tolerance_grad = 1e-7;
  double tolerance_change = 1e-9;
  std::int64_t history_size = 100;
  std::optional<std::string> line_search_fn;
  bool maximize = false;

  static void describe(nexuml::Schema<LBFGS>& s) {
    s.summary("Limited-memory BFGS, one evaluation a step, as torch.optim.LBFGS with max_iter=1.");
    describe_lr(s);
    s.field("max_iter", &LBFGS::max_iter)
        .doc("Has to be 1: training evaluates the loss once a step.")
        .at_least(1);
    s.field("max_eval", &LBFGS::max_eval).doc("Evaluations a step; one is made.").at_least(1);
    s.field("tolerance_grad", &LBFGS::tolerance_grad).doc("Gradients below it end the descent.");
    s.field("tolerance_change", &LBFGS::tolerance_change).doc("Slopes below it are not followed.");
    s.field("history_size", &LBFGS::history_size).doc("Steps that the curvature is taken from.").at_least(1);
    s.field("line_search_fn", &LBFGS::line_search_fn).doc("Has to be null.");
    describe_maximize(s);
    s.check([](const LBFGS& value, nexuml::RuleProblems& problems) {
      if (value.max_iter != 1)
        problems.add("max_iter", "training evaluates the loss once a step: max_iter has to be 1");
      if (value.line_search_fn)
        problems.add("line_search_fn", "training evaluates the loss once a step: no line can be searched");
    });
  }
  std::shared_ptr<nexuml::Optimizer> build(const nexuml::OptimizerBuildContext& context) const;
};

class LimitedMemory final : public nexuml::Optimizer {
 public:
  LimitedMemory(const nexuml::OptimizerBuildContext& context, const LBFGS& options)
      : Optimizer(context, options.lr), options_(options) {}

  void step() override {
    const at::AutoGradMode no_grad(false);
    if (groups().front().parameters.empty()) return;
    const at::Tensor gradient = flat_gradient();
    if (gradient.abs().max().item<double>() <= options_.tolerance_grad) return;
    const double lr = groups().front().lr;
    if (!direction_.defined()) {
      direction_ = gradient.neg();
      length_ = std::min(1.0, 1.0 / gradient.abs().sum().item<double>()) * lr;
    } else {
      remember(gradient.sub(last_gradient_), direction_.mul(length_));
      direction_ = descent(gradient);
      length_ = lr;
    }
    last_gradient_ = gradient.clone();
    if (gradient.dot(direction_).item<double>() > -options_.tolerance_change) return;
    move();
  }

  nexuml::TrainingState state() const override {
    nexuml::TrainingState state = Optimizer::state();
    state.scalars.set("history", static_cast<std::int64_t>(history_.size()));
    if (!direction_.defined()) return state;
    state.scalars.set("t", length_);
    state.scalars.set("H_diag", scale_);
    state.tensors.append("d", direction_);
    state.tensors.append("prev_flat_grad", last_gradient_);
    for (std::size_t i = 0; i < history_.size(); ++i) {
      state.tensors.append(fmt::format("old_dirs.{}", i), history_[i].change);
      state.tensors.append(fmt::format("old_stps.{}", i), history_[i].step);
    }
    return state;
  }
  void load_state(const nexuml::TrainingState& state) override {
    const nexuml::Value* count = state.scalars.find("history");
    if (!count || !count->is_integer() || count->as_integer() < 0 ||
        count->as_integer() > options_.history_size)
      throw nexuml::Error("E842", "saved optimizer state: 'history' should be a number of steps");
    std::deque<Pair> history;
    for (std::int64_t i = 0; i < count->as_integer(); ++i)
      history.push_back(
          paired(saved(state, fmt::format("old_dirs.{}", i)), saved(state, fmt::format("old_stps.{}", i))));
    const bool started = state.scalars.find("t") != nullptr;
    at::Tensor direction, gradient;
    double length = 0, scale = 1;
    if (started) {
      direction = saved(state, "d");
      gradient = saved(state, "prev_flat_grad");
      length = number(state, "t");
      scale = number(state, "H_diag");
    }
    Optimizer::load_state(state);
    history_ = std::move(history);
    direction_ = direction;
    last_gradient_ = gradient;
    length_ = length;
    scale_ = scale;
  }

 private:
  // How the gradient changed over a step, and the inverse of their product.
  struct Pair {
    at::Tensor change, step;
    double inverse;
  };
  static Pair paired(at::Tensor change, at::Tensor step) {
    const double inverse = 1.0 / change.dot(step).item<double>();
    return {std::move(change), std::move(step), inverse};
  }

  std::int64_t size() const {
    std::int64_t total = 0;
    for (const auto& parameter : groups().front().parameters) total += parameter.tensor.numel();
    return total;
  }
  at::Tensor saved(const nexuml::TrainingState& state, const std::string& name) const {
    const at::Tensor* tensor = state.tensors.find(name);
    if (!tensor || tensor->dim() != 1 || tensor->numel() != size())
      throw nexuml::Error("E842",
                          fmt::format("saved optimizer state: '{}' should hold {} numbers", name, size()));
    return tensor->to(groups().front().parameters.front().tensor.options().requires_grad(false)).clone();
  }
  static double number(const nexuml::TrainingState& state, const char* name) {
    const nexuml::Value* value = state.scalars.find(name);
    if (!value || !value->is_number())
      throw nexuml::Error("E842", fmt::format("saved optimizer state: '{}' should be a number", name));
    return value->as_number();
  }

  at::Tensor flat_gradient() const {
    std::vector<at::Tensor> parts;
    for (const auto& parameter : groups().front().parameters) {
      const at::Tensor& gradient = parameter.tensor.grad();
      parts.push_back((gradient.defined() ? gradient : at::zeros_like(parameter.tensor)).reshape({-1}));
    }
    const at::Tensor flat = at::cat(parts);
    return options_.maximize ? flat.neg() : flat;
  }

  void remember(const at::Tensor& change, const at::Tensor& step) {
    const double product = change.dot(step).item<double>();
    if (product <= 1e-10) return;
    if (static_cast<std::int64_t>(history_.size()) == options_.history_size) history_.pop_front();
    history_.push_back({change, step, 1.0 / product});
    scale_ = product / change.dot(change).item<double>();
  }

  // The two-loop recursion (Nocedal and Wright, algorithm 7.4).
  at::Tensor descent(const at::Tensor& gradient) const {
    std::vector<double> shares(history_.size());
    at::Tensor direction = gradient.neg();
    for (std::size_t i = history_.size(); i-- > 0;) {
      shares[i] = history_[i].step.dot(direction).item<double>() * history_[i].inverse;
      direction.add_(history_[i].change, -shares[i]);
    }
    direction.mul_(scale_);
    for (std::size_t i = 0; i < history_.size(); ++i) {
      const double share = history_[i].change.dot(direction).item<double>() * history_[i].inverse;
      direction.add_(history_[i].step, shares[i] - share);
    }
    return direction;
  }

  void move() {
    std::int64_t offset = 0;
    for (const auto& parameter : groups().front().parameters) {
      const std::int64_t count = parameter.tensor.numel();
      parameter.tensor.add_(direction_.narrow(0, offset, count).view_as(parameter.tensor), length_);
      offset += count;
    }
  }

  const LBFGS options_;
  std::deque<Pair> history_;
  at::Tensor direction_, last_gradient_;  // of all parameters, one after another
  double length_ = 0, scale_ = 1;
};

std::shared_ptr<nexuml::Optimizer> LBFGS::build(const nexuml::OptimizerBuildContext& context) const {
  return std::make_shared<LimitedMemory>(context, *this);
}

}  // namespace

void register_lbfgs(nexuml::Registration& registry) {
  registry.add_target<LBFGS>("torch.optim.lbfgs:LBFGS", {{"torch.optim:LBFGS"}, {"params"}});
}

}  // namespace nexuml_torch
