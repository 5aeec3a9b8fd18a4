#include "layers/merge_layer.h"

#include <nexuml/layer.h>

#include <string>
#include <vector>

#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

class MergeRuntime final : public nexuml::PipelineLayer {
 public:
  MergeRuntime(const nexuml::LayerBuildContext& context, std::int64_t dim)
      : PipelineLayer(context), dim_(dim) {}

  void forward(nexuml::Batch& batch) override {
    std::vector<at::Tensor> parts;
    for (std::size_t i = 0; i < keys_in().size(); ++i) parts.push_back(input(batch, i));
    set_output(batch, at::cat(parts, dim_));
  }

 private:
  const std::int64_t dim_;
};

// The concatenated dimension adds up, the others have to agree.
nexuml::Shape merged_shape(const nexuml::LayerInferContext& context, std::int64_t dim) {
  nexuml::Shape merged = context.input().shape;
  const std::size_t index =
      context.keys_in.size() > 1 ? sample_dimension(context, dim, merged.size()) : merged.size();
  for (std::size_t i = 1; i < context.keys_in.size(); ++i) {
    const nexuml::Shape& next = context.input(i).shape;
    bool fits = next.size() == merged.size();
    for (std::size_t d = 0; fits && d < merged.size(); ++d)
      fits = d == index || next[d] == merged[d] || next[d] == nexuml::unknown_size ||
             merged[d] == nexuml::unknown_size;
    if (!fits)
      context.fail("'" + context.keys_in[i] + "' of shape " + nexuml::to_string(next) +
                   " cannot be concatenated along dim " + std::to_string(dim) + " to shape " +
                   nexuml::to_string(merged));
    const bool known = merged[index] != nexuml::unknown_size && next[index] != nexuml::unknown_size;
    merged[index] = known ? merged[index] + next[index] : nexuml::unknown_size;
  }
  return merged;
}

}  // namespace

void MergeLayer::describe(nexuml::Schema<MergeLayer>& s) {
  s.summary("Several inputs concatenated.");
  s.field("dim", &MergeLayer::dim).doc("The dimension to concatenate, the batch being dimension 0.");
}

nexuml::Shapes MergeLayer::infer(const nexuml::LayerInferContext& context) const {
  if (context.keys_in.empty()) context.fail("keys_in must list at least one input");
  check_key_counts(context, context.keys_in.size(), 1);
  return context.single_output({.shape = merged_shape(context, dim), .dtype = context.input().dtype});
}

std::shared_ptr<nexuml::PipelineLayer> MergeLayer::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<MergeRuntime>(context, dim);
}

}  // namespace nexuml_library
