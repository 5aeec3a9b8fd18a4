// Recipes of live objects: built with what is passed, resolved from a model, verified on a copy.
#include <ATen/Context.h>
#include <ATen/ops/rand.h>
#include <nexuml/model_recipe.h>
#include <nexuml/recipe_build.h>
#include <nexuml/testing/round_trips.h>
#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>

using namespace nexuml;
using Catch::Contains;

namespace {

using Module = TargetCall<TargetKind::module>;

struct LinearArguments {
  std::int64_t in_features = 0;
  std::int64_t out_features = 0;

  static void describe(Schema<LinearArguments>& s) {
    s.field("in_features", &LinearArguments::in_features).required().at_least(1);
    s.field("out_features", &LinearArguments::out_features).required().at_least(1);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::Linear(in_features, out_features));
  }
};

// Keeps its arguments.
struct BlockArguments {
  std::int64_t size = 2;
  double gain = 1.0;
  static void describe(Schema<BlockArguments>& s) {
    s.field("size", &BlockArguments::size).at_least(1);
    s.field("gain", &BlockArguments::gain);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const;
};
class Block : public torch::nn::Module, public BuiltFrom<BlockArguments> {
 public:
  explicit Block(const BlockArguments& arguments) : BuiltFrom(arguments) {
    linear = register_module("linear", torch::nn::Linear(arguments.size, arguments.size));
  }
  at::Tensor forward(const at::Tensor& input) { return linear->forward(input) * arguments().gain; }
  torch::nn::Linear linear{nullptr};
};
std::shared_ptr<TensorModule> BlockArguments::build(const ModuleBuildContext&) const {
  return tensor_module(std::make_shared<Block>(*this));
}

// Holds modules in every way.
struct TreeArguments {
  Module left, right;
  std::vector<Module> members;
  static void describe(Schema<TreeArguments>& s) {
    s.field("left", &TreeArguments::left).required();
    s.field("right", &TreeArguments::right).required();
    s.field("members", &TreeArguments::members);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext& context) const;
};
class Tree : public torch::nn::Module, public BuiltFrom<TreeArguments> {
 public:
  Tree(const TreeArguments& arguments, std::shared_ptr<torch::nn::Module> left,
       std::shared_ptr<torch::nn::Module> right, std::vector<std::shared_ptr<torch::nn::Module>> members)
      : BuiltFrom(arguments) {
    register_module("left", std::move(left));
    register_module("right", std::move(right));
    auto list = std::make_shared<torch::nn::Module>();
    for (std::size_t i = 0; i < members.size(); ++i) list->register_module(std::to_string(i), members[i]);
    register_module("members", list);
  }
  at::Tensor forward(const at::Tensor& input) { return input; }
};
std::shared_ptr<TensorModule> TreeArguments::build(const ModuleBuildContext& context) const {
  std::vector<std::shared_ptr<torch::nn::Module>> built;
  for (const Module& member : members) built.push_back(member.build(*context.targets, context)->module());
  return tensor_module(std::make_shared<Tree>(*this, left.build(*context.targets, context)->module(),
                                              right.build(*context.targets, context)->module(),
                                              std::move(built)));
}

// Says by itself how to rebuild it: with what a test wants it to say.
struct SpokenArguments {
  std::int64_t doubled = 2;
  static void describe(Schema<SpokenArguments>& s) { s.field("doubled", &SpokenArguments::doubled); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const;
};
class Spoken : public torch::nn::Module, public HasCheckpointSpec {
 public:
  explicit Spoken(std::int64_t size) : size_(size) {
    register_module("linear", torch::nn::Linear(size, size));
    says = [this](const ComponentRegistry& registry) {
      return create_model_spec(registry, SpokenArguments{.doubled = 2 * size_}).to_value();
    };
  }
  at::Tensor forward(const at::Tensor& input) { return input; }
  Value checkpoint_spec(const ComponentRegistry& registry) const override { return says(registry); }
  std::function<Value(const ComponentRegistry&)> says;

