// L-BFGS, which looks at the loss of a batch several times a step, as torch.optim.LBFGS.
// Source: Nocedal and Wright, Numerical Optimization, chapter 7; stopping rules: the torch documentation.
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

#include "optimizers/line_search.h"
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
    s.summary(
        "Limited-memory BFGS, as torch.optim.LBFGS; it looks at the loss of a batch several times a step.");
    describe_lr(s);
    s.field("max_iter", &LBFGS::max_iter).doc("Iterations a step at most.").at_least(1);
    s.field("max_eval", &LBFGS::max_eval)
        .doc("Evaluations of the loss a step at most; null: 5/4 of max_iter, rounded down.")
        .at_least(1);
    s.field("tolerance_grad", &LBFGS::tolerance_grad)
        .doc("A step ends where no gradient is larger.")
        .at_least(0);
    s.field("tolerance_change", &LBFGS::tolerance_change)
        .doc("A step ends where neither weights nor loss change by more.")
        .at_least(0);
    s.field("history_size", &LBFGS::history_size)
        .doc("Iterations that the curvature is taken from.")
        .at_least(1);
    s.field("line_search_fn", &LBFGS::line_search_fn)
        .doc("How far an iteration goes: strong_wolfe searches, null goes by lr.");
    describe_maximize(s);
    s.check([](const LBFGS& value, nexuml::RuleProblems& problems) {
      if (value.line_search_fn && *value.line_search_fn != "strong_wolfe")
        problems.add("line_search_fn",
                     fmt::format("'strong_wolfe' or null is expected, found '{}'", *value.line_search_fn));
    });
  }
  std::shared_ptr<nexuml::Optimizer> build(const nexuml::OptimizerBuildContext& context) const;
};

class LimitedMemory final : public nexuml::Optimizer {
 public:
  LimitedMemory(const nexuml::OptimizerBuildContext& context, const LBFGS& options)
      : Optimizer(context, options.lr), options_(options) {}

  // Without the loss: one move along the direction, which is all that needs none.
  void step() override {
    if (options_.max_iter != 1 || options_.line_search_fn)
      throw nexuml::Error("E841",
                          "LBFGS evaluates the loss several times a step, but was given none to evaluate", {},
                          "call step_with_loss, or set max_iter to 1 and line_search_fn to null");
    iterate(0, [this]() -> Evaluated { return {0, flat_gradient()}; });
  }

  void step_with_loss(const at::Tensor& loss, const nexuml::LossEvaluation& evaluate) override {
    iterate(signed_loss(loss), [&]() -> Evaluated {
      const at::AutoGradMode with_gradients(true);
      const double again = signed_loss(evaluate());
      return {again, flat_gradient()};
    });
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
  struct Evaluated {
    double loss;
    at::Tensor gradient;  // of all parameters, one after another
  };

  double signed_loss(const at::Tensor& loss) const {
    const double value = loss.item<double>();
    return options_.maximize ? -value : value;
  }

  void iterate(double loss, const std::function<Evaluated()>& evaluate) {
    const at::AutoGradMode no_grad(false);
    if (groups().front().parameters.empty()) return;
    const double lr = groups().front().lr;
    const std::int64_t max_evaluations = options_.max_eval.value_or(options_.max_iter * 5 / 4);
    Evaluated here{loss, flat_gradient()};
    std::int64_t evaluations = 1;
    if (is_optimal(here.gradient)) return;
    for (std::int64_t iteration = 1;; ++iteration) {
      aim(here.gradient, lr);
      const double slope = here.gradient.dot(direction_).item<double>();
      if (slope > -options_.tolerance_change) return;
      const double before = here.loss;
      if (options_.line_search_fn) {
        const LinePoint found =
            search_line(here, slope, max_evaluations - evaluations, evaluate, evaluations);
        length_ = found.step;
        move(length_);
        here = {found.loss, found.gradient};
      } else {
        move(length_);
        if (iteration == options_.max_iter) return;
        here = evaluate();
        ++evaluations;
      }
      if (iteration == options_.max_iter || evaluations >= max_evaluations || is_optimal(here.gradient))
        return;
      if (direction_.abs().max().item<double>() * length_ <= options_.tolerance_change) return;
      if (std::abs(here.loss - before) < options_.tolerance_change) return;
    }
  }

  bool is_optimal(const at::Tensor& gradient) const {
    return gradient.abs().max().item<double>() <= options_.tolerance_grad;
  }

  // Sets direction and length of the next move.
  void aim(const at::Tensor& gradient, double lr) {
    if (!direction_.defined()) {
      direction_ = gradient.neg();
      length_ = std::min(1.0, 1.0 / gradient.abs().sum().item<double>()) * lr;
    } else {
      remember(gradient.sub(last_gradient_), direction_.mul(length_));
      direction_ = descent(gradient);
      length_ = lr;
    }
    last_gradient_ = gradient.clone();
  }

  LinePoint search_line(const Evaluated& here, double slope, std::int64_t more,
                        const std::function<Evaluated()>& evaluate, std::int64_t& evaluations) {
    std::vector<at::Tensor> start;
    for (const auto& parameter : groups().front().parameters) start.push_back(parameter.tensor.clone());
    LineSearch search;
    search.evaluate = [&](double step) -> LinePoint {
      move(step);
      const Evaluated there = evaluate();
      for (std::size_t i = 0; i < start.size(); ++i) groups().front().parameters[i].tensor.copy_(start[i]);
      return {step, there.loss, there.gradient, there.gradient.dot(direction_).item<double>()};
    };
    search.start = {0, here.loss, here.gradient, slope};
    search.direction_size = direction_.abs().max().item<double>();
    search.max_evaluations = more;
    return strong_wolfe(search, length_, evaluations);
  }

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

  void move(double length) {
    std::int64_t offset = 0;
    for (const auto& parameter : groups().front().parameters) {
      const std::int64_t count = parameter.tensor.numel();
      parameter.tensor.add_(direction_.narrow(0, offset, count).view_as(parameter.tensor), length);
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
