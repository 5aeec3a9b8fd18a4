// Exports as NPY files: one a sample and key, or one a key that is mapped.
#include <ATen/ops/stack.h>
#include <fmt/format.h>
#include <nexuml/batch_rows.h>
#include <nexuml/exported_data.h>
#include <nexuml/tensor_io.h>

#include <memory>
#include <utility>
#include <vector>

#include "data/stored_rows.h"
#include "tensor_io/npy_rows_writer.h"

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

// An array of each key, which grows on disk: nothing but the batch in hand is in memory.
class NumpyMmapWriter final : public DatasetWriter {
 public:
  explicit NumpyMmapWriter(const WriterBuildContext& context) : context_(context) {
    std::filesystem::create_directories(context_.folder / "data");
    for (const auto& [key, spec] : context_.tensors)
      arrays_.push_back({key, std::make_unique<tensor_io::NpyRowsWriter>(
                                  key_file(context_.folder, key).string(), scalar_type(spec.dtype),
                                  all_rows_of(context_.num_samples, spec.shape))});
  }
  std::string format() const override { return "numpy_mmap"; }
  void write(const TensorDict& rows, const std::string&, std::int64_t first_index) override {
    if (context_.stop.stop_requested()) throw Error("E838", "writing the data was stopped");
    for (const auto& [key, array] : arrays_) {
      const at::Tensor& tensor = rows.get(key);
      if (first_index != array->rows_written())
        refuse_export(context_.folder, fmt::format("row {} follows row {}: rows have to come in order",
                                                   first_index, array->rows_written() - 1));
      if (first_index + tensor.size(0) > context_.num_samples)
        refuse_export(context_.folder, fmt::format("row {} lies beyond the {} rows that were announced",
                                                   first_index + tensor.size(0) - 1, context_.num_samples));
      array->add(tensor);
    }
  }
  void finish() override {
    for (const auto& [key, array] : arrays_) array->finish();
  }

 private:
  const WriterBuildContext context_;
  std::vector<std::pair<std::string, std::unique_ptr<tensor_io::NpyRowsWriter>>> arrays_;
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
    TensorDict result;
    for (const auto& [key, array] : arrays_) result.set(key, gather_rows(array, rows));
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