 private:
  std::int64_t size_;
};
std::shared_ptr<TensorModule> SpokenArguments::build(const ModuleBuildContext&) const {
  return tensor_module(std::make_shared<Spoken>(doubled / 2));
}

// Keeps other arguments than it was built from.
struct ForgetfulArguments {
  std::int64_t size = 2;
  static void describe(Schema<ForgetfulArguments>& s) { s.field("size", &ForgetfulArguments::size); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const;
};
class Forgetful : public torch::nn::Module, public BuiltFrom<ForgetfulArguments> {
 public:
  explicit Forgetful(std::int64_t size) : BuiltFrom(ForgetfulArguments{.size = size * 2}) {
    register_module("linear", torch::nn::Linear(size, size));
  }
  at::Tensor forward(const at::Tensor& input) { return input; }
};
std::shared_ptr<TensorModule> ForgetfulArguments::build(const ModuleBuildContext&) const {
  return tensor_module(std::make_shared<Forgetful>(size));
}

// Its target forgets to hand the gain on, so what it builds has the default.
struct DroppingArguments {
  std::int64_t size = 2;
  double gain = 1.0;
  static void describe(Schema<DroppingArguments>& s) {
    s.field("size", &DroppingArguments::size);
    s.field("gain", &DroppingArguments::gain);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const;
};
class Dropping : public torch::nn::Module, public BuiltFrom<DroppingArguments> {
 public:
  explicit Dropping(const DroppingArguments& arguments) : BuiltFrom(arguments) {
    register_module("linear", torch::nn::Linear(arguments.size, arguments.size));
  }
  at::Tensor forward(const at::Tensor& input) { return input; }
};
std::shared_ptr<TensorModule> DroppingArguments::build(const ModuleBuildContext&) const {
  return tensor_module(std::make_shared<Dropping>(DroppingArguments{.size = size}));
}

// Another way to the same module.
struct SquareArguments {
  std::int64_t width = 2;
  static void describe(Schema<SquareArguments>& s) { s.field("width", &SquareArguments::width); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(std::make_shared<Block>(BlockArguments{.size = width}));
  }
};

class Plain final : public Optimizer {
 public:
  using Optimizer::Optimizer;
  void step() override {}
};
struct PlainArguments {
  double lr = 0.5;
  static void describe(Schema<PlainArguments>& s) { s.field("lr", &PlainArguments::lr); }
  std::shared_ptr<Optimizer> build(const OptimizerBuildContext& context) const {
    if (lr < 0) throw std::runtime_error("lr below zero");
    return std::make_shared<Plain>(context, lr);
  }
};

class Constant final : public Scheduler {
 public:
  using Scheduler::Scheduler;

