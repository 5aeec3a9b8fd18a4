// One component of each kind that keeps its contract.
#include <nexuml/data.h>
#include <nexuml/evaluation.h>
#include <nexuml/layer.h>
#include <nexuml/registration.h>

namespace kept {

class DenseRuntime final : public nexuml::PipelineLayer {
 public:
  DenseRuntime(const nexuml::LayerBuildContext& context, std::int64_t size) : PipelineLayer(context) {
    weight_ = register_parameter("weight", torch::randn({context.input().shape.back(), size}));
  }
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    return input.matmul(weight_);
  }

 private:
  at::Tensor weight_;
};

struct Dense {
  std::int64_t size = 4;
  std::string name;

  static void describe(nexuml::Schema<Dense>& s) {
    s.summary("A matrix.");
    s.field("size", &Dense::size).at_least(1);
    s.field("name", &Dense::name).required();
  }
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const {
    nexuml::TensorSpec spec = context.input();
    if (spec.shape.empty() || spec.dtype != nexuml::DType::float32)
      context.fail("expected [batch, ..., features]");
    spec.shape.back() = size;
    return context.single_output(spec);
  }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const {
    return std::make_shared<DenseRuntime>(context, size);
  }
};

struct Ramp {
  std::int64_t length = 6;

  static void describe(nexuml::Schema<Ramp>& s) { s.field("length", &Ramp::length).at_least(1); }
  nexuml::DataDeclaration declare() const {
    nexuml::DataDeclaration data;
    data.features["features"] = {{2}, nexuml::DType::float32};
    data.num_samples = length;
    return data;
  }
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const {
    nexuml::TensorDict x;
    x.set(context.feature_key, torch::arange(length * 2, torch::kFloat).view({length, 2}));
    return std::make_shared<nexuml::TensorDataset>(std::move(x));
  }
};

class CountRuntime final : public nexuml::EvalAlgorithm {
 public:
  void eval_batch(const nexuml::EvalBatch& batch) override { rows_ += batch.size; }
  nexuml::OrderedMap<double> results() const override { return {{"rows", static_cast<double>(rows_)}}; }

 private:
  std::int64_t rows_ = 0;
};

struct Count {
  bool loud = false;

  static void describe(nexuml::Schema<Count>& s) { s.field("loud", &Count::loud); }
  std::shared_ptr<nexuml::EvalAlgorithm> build(const nexuml::EvalBuildContext&) const {
    return std::make_shared<CountRuntime>();
  }
};

class InOrderRuntime final : public nexuml::LoaderBackend {
 public:
  std::unique_ptr<nexuml::DataLoader> create_loader(const nexuml::LoaderRequest& request) const override {
    return nexuml::make_torch_loader_backend()->create_loader(request);
  }
};

struct InOrder {
  bool quiet = true;

  static void describe(nexuml::Schema<InOrder>& s) { s.field("quiet", &InOrder::quiet); }
  std::shared_ptr<nexuml::LoaderBackend> build(const nexuml::LoaderBuildContext&) const {
    return std::make_shared<InOrderRuntime>();
  }
};

}  // namespace kept

NEXUML_LIBRARY(registry) {
  registry.add<kept::Dense>("kept_dense");
  registry.add<kept::Ramp>("kept_ramp");
  registry.add<kept::Count>("kept_count");
  registry.add<kept::InOrder>("kept_in_order");
}
