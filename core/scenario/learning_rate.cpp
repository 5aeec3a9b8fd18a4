#include "scenario/learning_rate.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenario/tree_path.h"

namespace nexuml {
namespace {

constexpr const char* lr_path = "training.lr";

struct OwnRate {
  const Value* value = nullptr;
  std::string key_path;
};

// Where the call gives `lr`: by name, or by position.
OwnRate own_rate(const Value& call, const TargetNode& optimizer) {
  if (const Value* rate = call.at("kwargs").find("lr")) return {rate, "training.optimizer.kwargs.lr"};
  const auto& arguments = optimizer.arguments->fields;
  const auto lr = std::ranges::find(arguments, "lr", &FieldNode::name);
  const auto index = static_cast<std::size_t>(lr - arguments.begin());
  if (index < arguments.size() && index < call.at("args").size())
    return {&call.at("args").items()[index], fmt::format("training.optimizer.args[{}]", index)};
  return {};
}

bool takes_rate(const TargetNode& optimizer) {
  return optimizer.arguments->find("lr") != nullptr;
}

std::string place(const Position& position) {
  if (!position.known()) return {};
  return fmt::format(" ({}:{}:{})", position.file ? *position.file : "", position.line, position.column);
}

// True for what documents get where the optimizer's kwargs are not written.
bool is_unwritten_default(const Value& rate) {
  return !rate.position().known() && rate.is_number() && rate.as_number() == TrainingSpec{}.lr;
}

}  // namespace

OptimizerSpec optimizer_with_training_lr(const TrainingSpec& training, const TargetNode& optimizer) {
  OptimizerSpec result = training.optimizer;
  if (!takes_rate(optimizer)) return result;
  const auto& arguments = optimizer.arguments->fields;
  const auto index =
      static_cast<std::size_t>(std::ranges::find(arguments, "lr", &FieldNode::name) - arguments.begin());
  if (index < result.args.size())
    result.args.items()[index] = training.lr;
  else
    result.kwargs.set("lr", training.lr);
  return result;
}

void report_learning_rate(const Value& scenario, const Names& names, Diagnostics& problems) {
  const Value& call = *find_path(scenario, "training.optimizer");
  Diagnostics reported_already;
  const auto optimizer =
      names.target(TargetKind::optimizer, call.at("factory").as_string(), {}, reported_already);
  if (!optimizer || !takes_rate(*optimizer)) return;
  const OwnRate own = own_rate(call, *optimizer);
  const Value& used = *find_path(scenario, lr_path);
  if (!own.value || !own.value->is_number() || own.value->as_number() == used.as_number()) return;
  if (is_unwritten_default(*own.value)) return;
  const Position& at = used.position().known() ? used.position() : own.value->position();
  problems
      .warning(
          "W610",
          fmt::format("{}{} = {} replaces {}{} = {}", lr_path,
                      used.position().known() ? place(used.position()) : " (its default)", used.as_number(),
                      own.key_path, place(own.value->position()), own.value->as_number()),
          Where(at, used.position().known() ? lr_path : own.key_path))
      .hint = fmt::format("write the rate that you mean as {}", lr_path);
}

}  // namespace nexuml
