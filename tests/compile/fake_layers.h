// Small layers that show one behaviour each; registered by the test program.
#pragma once

#include <nexuml/compile.h>
#include <nexuml/layer.h>
#include <nexuml/module.h>
#include <nexuml/registry.h>
#include <nexuml/scenario.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace fake {

using namespace nexuml;

// A linear layer: last dimension -> size. Publishes `input_size`.
struct Dense {
  std::int64_t size = 8;
  std::string activation = "fake.nn:Double";

  static void describe(Schema<Dense>& s);
  Shapes infer(const LayerInferContext& context) const;
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};

// The same without infer.
struct Opaque {
  std::int64_t size = 8;

  static void describe(Schema<Opaque>& s);
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};

// Batch normalisation and dropout, without infer: a pass over it must leave no trace.
struct Noisy {
  std::int64_t size = 8;

  static void describe(Schema<Noisy>& s);
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};

// A loss over one input and an integer label; needs the number of classes.
struct ClassLoss {
  bool needs_classes = true;

  static void describe(Schema<ClassLoss>& s);
  Shapes infer(const LayerInferContext& context) const;
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};

// The mean of its inputs, a scalar.
struct MeanLoss {
  std::int64_t unused = 0;

  static void describe(Schema<MeanLoss>& s);
  Shapes infer(const LayerInferContext& context) const;
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};

// Two named inputs: `left` minus `right`.
struct Difference {
  std::int64_t unused = 0;

  static void describe(Schema<Difference>& s);
  Shapes infer(const LayerInferContext& context) const;
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};

// Takes the metadata `width` and scales by it.
struct ByWidth {
  std::int64_t unused = 0;

  static void describe(Schema<ByWidth>& s);
  Shapes infer(const LayerInferContext& context) const;
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};

// Misbehaves while it is built, as `how` says: throws, null, draws, lies, waits.
struct Rogue {
  std::string how = "throws";

  static void describe(Schema<Rogue>& s);
  Shapes infer(const LayerInferContext& context) const;
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};

// Keeps the sum of its inputs in shared storage / adds what is kept there.
struct Writer {
  std::string key = "sum";

  static void describe(Schema<Writer>& s);
  Shapes infer(const LayerInferContext& context) const;
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};
struct Reader {
  std::string key = "sum";

  static void describe(Schema<Reader>& s);
  Shapes infer(const LayerInferContext& context) const;
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};

// Learns the mean of its input after training and subtracts it.
struct Centre {
  static constexpr bool post_train_fit = true;
  std::int64_t unused = 0;

  static void describe(Schema<Centre>& s);
  Shapes infer(const LayerInferContext& context) const;
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};

// A module target: in_features -> out_features, with `bias` like torch.nn.Linear.
struct LinearTarget {
  std::int64_t in_features = 1;
  std::int64_t out_features = 1;
  bool bias = true;

  static void describe(Schema<LinearTarget>& s);
  TensorSpec infer(const TensorSpec& input) const;
  std::shared_ptr<TensorModule> build(const ModuleBuildContext& context) const;
};

// Registered nowhere.
struct Unregistered {
  double factor = 2.0;

  static void describe(Schema<Unregistered>& s);
  Shapes infer(const LayerInferContext& context) const;
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};

struct Source {
  std::int64_t width = 6;
  bool complete = true;

  static void describe(Schema<Source>& s);
  std::optional<DataDeclaration> declare() const;
  std::shared_ptr<Dataset> build(const DataContext& context) const;
};

// What scenario files name when they name no loader.
struct Loader {
  std::int64_t unused = 0;

  static void describe(Schema<Loader>& s);
  std::shared_ptr<LoaderBackend> build(const LoaderBuildContext& context) const;
};

ComponentRegistry registry();

// features [6] float32, label `class` with 3 classes, and the given layers in the stage `Main`.
ScenarioSpec scenario(std::vector<LayerSpec> layers);

inline LayerSpec layer(AnyLayer component, Keys in, Keys out) {
  return {.component = std::move(component), .keys_in = std::move(in), .keys_out = std::move(out)};
}

// The error that a call throws; fails the test when it throws none.
Diagnostics thrown_by(const std::function<void()>& call);
std::string codes(const Diagnostics& problems, bool errors_only = true);

}  // namespace fake
