#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <nexuml/exported_data.h>
#include <nexuml/pickled_value.h>

#include <map>
#include <vector>

#include "data/tensor_shards.h"

namespace nexuml {

namespace {

at::Tensor padded(const at::Tensor& rows, std::int64_t capacity) {
  std::vector<std::int64_t> padding(static_cast<std::size_t>(rows.dim()) * 2, 0);
  padding.back() = capacity - rows.size(0);
  return padding.back() == 0 ? rows.contiguous() : at::constant_pad_nd(rows, padding).contiguous();
}

PickledValue::Entry field(const char* name, PickledValue value) {
  return {PickledValue{std::string(name)}, std::move(value)};
}

class TensorShardsWriter final : public DatasetWriter {
 public:
  TensorShardsWriter(const WriterBuildContext& context, std::int64_t samples_per_shard)
      : folder_(context.folder),
        capacity_(samples_per_shard),
        tensors_(context.tensors),
        stop_(context.stop) {}

  std::string format() const override { return shard_format; }

  void write(const TensorDict& rows, const std::string& split, std::int64_t first_index) override {
    if (first_index != next_row_)
      refuse_export(folder_, fmt::format("row {} was written where row {} is due", first_index, next_row_));
    if (split != split_) {
      flush();
      split_ = split;
    }
    std::int64_t begin = 0;
    const std::int64_t count = rows.batch_size();
    while (begin < count) {
      const std::int64_t taken = std::min(count - begin, capacity_ - waiting_);
      for (const auto& [key, spec] : tensors_)
        buffers_[key].push_back(rows.get(key).narrow(0, begin, taken).to(at::kCPU));
      waiting_ += taken;
      begin += taken;
      if (waiting_ == capacity_) flush();
    }
    next_row_ += count;
  }

  void finish() override {
    flush();
    Value list = Value::list();
    Value counts = Value::map();
    for (const Value& entry : shards_) list.push_back(entry);
    for (const auto& [split, count] : counts_) counts.set(split, count);
    Value shapes = Value::map(), dtypes = Value::map();
    for (const auto& [key, spec] : tensors_) {
      Value shape = Value::list();
      for (const std::int64_t size : spec.shape) shape.push_back(size);
      shapes.set(key, std::move(shape));
      dtypes.set(key, "torch." + std::string(to_string(spec.dtype)));
    }
    const Value manifest = Value::map({{"format_version", shard_format_version},
                                       {"format", shard_format},
                                       {"num_samples", next_row_},
                                       {"samples_per_shard", capacity_},
                                       {"num_shards", static_cast<std::int64_t>(shards_.size())},
                                       {"feature_shapes", std::move(shapes)},
                                       {"storage_dtypes", std::move(dtypes)},
                                       {"split_sample_counts", std::move(counts)},
                                       {"shards", std::move(list)}});
    std::filesystem::create_directories((folder_ / shard_manifest).parent_path());
    write_file(folder_ / shard_manifest, write_json(manifest) + "\n");
  }

 private:
  void flush() {
    if (waiting_ == 0) return;
    if (stop_.stop_requested()) throw Error("E838", "writing the data was stopped");
    const std::int64_t shard_id = shard_counts_[split_]++;
    const std::string path = fmt::format("data/shards/{}/shard-{:06d}.pt", split_, shard_id);
    std::filesystem::create_directories((folder_ / path).parent_path());
    const std::int64_t begin = flushed_, end = flushed_ + waiting_;
    PickledValue::Dict features;
    for (auto& [key, parts] : buffers_)
      features.entries.push_back({PickledValue{key}, PickledValue{padded(at::cat(parts), capacity_)}});
    at::Tensor valid = at::zeros({capacity_}, at::kBool);
    valid.narrow(0, 0, waiting_).fill_(true);
    at::Tensor indices = at::full({capacity_}, -1, at::kLong);
    indices.narrow(0, 0, waiting_).copy_(at::arange(begin, end, at::kLong));
    PickledValue::Dict payload;
    payload.entries.push_back(field("format_version", {shard_format_version}));
    payload.entries.push_back(field("format", {std::string(shard_format)}));
    payload.entries.push_back(field("split", {split_}));
    payload.entries.push_back(field("shard_id", {shard_id}));
    payload.entries.push_back(field("start_index", {begin}));
    payload.entries.push_back(field("num_samples", {waiting_}));
    payload.entries.push_back(field("capacity", {capacity_}));
    payload.entries.push_back(field("num_padding_samples", {capacity_ - waiting_}));
    payload.entries.push_back(field("valid_mask", {std::move(valid)}));
    payload.entries.push_back(field("indices", {std::move(indices)}));
    payload.entries.push_back(field("features", {std::move(features)}));
    write_pt((folder_ / path).string(), PickledValue{std::move(payload)});
    shards_.push_back(Value::map({{"split", split_},
                                  {"shard_id", shard_id},
                                  {"path", path},
                                  {"start_index", begin},
                                  {"end_index", end},
                                  {"num_samples", waiting_},
                                  {"capacity", capacity_},
                                  {"num_padding_samples", capacity_ - waiting_}}));
    counts_[split_] += waiting_;
    flushed_ = end;
    waiting_ = 0;
    buffers_.clear();
  }

  const std::filesystem::path folder_;
  const std::int64_t capacity_;
  const OrderedMap<TensorSpec> tensors_;
  const std::stop_token stop_;
  std::string split_;
  OrderedMap<std::vector<at::Tensor>> buffers_;  // of the shard in the making
  std::int64_t waiting_ = 0, flushed_ = 0, next_row_ = 0;
  std::map<std::string, std::int64_t> shard_counts_;
  OrderedMap<std::int64_t> counts_;
  std::vector<Value> shards_;
};

}  // namespace

std::shared_ptr<DatasetWriter> make_tensor_shards_writer(const WriterBuildContext& context,
                                                         std::int64_t samples_per_shard) {
  if (samples_per_shard < 1)
    throw Error("E838", fmt::format("{} samples a shard; at least 1 is needed", samples_per_shard));
  return std::make_shared<TensorShardsWriter>(context, samples_per_shard);
}

}  // namespace nexuml
