// Components that break their contracts, one rule each.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <nexuml/data.h>
#include <nexuml/layer.h>
#include <nexuml/registration.h>
#include <nexuml/type_serializer.h>

#include <csignal>
#include <ctime>
#include <fstream>

namespace broken {

// A share that is written as a percentage and read as a share.
struct Share {
  double value = 0.5;
};

}  // namespace broken

template <>
struct nexuml::TypeSerializer<broken::Share> {
  static constexpr const char* name = "broken.Share";
  static Value to_value(const broken::Share& share) { return Value(100 * share.value); }
  static broken::Share from_value(const Value& value) { return {value.as_number()}; }
};

namespace broken {

class Identity final : public nexuml::PipelineLayer {
 public:
  using PipelineLayer::PipelineLayer;
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override { return input; }
};

// Infers another shape than it gives.
struct InfersWrong {
  std::int64_t size = 3;

  static void describe(nexuml::Schema<InfersWrong>& s) { s.field("size", &InfersWrong::size); }
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const {
    return context.single_output({{size}, nexuml::DType::float32});
  }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const {
    return std::make_shared<Identity>(context);
  }
};

// Draws its weights from a generator of its own, seeded by the clock.
class OwnChanceRuntime final : public nexuml::PipelineLayer {
 public:
  explicit OwnChanceRuntime(const nexuml::LayerBuildContext& context) : PipelineLayer(context) {
    static std::uint64_t calls = 0;
    const auto generator =
        at::detail::createCPUGenerator(static_cast<std::uint64_t>(std::time(nullptr)) + ++calls);
    register_parameter("weight", torch::randn({4}, generator));
  }
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override { return input; }
};
struct OwnChance {
  std::int64_t size = 3;

  static void describe(nexuml::Schema<OwnChance>& s) { s.field("size", &OwnChance::size); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const {
    return std::make_shared<OwnChanceRuntime>(context);
  }
};

// Crashes when it runs.
class CrashesRuntime final : public nexuml::PipelineLayer {
 public:
  using PipelineLayer::PipelineLayer;
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    std::raise(SIGSEGV);
    return input;
  }
};
struct Crashes {
  std::int64_t size = 3;

  static void describe(nexuml::Schema<Crashes>& s) { s.field("size", &Crashes::size); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const {
    return std::make_shared<CrashesRuntime>(context);
  }
};

// Refuses its own defaults.
struct RefusesDefaults {
  std::int64_t size = 0;

  static void describe(nexuml::Schema<RefusesDefaults>& s) {
    s.field("size", &RefusesDefaults::size);
    s.check([](const RefusesDefaults& layer, nexuml::RuleProblems& problems) {
      if (layer.size == 0) problems.add("size", "a size is needed");
    });
  }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const {
    return std::make_shared<Identity>(context);
  }
};

// Does not keep what it is given when it is written and read.
struct Forgets {
  std::int64_t size = 3;
  Share share;

  static void describe(nexuml::Schema<Forgets>& s) {
    s.field("size", &Forgets::size);
    s.field("share", &Forgets::share);
  }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const {
    return std::make_shared<Identity>(context);
  }
};

// Gives other numbers for another number of threads.
class CountsThreadsRuntime final : public nexuml::PipelineLayer {
 public:
  using PipelineLayer::PipelineLayer;
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    return input * at::get_num_threads();
  }
};
struct CountsThreads {
  std::int64_t size = 3;

  static void describe(nexuml::Schema<CountsThreads>& s) { s.field("size", &CountsThreads::size); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const {
    return std::make_shared<CountsThreadsRuntime>(context);
  }
};

// Is fitted after training and does not say so.
class FittedRuntime final : public nexuml::PostTrainLayer {
 public:
  using PostTrainLayer::PostTrainLayer;
  void collect_batch(const nexuml::Batch& batch) override { mean_ = input(batch, 0).mean(); }
  void finalize_fit() override {}
  void transform(nexuml::Batch& batch) override { set_output(batch, input(batch, 0) - mean_); }

 private:
  at::Tensor mean_;
};
struct FittedInSilence {
  std::int64_t size = 3;

  static void describe(nexuml::Schema<FittedInSilence>& s) { s.field("size", &FittedInSilence::size); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const {
    return std::make_shared<FittedRuntime>(context);
  }
};

// Builds nothing.
struct BuildsNothing {
  std::int64_t size = 3;

  static void describe(nexuml::Schema<BuildsNothing>& s) { s.field("size", &BuildsNothing::size); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const { return nullptr; }
};

// Rows that change from one reading to the next.
class RestlessDataset final : public nexuml::Dataset {
 public:
  std::int64_t size() const override { return 5; }
  nexuml::Batch gather(std::span<const std::int64_t> indices) const override {
    static float calls = 0;
    nexuml::Batch batch;
    batch.x.set("features", torch::full({static_cast<std::int64_t>(indices.size()), 2}, ++calls));
    return batch;
  }
  nexuml::OrderedMap<nexuml::TensorSpec> features() const override {
    return {{"features", {{2}, nexuml::DType::float32}}};
  }
};
struct Restless {
  std::int64_t size = 5;

