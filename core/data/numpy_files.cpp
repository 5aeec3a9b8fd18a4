// Exports as NPY files: one a sample and key, or one a key that is mapped.
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <nexuml/exported_data.h>
#include <nexuml/tensor_io.h>

#include "data/stored_rows.h"

namespace nexuml {

namespace {

std::filesystem::path sample_file(const std::filesystem::path& folder, const std::string& key,
                                  std::int64_t row) {
  return folder / "data" / key / fmt::format("{:08d}.npy", row);
}
std::filesystem::path key_file(const std::filesystem::path& folder, const std::string& key) {
  return folder / "data" / (key + ".npy");
}

std::vector<std::int64_t> all_rows_of(std::int64_t count, const Shape& shape) {
  std::vector<std::int64_t> sizes{count};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  return sizes;
}

class NumpyWriter final : public DatasetWriter {
 public:
  explicit NumpyWriter(const WriterBuildContext& context) : context_(context) {
    for (const auto& [key, spec] : context_.tensors)
      std::filesystem::create_directories(context_.folder / "data" / key);
  }
  std::string format() const override { return "numpy"; }
  void write(const TensorDict& rows, const std::string&, std::int64_t first_index) override {
    if (context_.stop.stop_requested()) throw Error("E838", "writing the data was stopped");
    for (const auto& [key, spec] : context_.tensors) {
      const at::Tensor tensor = rows.get(key).to(at::kCPU);
      for (std::int64_t i = 0; i < tensor.size(0); ++i)
        write_npy(sample_file(context_.folder, key, first_index + i).string(), tensor[i].contiguous());
    }
  }
  void finish() override {}

 private:
  const WriterBuildContext context_;
};

// The whole array of each key is kept in memory until the end, then written at once.
class NumpyMmapWriter final : public DatasetWriter {
 public:
  explicit NumpyMmapWriter(const WriterBuildContext& context) : context_(context) {
    for (const auto& [key, spec] : context_.tensors)
      arrays_[key] = at::empty(all_rows_of(context_.num_samples, spec.shape), scalar_type(spec.dtype));
  }
  std::string format() const override { return "numpy_mmap"; }
  void write(const TensorDict& rows, const std::string&, std::int64_t first_index) override {
    for (const auto& [key, array] : arrays_) {
      const at::Tensor& tensor = rows.get(key);
      if (first_index + tensor.size(0) > array.size(0))
        refuse_export(context_.folder, fmt::format("row {} lies beyond the {} rows that were announced",
                                                   first_index + tensor.size(0) - 1, array.size(0)));
      array.narrow(0, first_index, tensor.size(0)).copy_(tensor);
    }
  }
  void finish() override {
    std::filesystem::create_directories(context_.folder / "data");
    for (const auto& [key, array] : arrays_) write_npy(key_file(context_.folder, key).string(), array);
  }

 private:
  const WriterBuildContext context_;
  OrderedMap<at::Tensor> arrays_;
};

void require_spec(const at::Tensor& sample, const TensorSpec& spec, const std::filesystem::path& file) {
  const TensorSpec found{sample.sizes().vec(), dtype_of(sample.scalar_type())};
  if (found != spec)
    refuse_export(file,
                  fmt::format("the file holds {}, config.yaml says {}", to_string(found), to_string(spec)),
                  "write the data again");
}

class NumpyFiles final : public StoredRows {
 public:
  NumpyFiles(std::filesystem::path folder, const ExportConfig& config)
      : folder_(std::move(folder)), size_(config.num_samples), tensors_(config.tensors) {}
  std::int64_t size() const override { return size_; }
  OrderedMap<TensorSpec> tensors() const override { return tensors_; }
  TensorDict gather(std::span<const std::int64_t> rows) const override {
    TensorDict result;
    for (const auto& [key, spec] : tensors_) {
      std::vector<at::Tensor> samples;
      for (const std::int64_t row : rows) {
        const auto file = sample_file(folder_, key, row);
        samples.push_back(read_npy(file.string()));
        require_spec(samples.back(), spec, file);
      }
      result.set(key, at::stack(samples));
    }
    return result;
  }

 private:
  const std::filesystem::path folder_;
  const std::int64_t size_;
  const OrderedMap<TensorSpec> tensors_;
};

class NumpyMmap final : public StoredRows {
 public:
  NumpyMmap(const std::filesystem::path& folder, const ExportConfig& config)
      : size_(config.num_samples), tensors_(config.tensors) {
    for (const auto& [key, spec] : tensors_) {
      const auto file = key_file(folder, key);
      arrays_[key] = read_npy(file.string(), {.mapped = true});
      const at::Tensor& array = arrays_[key];
      if (array.sizes().vec() != all_rows_of(size_, spec.shape) ||
          array.scalar_type() != scalar_type(spec.dtype))
        refuse_export(file, "the array has another shape or dtype than config.yaml says",
                      "write the data again");
    }
  }
  std::int64_t size() const override { return size_; }
  OrderedMap<TensorSpec> tensors() const override { return tensors_; }
  TensorDict gather(std::span<const std::int64_t> rows) const override {
    const at::Tensor wanted = at::tensor(at::ArrayRef<std::int64_t>(rows.data(), rows.size()), at::kLong);
    TensorDict result;
    for (const auto& [key, array] : arrays_) result.set(key, array.index_select(0, wanted));
    return result;
  }

 private:
  const std::int64_t size_;
  const OrderedMap<TensorSpec> tensors_;
  OrderedMap<at::Tensor> arrays_;
};

}  // namespace

std::shared_ptr<DatasetWriter> make_numpy_writer(const WriterBuildContext& context) {
  return std::make_shared<NumpyWriter>(context);
}
std::shared_ptr<DatasetWriter> make_numpy_mmap_writer(const WriterBuildContext& context) {
  return std::make_shared<NumpyMmapWriter>(context);
}
std::shared_ptr<const StoredRows> open_numpy_files(const std::filesystem::path& folder,
                                                   const ExportConfig& config) {
  return std::make_shared<const NumpyFiles>(folder, config);
}
std::shared_ptr<const StoredRows> open_numpy_mmap(const std::filesystem::path& folder,
                                                  const ExportConfig& config) {
  return std::make_shared<const NumpyMmap>(folder, config);
}

}  // namespace nexuml
