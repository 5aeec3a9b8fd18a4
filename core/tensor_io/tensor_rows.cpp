#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <nexuml/tensor_io.h>
#include <nexuml/tensor_rows.h>

#include <numeric>

#include "tensor_io/input_file.h"
#include "tensor_io/npy_header.h"

namespace nexuml {

class TensorRows::File {
 public:
  explicit File(const std::string& path) : input_(tensor_io::FileInput::open(path)) {}
  const tensor_io::FileInput& input() const noexcept { return *input_; }

 private:
  std::unique_ptr<tensor_io::FileInput> input_;
};

TensorRows::TensorRows(std::shared_ptr<const File> file, std::vector<std::int64_t> shape,
                       at::ScalarType dtype, std::uint64_t offset)
    : file_(std::move(file)), shape_(std::move(shape)), dtype_(dtype), offset_(offset) {
  row_bytes_ = c10::elementSize(dtype_);
  for (std::size_t i = 1; i < shape_.size(); ++i) row_bytes_ *= static_cast<std::uint64_t>(shape_[i]);
}

std::optional<TensorRows> TensorRows::of_npy(const std::string& path) {
  auto file = std::make_shared<const File>(path);
  const tensor_io::NpyHeader header = tensor_io::read_npy_header(file->input());
  const bool together = !header.big_endian && (!header.column_major || header.shape.size() < 2);
  if (!together || header.shape.empty()) return std::nullopt;
  return TensorRows(std::move(file), header.shape, header.dtype, header.data_offset);
}

std::optional<TensorRows> TensorRows::of_safetensors(const std::string& path, const std::string& name) {
  const SafetensorsHeader header = inspect_safetensors(path);
  std::vector<std::string> names;
  for (const TensorInfo& tensor : header.tensors) {
    if (tensor.name == name) {
      if (tensor.shape.empty()) return std::nullopt;
      return TensorRows(std::make_shared<const File>(path), tensor.shape, tensor.dtype,
                        header.data_offset + tensor.begin);
    }
    names.push_back(tensor.name);
  }
  throw Error("E754", fmt::format("{} has no tensor '{}'", path, name), Where::in_file(path),
              did_you_mean(name, names));
}

at::Tensor TensorRows::gather(std::span<const std::int64_t> indices) const {
  std::vector<std::int64_t> sizes = shape_;
  sizes[0] = static_cast<std::int64_t>(indices.size());
  at::Tensor rows = at::empty(sizes, dtype_);
  auto* bytes = static_cast<std::byte*>(rows.mutable_data_ptr());
  for (std::size_t begin = 0; begin < indices.size();) {
    if (indices[begin] < 0 || indices[begin] >= shape_[0])
      throw Error("E831", fmt::format("row {} of {} was asked for", indices[begin], shape_[0]));
    std::size_t end = begin + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1 && indices[end] < shape_[0]) ++end;
    file_->input().read(offset_ + static_cast<std::uint64_t>(indices[begin]) * row_bytes_,
                        {bytes + begin * row_bytes_, (end - begin) * row_bytes_});
    begin = end;
  }
  return rows;
}

at::Tensor TensorRows::all() const {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(shape_[0]));
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return gather(indices);
}

}  // namespace nexuml
