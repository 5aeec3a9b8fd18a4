// Schedulers and optimizers against trajectories of Python's torch; scripts/torch_references.py wrote them.
#include <ATen/ops/tensor.h>
#include <nexuml/training.h>
#include <torch/types.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "plugins_library/shipped_registry.h"

using namespace nexuml;
using library_tests::shipped_registry;

namespace {

Value references(const std::string& name) {
  const std::string path = std::string(NEXUML_TEST_DATA) + "/torch/" + name;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  Diagnostics problems;
  Value value = parse_json(text.str(), path, problems);
  REQUIRE(problems.empty());
  return value;
}

std::vector<double> numbers(const Value& list) {
  std::vector<double> result;
  for (const Value& item : list.items()) result.push_back(item.as_number());
  return result;
}

at::Tensor matrix(const Value& list) {
  return torch::tensor(numbers(list), at::kDouble).to(at::kFloat).reshape({2, 3});
}

std::string call_text(const Value& reference) {
  return reference.at("factory").as_string() + " " + write_json(reference.at("kwargs"), {.indent = -1});
}

std::shared_ptr<Optimizer> optimizer_of(const std::string& factory, const Value& kwargs, at::Tensor weight) {
  return shipped_registry()
      .make<TargetKind::optimizer>(factory, Value::list(), kwargs)
      ->build({.parameters = {{"weight", std::move(weight)}}});
}

std::shared_ptr<Optimizer> sgd(double lr) {
  return optimizer_of("torch.optim:SGD", Value::map({{"lr", lr}, {"momentum", 0.9}}),
                      at::zeros({1}).requires_grad_());
}

std::shared_ptr<Scheduler> scheduler_of(const std::string& factory, const Value& kwargs, Optimizer& optimizer,
                                        std::int64_t warmup = 0) {
  return shipped_registry()
      .make<TargetKind::scheduler>(factory, Value::list(), kwargs)
      ->build({.optimizer = optimizer, .warmup_epochs = warmup});
}

// A step of the trajectory: stepped with its metric where the reference has metrics.
void advance(Scheduler& scheduler, const Value& reference, std::size_t step) {
  if (const Value* metrics = reference.find("metrics"))
    scheduler.step_with_metric(metrics->items()[step].as_number());
  else
    scheduler.step();
}

// The weights after a step on sum((a w - b)^2), whose gradient is 2 a (a w - b).
at::Tensor descend(Optimizer& optimizer, at::Tensor weight, const Value& reference) {
  const at::Tensor a = matrix(reference.at("a"));
  weight.mutable_grad() = 2 * a * (a * weight.detach() - matrix(reference.at("b")));
  optimizer.step();  // for LBFGS: max_iter is 1
  return weight.detach().clone();
}

// Rosenbrock's valley, with its gradients.
at::Tensor valley(const at::Tensor& weight, double sign, std::int64_t& evaluations) {
  ++evaluations;
  weight.mutable_grad().reset();
  const std::int64_t last = weight.size(0) - 1;
  const at::Tensor left = weight.narrow(0, 0, last), right = weight.narrow(0, 1, last);
  const at::Tensor loss = sign * (100 * (right - left * left).square() + (1 - left).square()).sum();
  loss.backward();
  return loss;
}

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("schedulers follow Python's trajectories to the last bits") {
  const Value all = references("schedulers.json");
  for (const Value& reference : all.items()) {
    const auto expected = numbers(reference.at("lrs"));
    const auto optimizer = sgd(0.1);
    const auto scheduler =
        scheduler_of(reference.at("factory").as_string(), reference.at("kwargs"), *optimizer);
    for (std::size_t step = 0; step < expected.size(); ++step) {
      if (step > 0) advance(*scheduler, reference, step - 1);
      INFO(call_text(reference) << ", step " << step);
      CHECK(optimizer->groups()[0].lr == Approx(expected[step]).epsilon(1e-12).margin(1e-15));
    }
  }
}

TEST_CASE("a scheduler that is resumed goes on as if it had not stopped") {
  const Value all = references("schedulers.json");
  for (const Value& reference : all.items()) {
    const auto expected = numbers(reference.at("lrs"));
    for (const std::size_t stop : {std::size_t{1}, expected.size() / 2}) {
      const auto optimizer = sgd(0.1);
      const std::string factory = reference.at("factory").as_string();
      const auto before = scheduler_of(factory, reference.at("kwargs"), *optimizer);
      for (std::size_t step = 0; step < stop; ++step) advance(*before, reference, step);

      const auto resumed_optimizer = sgd(0.1);
      const auto resumed = scheduler_of(factory, reference.at("kwargs"), *resumed_optimizer);
      resumed_optimizer->load_state(optimizer->state());
      resumed->load_state(before->state());
      for (std::size_t step = stop; step + 1 < expected.size(); ++step) advance(*resumed, reference, step);
      INFO(call_text(reference) << ", stopped after " << stop);
      CHECK(resumed_optimizer->groups()[0].lr == Approx(expected.back()).epsilon(1e-12).margin(1e-15));
    }
  }
}

TEST_CASE("optimizers follow Python's weights") {
  const Value all = references("optimizers.json");
  for (const Value& reference : all.items()) {
    at::Tensor weight = matrix(reference.at("start")).requires_grad_();
    const auto optimizer = optimizer_of(reference.at("factory").as_string(), reference.at("kwargs"), weight);
    std::size_t step = 0;
    for (const Value& expected : reference.at("weights").items()) {
      const at::Tensor found = descend(*optimizer, weight, reference);
      INFO(call_text(reference) << ", step " << step++ << "\n" << found << "\n" << matrix(expected));
      CHECK(at::allclose(found, matrix(expected), 1e-5, 1e-6));
    }
  }
}

TEST_CASE("an optimizer that is resumed goes on bit for bit") {
  const Value all = references("optimizers.json");
  for (const Value& reference : all.items()) {
    const std::string factory = reference.at("factory").as_string();
    at::Tensor weight = matrix(reference.at("start")).requires_grad_();
    const auto optimizer = optimizer_of(factory, reference.at("kwargs"), weight);
    for (int step = 0; step < 5; ++step) descend(*optimizer, weight, reference);

    at::Tensor copy = weight.detach().clone().requires_grad_();
    const auto resumed = optimizer_of(factory, reference.at("kwargs"), copy);
    resumed->load_state(optimizer->state());
    for (int step = 0; step < 5; ++step) {
      INFO(call_text(reference) << ", " << step << " steps after resuming");
      CHECK(at::equal(descend(*optimizer, weight, reference), descend(*resumed, copy, reference)));
    }
  }
}

TEST_CASE("WarmupCosineLR rises from min_lr, falls back to it and stays there") {
  const std::string factory = "nexuml_library.training.schedulers.warmup_cosine:WarmupCosineLR";
  const auto optimizer = sgd(0.001);
  const auto scheduler = scheduler_of(
      factory, Value::map({{"warmup_epochs", 3}, {"max_epochs", 12}, {"min_lr", 1e-5}}), *optimizer);
  const std::vector<double> expected{1e-5,
                                     0.00034,
                                     0.00067,
                                     0.001,
                                     0.0009701478472890247,
                                     0.0008841919993438941,
                                     0.0007525,
                                     0.0005909558479451307,
                                     0.00041904415205486954,
                                     0.0002575,
                                     0.00012580800065610593,
                                     3.9852152710975386e-05,
                                     1e-05,
                                     1e-05};
  for (const double lr : expected) {
    CHECK(optimizer->groups()[0].lr == Approx(lr).epsilon(1e-12));
    scheduler->step();
  }
}

TEST_CASE("WarmupCosineLR takes the warm-up of the scenario where it has none of its own") {
  const std::string factory = "nexuml_library.training.schedulers.warmup_cosine:WarmupCosineLR";
  const auto own = sgd(0.1), given = sgd(0.1);
  const auto one =
      scheduler_of(factory, Value::map({{"warmup_epochs", 4}, {"max_epochs", 9}, {"min_lr", 0.0}}), *own);
  const auto other = scheduler_of(factory, Value::map({{"max_epochs", 9}, {"min_lr", 0.0}}), *given, 4);
  for (int step = 0; step < 9; ++step) {
    CHECK(own->groups()[0].lr == given->groups()[0].lr);
    one->step();
    other->step();
  }
}

TEST_CASE("schedulers refuse what cannot be scheduled, and say why") {
  const std::string prefix = "torch.optim.lr_scheduler:";
  const auto refusal = [&](const std::string& factory, const Value& kwargs) {
    const auto optimizer = sgd(0.001);
    return failure_of([&] { (void)scheduler_of(factory, kwargs, *optimizer); });
  };
  using Catch::Contains;
  const std::string cosine = "nexuml_library.training.schedulers.warmup_cosine:WarmupCosineLR";
  CHECK_THAT(refusal(cosine, Value::map({{"warmup_epochs", 10}, {"max_epochs", 10}, {"min_lr", 0.0}})),
             Contains("less than max_epochs"));
  CHECK_THAT(refusal(cosine, Value::map({{"warmup_epochs", 0}, {"max_epochs", 0}, {"min_lr", 0.0}})),
             Contains("max_epochs"));
  CHECK_THAT(refusal(cosine, Value::map({{"warmup_epochs", 0}, {"max_epochs", 3}, {"min_lr", 0.1}})),
             Contains("min_lr"));
  CHECK_THAT(refusal(prefix + "OneCycleLR", Value::map({{"max_lr", 0.1}})), Contains("total_steps"));
  CHECK_THAT(refusal(prefix + "ReduceLROnPlateau", Value::map({{"factor", 1.0}})), Contains("factor"));
  const Value parts = Value::List{Value::map({{"factory", prefix + "ReduceLROnPlateau"}}),
                                  Value::map({{"factory", prefix + "ConstantLR"}})};
  CHECK_THAT(
      refusal(prefix + "SequentialLR", Value::map({{"schedulers", parts}, {"milestones", Value::List{3}}})),
      Contains("metric"));
  CHECK_THAT(
      refusal(prefix + "SequentialLR", Value::map({{"schedulers", parts}, {"milestones", Value::list()}})),
      Contains("milestones"));
  CHECK_THAT(refusal(prefix + "StepLR", Value::map({{"step_size", 3}, {"optimizer", 1}})),
             Contains("optimizer"));

  const auto optimizer = sgd(0.1);
  const auto cycle =
      scheduler_of(prefix + "OneCycleLR", Value::map({{"max_lr", 0.1}, {"total_steps", 5}}), *optimizer);
  for (int step = 0; step < 5; ++step) cycle->step();
  CHECK_THAT(failure_of([&] { cycle->step(); }), Contains("5 steps"));
}

TEST_CASE("LBFGS looks at the loss as often as Python's and goes where it goes") {
  const Value all = references("lbfgs.json");
  for (const Value& reference : all.items()) {
    const double sign = reference.at("sign").as_number();
    at::Tensor weight = torch::tensor(numbers(reference.at("start")), at::kDouble).requires_grad_();
    auto optimizer = optimizer_of("torch.optim.lbfgs:LBFGS", reference.at("kwargs"), weight);
    std::int64_t evaluations = 0, step = 0;
    const auto loss = [&] { return valley(weight, sign, evaluations); };
    for (const Value& expected : reference.at("steps").items()) {
      INFO(call_text(reference) << ", step " << step);
      if (step++ == 4) {  // resumed
        at::Tensor copy = weight.detach().clone().requires_grad_();
        const auto resumed = optimizer_of("torch.optim.lbfgs:LBFGS", reference.at("kwargs"), copy);
        resumed->load_state(optimizer->state());
        weight = copy;
        optimizer = resumed;
      }
      const at::Tensor before = loss();
      CHECK(before.item<double>() == Approx(expected.at("loss").as_number()).epsilon(1e-9));
      optimizer->step_with_loss(before, loss);
      CHECK(evaluations == expected.at("evaluations").as_integer());
      const at::Tensor weights = torch::tensor(numbers(expected.at("weights")), at::kDouble);
      CHECK(at::allclose(weight.detach(), weights, 1e-9, 1e-9));
    }
  }
}

TEST_CASE("LBFGS without the loss makes single moves, and refuses more") {
  const auto weight = at::zeros({2}).requires_grad_();
  weight.mutable_grad() = at::ones({2});
  optimizer_of("torch.optim:LBFGS", Value::map({{"max_iter", 1}}), weight)->step();
  CHECK(weight.detach().abs().max().item<double>() > 0);
  const auto whole = optimizer_of("torch.optim:LBFGS", Value::map(), weight);
  CHECK_THAT(failure_of([&] { whole->step(); }), Catch::Contains("step_with_loss"));
  CHECK_THAT(failure_of([&] {
               (void)optimizer_of("torch.optim:LBFGS", Value::map({{"line_search_fn", "armijo"}}), weight);
             }),
             Catch::Contains("strong_wolfe"));
}

TEST_CASE("OneCycleLR moves the momentum of the optimizer against the rate") {
  const Value all = references("schedulers.json");
  for (const Value& reference : all.items()) {
    const Value* momenta = reference.find("momenta");
    if (!momenta) continue;
    // With a gradient of one and no rate to speak of, the buffer tells the momentum: b' = m b + 1.
    at::Tensor weight = at::zeros({1}).requires_grad_();
    const auto optimizer =
        optimizer_of("torch.optim:SGD", Value::map({{"lr", 0.1}, {"momentum", 0.9}}), weight);
    const auto scheduler =
        scheduler_of(reference.at("factory").as_string(), reference.at("kwargs"), *optimizer);
    double buffer = 0;
    for (std::size_t step = 0; step + 1 < momenta->size(); ++step) {
      weight.mutable_grad() = at::ones({1});
      optimizer->step();
      buffer = step == 0 ? 1 : momenta->items()[step].as_number() * buffer + 1;
      INFO(call_text(reference) << ", step " << step);
      CHECK(optimizer->state().tensors.at("weight.momentum_buffer").item<double>() ==
            Approx(buffer).epsilon(1e-5));
      scheduler->step();
    }
  }
}

TEST_CASE("the lr of an epoch is the one used in it, and the first one is used once") {
  const std::string path = std::string(NEXUML_TEST_DATA) + "/cases/T07-scheduler-order/tables.json";
  Diagnostics problems;
  const Value tables = parse_json(read_text_file(path, problems), path, problems);
  REQUIRE(problems.empty());
  for (const Value& table : tables.items()) {
    INFO(table.at("name").as_string());
    at::Tensor weight = at::zeros({1}).requires_grad_();
    const auto optimizer =
        optimizer_of("torch.optim:SGD", Value::map({{"lr", table.at("lr0").as_number()}}), weight);
    const auto scheduler = scheduler_of("torch.optim.lr_scheduler:" + table.at("name").as_string(),
                                        table.at("kwargs"), *optimizer);
    for (const double used : numbers(table.at("lr_used"))) {
      CHECK(optimizer->groups()[0].lr == Approx(used).epsilon(1e-6).margin(1e-12));
      weight.mutable_grad() = at::ones({1});
      optimizer->step();
      scheduler->step();
    }
    CHECK(weight.item<double>() ==
          Approx(table.at("weight_after_6_unit_gradients").as_number()).epsilon(1e-6));
  }
}
