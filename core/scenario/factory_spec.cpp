// Portable constructor calls: the name of a target and JSON-safe arguments.
#include <nexuml/scenario.h>

namespace nexuml {
namespace {

// The three fields that every such call has, in the order in which documents write them.
template <class Spec>
Field describe_call(Schema<Spec>& s, TargetKind kind) {
  Field factory = s.field("factory", &Spec::factory).doc("The target to call, as module:name.");
  s.field("args", &Spec::args).doc("Positional arguments.");
  s.field("kwargs", &Spec::kwargs).doc("Keyword arguments.");
  s.factory_of(kind);
  return factory;
}

}  // namespace

void OptimizerSpec::describe(Schema<OptimizerSpec>& s) {
  s.summary("The optimizer; it gets all parameters of the pipeline.");
  describe_call(s, TargetKind::optimizer);
}

void SchedulerSpec::describe(Schema<SchedulerSpec>& s) {
  s.summary("The learning rate scheduler; it gets the optimizer.");
  describe_call(s, TargetKind::scheduler);
  s.field("warmup", &SchedulerSpec::warmup)
      .doc("Epochs of warm-up, or a share of max_epochs such as '5%'. NexuML 0.2.1 reads and ignores it.");
}

void StrategySpec::describe(Schema<StrategySpec>& s) {
  s.summary("A training strategy.");
  describe_call(s, TargetKind::strategy).required();
}

void WriterSpec::describe(Schema<WriterSpec>& s) {
  s.summary("The writer of an exported data set.");
  describe_call(s, TargetKind::writer);
}

void CallbackSpec::describe(Schema<CallbackSpec>& s) {
  s.summary("A callback of the training loop.");
  describe_call(s, TargetKind::callback).required();
}

}  // namespace nexuml