  static void describe(nexuml::Schema<Restless>& s) { s.field("size", &Restless::size); }
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext&) const {
    return std::make_shared<RestlessDataset>();
  }
};

// Five rows of two numbers with a label of three, told to be something else.
class RowsOfTwo : public nexuml::Dataset {
 public:
  std::int64_t size() const override { return 5; }
  nexuml::Batch gather(std::span<const std::int64_t> indices) const override {
    const auto rows = static_cast<std::int64_t>(indices.size());
    nexuml::Batch batch;
    batch.x.set("features", torch::ones({rows, 2}));
    batch.y = nexuml::TensorDict{{"label", torch::ones({rows, 3})}};
    return batch;
  }
  nexuml::OrderedMap<nexuml::TensorSpec> features() const override {
    return {{"features", {{nexuml::unknown_size}, nexuml::DType::float32}}};
  }
  nexuml::OrderedMap<nexuml::TensorSpec> labels() const override {
    return {{"label", {{3}, nexuml::DType::float32}}};
  }
};
class FeaturesOfThree final : public RowsOfTwo {
 public:
  nexuml::OrderedMap<nexuml::TensorSpec> features() const override {
    return {{"features", {{3}, nexuml::DType::float32}}};
  }
};
class LabelsOfFour final : public RowsOfTwo {
 public:
  nexuml::OrderedMap<nexuml::TensorSpec> labels() const override {
    return {{"label", {{4}, nexuml::DType::float32}}};
  }
};
// One row more than was asked for.
class OneRowMore final : public RowsOfTwo {
 public:
  nexuml::Batch gather(std::span<const std::int64_t> indices) const override {
    nexuml::Batch batch = RowsOfTwo::gather(indices);
    batch.x.set("features", torch::ones({static_cast<std::int64_t>(indices.size()) + 1, 2}));
    return batch;
  }
};
// Labels without the dimension of the rows.
class LabelsWithoutRows final : public RowsOfTwo {
 public:
  nexuml::Batch gather(std::span<const std::int64_t> indices) const override {
    nexuml::Batch batch = RowsOfTwo::gather(indices);
    batch.y = nexuml::TensorDict{{"label", torch::ones({})}};
    return batch;
  }
};
template <class Rows>
struct Source {
  std::int64_t size = 5;

  static void describe(nexuml::Schema<Source>& s) { s.field("size", &Source::size); }
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext&) const {
    return std::make_shared<Rows>();
  }
};
struct DeclaresThree {
  std::int64_t size = 5;

  static void describe(nexuml::Schema<DeclaresThree>& s) { s.field("size", &DeclaresThree::size); }
  nexuml::DataDeclaration declare() const {
    nexuml::DataDeclaration data;
    data.features["features"] = {{3}, nexuml::DType::float32};
    return data;
  }
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext&) const {
    return std::make_shared<RowsOfTwo>();
  }
};

// Needs a file that is not there: no mistake.
struct NeedsFile {
  std::string path = "data.bin";

  static void describe(nexuml::Schema<NeedsFile>& s) { s.field("path", &NeedsFile::path); }
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const {
    throw nexuml::Error("E831", "there is no " + context.resolve(path).string());
  }
};

// Leaves out the first row.
class SkippingRuntime final : public nexuml::LoaderBackend {
 public:
  std::unique_ptr<nexuml::DataLoader> create_loader(const nexuml::LoaderRequest& request) const override {
    nexuml::LoaderRequest fewer = request;
    fewer.indices.erase(fewer.indices.begin());
    return nexuml::make_torch_loader_backend()->create_loader(fewer);
  }
};
struct Skipping {
  bool quiet = true;

  static void describe(nexuml::Schema<Skipping>& s) { s.field("quiet", &Skipping::quiet); }
  std::shared_ptr<nexuml::LoaderBackend> build(const nexuml::LoaderBuildContext&) const {
    return std::make_shared<SkippingRuntime>();
  }
};

// Cannot be made up from its schema alone: no mistake either.
struct NeedsData {
  nexuml::AnyDataSource source;

  static void describe(nexuml::Schema<NeedsData>& s) { s.field("source", &NeedsData::source).required(); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const {
    return std::make_shared<Identity>(context);
  }
};

}  // namespace broken

NEXUML_LIBRARY(registry) {
  registry.add<broken::InfersWrong>("infers_wrong");
  registry.add<broken::OwnChance>("own_chance");
  registry.add<broken::Crashes>("crashes");
  registry.add<broken::RefusesDefaults>("refuses_defaults");
  nexuml::register_type_serializer<broken::Share>(registry);
  registry.add<broken::Forgets>("forgets");
  registry.add<broken::CountsThreads>("counts_threads");
  registry.add<broken::FittedInSilence>("fitted_in_silence");
  registry.add<broken::BuildsNothing>("builds_nothing");
  registry.add<broken::Restless>("restless");
  registry.add<broken::Source<broken::RowsOfTwo>>("rows_of_two");
  registry.add<broken::Source<broken::FeaturesOfThree>>("features_of_three");
  registry.add<broken::Source<broken::LabelsOfFour>>("labels_of_four");
  registry.add<broken::Source<broken::OneRowMore>>("one_row_more");
  registry.add<broken::Source<broken::LabelsWithoutRows>>("labels_without_rows");
  registry.add<broken::DeclaresThree>("declares_three");
  registry.add<broken::NeedsFile>("needs_file");
  registry.add<broken::NeedsData>("needs_data");
  registry.add<broken::Skipping>("skipping");
}