 protected:
  double next_lr(std::size_t, double base, double) const override { return base; }
};
struct ConstantArguments {
  static void describe(Schema<ConstantArguments>&) {}
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext& context) const {
    return std::make_shared<Constant>(context.optimizer);
  }
};

ComponentRegistry registry() {
  return ComponentRegistry().with_program([](Registration& r) {
    r.add_target<LinearArguments>("acme.nn:Linear");
    r.add_target<BlockArguments>("acme.nn:Block");
    r.add_target<TreeArguments>("acme.nn:Tree");
    r.add_target<SpokenArguments>("acme.nn:Spoken");
    r.add_target<ForgetfulArguments>("acme.nn:Forgetful");
    r.add_target<PlainArguments>("acme.optim:Plain", {.injected = {"params"}});
    r.add_target<ConstantArguments>("acme.optim:Constant", {.injected = {"optimizer"}});
  });
}

Module call(const Recipe& recipe) {
  return {.factory = recipe.target(), .args = Value::list(), .kwargs = recipe.arguments()};
}

std::vector<NamedParameter> parameters(const torch::nn::Module& model) {
  std::vector<NamedParameter> result;
  for (const auto& item : model.named_parameters()) result.push_back({item.key(), item.value()});
  return result;
}

}  // namespace

TEST_CASE("a model, its optimizer and its scheduler are built from recipes with what is passed") {
  const auto known = registry();
  const auto model =
      build_model(create_model_spec(known, LinearArguments{3, 2}), known, {{"device", at::Device("cpu")}});
  CHECK(model->parameters().size() == 2);
  const auto optimizer = build<TargetKind::optimizer>(create_model_spec(known, PlainArguments{.lr = 0.25}),
                                                      known, {{"params", parameters(*model)}});
  CHECK(optimizer->groups().front().lr == 0.25);
  CHECK(optimizer->groups().front().parameters.size() == 2);
  const auto scheduler = build<TargetKind::scheduler>(create_model_spec(known, ConstantArguments{}), known,
                                                      {{"optimizer", optimizer.get()}});
  CHECK(scheduler->last_lr().front() == 0.25);
}

TEST_CASE(
    "arguments that are missing, surplus, of another type or passed twice are one error that names them "
    "all") {
  const auto known = registry();
  const Recipe optimizer = create_model_spec(known, PlainArguments{});
  CHECK_THROWS_WITH(build<TargetKind::optimizer>(optimizer, known),
                    Contains("E743") && Contains("'params' (named parameters) was not passed") &&
                        Contains(optimizer.timestamp()));
  CHECK_THROWS_WITH(
      build<TargetKind::optimizer>(
          optimizer, known,
          {{"params", std::int64_t{3}}, {"device", at::Device("cpu")}, {"lr", std::int64_t{1}}}),
      Contains("'params' has to be named parameters, got a whole number") &&
          Contains("'device' was passed, which no optimizer takes") &&
          Contains("'lr' was passed, but the recipe has it"));
  CHECK_THROWS_WITH(build<TargetKind::scheduler>(create_model_spec(known, ConstantArguments{}), known,
                                                 {{"optimizer", static_cast<Optimizer*>(nullptr)}}),
                    Contains("'optimizer' is null"));
  CHECK_THROWS_WITH(build<TargetKind::scheduler>(optimizer, known), Contains("E736"));
}

TEST_CASE("what a target throws while it is built names the target and the recipe's time") {
  const auto known = registry();
  const Recipe recipe = create_model_spec(known, PlainArguments{.lr = -1});
  CHECK_THROWS_WITH(build<TargetKind::optimizer>(recipe, known, {{"params", std::vector<NamedParameter>()}}),
                    Contains("E746") && Contains("acme.optim.Plain") && Contains(recipe.timestamp()) &&
                        Contains("lr below zero"));
}

TEST_CASE("a model that keeps its arguments has a recipe, verified without touching the random stream") {
  const auto known = registry();
  const Block block(BlockArguments{.size = 3, .gain = 0.5});
  at::manual_seed(7);
  const at::Tensor expected = at::rand({4});
  at::manual_seed(7);
  const Recipe recipe = model_recipe(block, known);
  CHECK(at::rand({4}).equal(expected));
  CHECK(recipe.fields().at("gain") == Value(0.5));
  const auto rebuilt = std::dynamic_pointer_cast<Block>(build_model(recipe, known));
  REQUIRE(rebuilt);
  CHECK(rebuilt->arguments().size == 3);
  CHECK(nexuml::testing::round_trips(block.arguments(), known));
}

TEST_CASE("checkpoint_spec comes first, null declines, and anything else is refused") {
  const auto known = registry();
  Spoken spoken(3);
  CHECK(model_recipe(spoken, known).fields().at("doubled") == Value(6));
  spoken.says = [](const ComponentRegistry&) { return Value(); };
  CHECK_THROWS_WITH(model_recipe(spoken, known),
                    Contains("E747") && Contains("says nothing of how it was built"));
  spoken.says = [](const ComponentRegistry&) { return Value::list({1, 2}); };
  CHECK_THROWS_WITH(model_recipe(spoken, known), Contains("has to give a recipe or null, got list of 2"));
  spoken.says = [](const ComponentRegistry& all) {
    return create_model_spec(all, SpokenArguments{.doubled = 8}).to_value();
  };
  CHECK_THROWS_WITH(model_recipe(spoken, known),
                    Contains("does not rebuild the model") && Contains("linear.weight"));
  spoken.says = [](const ComponentRegistry& all) {
    return create_model_spec(all, BlockArguments{.size = 3}).to_value();
  };
  CHECK_THROWS_WITH(model_recipe(spoken, known), Contains("Block was built"));
  spoken.says = [](const ComponentRegistry&) -> Value { throw std::runtime_error("no idea"); };
  CHECK_THROWS_WITH(model_recipe(spoken, known), Contains("no idea"));
}

TEST_CASE("a model that keeps other arguments than it was built from is found out") {
  CHECK_THROWS_WITH(model_recipe(Forgetful(2), registry()), Contains("does not rebuild the model"));
}

TEST_CASE(
    "a rebuilt copy finds out a dropped argument, a wrong shape, a wrong class, a changed model and a wrong "
    "recipe given by hand") {
  const auto known = registry().with_program([](Registration& r) {
    r.add_target<DroppingArguments>("acme.nn:Dropping");
    r.add_target<SquareArguments>("acme.nn:square");
  });
  const Dropping dropped({.size = 2, .gain = 0.5});
  CHECK_THROWS_WITH(model_recipe(dropped, known), Contains("gain = number 1") && Contains("number 0.5"));
  CHECK_NOTHROW(model_recipe(Dropping({.size = 2}), known));

  const auto by_hand = [&](const torch::nn::Module& model, const Recipe& recipe) {
    verify_model_recipe(model, recipe, known);
  };
  Block block(BlockArguments{.size = 3});
  CHECK_NOTHROW(by_hand(block, create_model_spec(known, BlockArguments{.size = 3})));
  CHECK_THROWS_WITH(by_hand(block, create_model_spec(known, BlockArguments{.size = 4})),
                    Contains("parameter linear.weight is [4, 4]") && Contains("in the model [3, 3]"));
  CHECK_THROWS_WITH(by_hand(block, create_model_spec(known, SpokenArguments{.doubled = 6})),
                    Contains("a ") && Contains("Spoken was built, the model is a") && Contains("Block"));
  CHECK_THROWS_WITH(by_hand(block, create_model_spec(known, BlockArguments{.size = 3, .gain = 2})),
                    Contains("gain = number 2") && Contains("number 1"));
  CHECK_NOTHROW(by_hand(block, create_model_spec(known, SquareArguments{.width = 3})));
  block.linear->to(at::kDouble);
  CHECK_THROWS_WITH(model_recipe(block, known), Contains("Float") && Contains("Double"));
}

TEST_CASE("a module that says nothing of itself has no recipe") {
  const auto known = registry();
  CHECK_THROWS_WITH(model_recipe(*torch::nn::Linear(2, 2), known), Contains("E747") && Contains("BuiltFrom"));
  const Recipe recipe = create_model_spec(known, LinearArguments{2, 2});
  CHECK_NOTHROW(verify_model_recipe(*torch::nn::Linear(2, 2), recipe, known));
  CHECK_THROWS_WITH(verify_model_recipe(*torch::nn::Linear(2, 3), recipe, known), Contains("weight"));
}

TEST_CASE("children are asked at every depth, before the arguments that they stand for") {
  const auto known = registry();
  TreeArguments inner;
  inner.left = call(create_model_spec(known, BlockArguments{}));
  inner.right = call(create_model_spec(known, LinearArguments{2, 3}));
  inner.members = {call(create_model_spec(known, BlockArguments{.size = 4})),
                   call(create_model_spec(known, SpokenArguments{.doubled = 6}))};
  TreeArguments outer;
  outer.left = call(create_model_spec(known, inner));
  outer.right = call(create_model_spec(known, BlockArguments{.size = 5}));
  const auto tree = build_model(create_model_spec(known, outer), known);
  const Recipe recipe = model_recipe(*tree, known);
  CHECK(recipe == create_model_spec(known, outer));

  // A live child that was put in the place of another is what is written.
  auto& live = dynamic_cast<Tree&>(*tree);
  live.replace_module("right", std::make_shared<Block>(BlockArguments{.size = 6, .gain = 2}));
  const Recipe replaced = model_recipe(live, known);
  CHECK(replaced.fields().at("right").at("size") == Value(6));
  CHECK(build_model(replaced, known)->named_parameters()["right.linear.weight"].sizes() ==
        at::IntArrayRef({6, 6}));
}

TEST_CASE("a child that stands in several places is written once and is one module again") {
  const auto known = registry();
  for (const bool describes_itself : {true, false}) {
    const Module shared = describes_itself ? call(create_model_spec(known, BlockArguments{}))
                                           : call(create_model_spec(known, LinearArguments{2, 2}));
    std::shared_ptr<torch::nn::Module> child;
    if (describes_itself)
      child = std::make_shared<Block>(BlockArguments{});
    else
      child = torch::nn::Linear(2, 2).ptr();
    const Tree tree(TreeArguments{.left = shared, .right = shared, .members = {shared}}, child, child,
                    {child});
    const Recipe recipe = model_recipe(tree, known);
    CHECK(recipe.fields().at("right").at("cls_path") == Value("nexuml.recipe.Shared"));
    CHECK(recipe.fields().at("right").at("path") == Value("left"));
    const auto rebuilt =
        build_model(create_model_spec_from_json(known, recipe.to_json(), "tree.json"), known);
    const auto modules = rebuilt->named_modules({}, false);
    CHECK(modules["left"] == modules["right"]);
    CHECK(modules["left"] == modules["members.0"]);
    // And once more, from what was rebuilt.
    CHECK(model_recipe(*rebuilt, known) == recipe);
  }
}

TEST_CASE("equal children that are not shared stay apart") {
  const auto known = registry();
  const Module one = call(create_model_spec(known, BlockArguments{}));
  const auto tree = build_model(create_model_spec(known, TreeArguments{.left = one, .right = one}), known);
  const auto modules = build_model(model_recipe(*tree, known), known)->named_modules({}, false);
  CHECK(modules["left"] != modules["right"]);
}

TEST_CASE("a shared module whose place builds none is refused") {
  const auto known = registry();
  Value recipe =
      create_model_spec(known, TreeArguments{.left = call(create_model_spec(known, BlockArguments{})),
                                             .right = call(create_model_spec(known, BlockArguments{}))})
          .to_value();
  for (const char* path : {"nowhere", "right", "left.size", "members[3]", ""}) {
    recipe.set("right", Value::map({{"cls_path", "nexuml.recipe.Shared"},
                                    {"timestamp", recipe_timestamp_now()},
                                    {"path", path}}));
    CHECK_THROWS_WITH(build_model(create_model_spec_from_json(known, recipe), known), Contains("E745"));
  }
  CHECK_THROWS_WITH(create_model_spec(known, "nexuml.recipe.Shared", {{"path", "left"}}), Contains("E745"));
}
