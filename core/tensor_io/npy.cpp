#include <fmt/format.h>
#include <nexuml/tensor_io.h>

#include <algorithm>
#include <numeric>

#include "tensor_io/dtypes.h"
#include "tensor_io/hashing_writer.h"
#include "tensor_io/layout.h"
#include "tensor_io/npy_header.h"
#include "tensor_io/zip_reader.h"
#include "tensor_io/zip_writer.h"

namespace nexuml {

namespace {

using tensor_io::NpyHeader;

// Column-major data are the row-major data of the reversed axes.
std::vector<std::int64_t> stored_shape(const NpyHeader& header) {
  std::vector<std::int64_t> shape = header.shape;
  if (header.column_major) std::ranges::reverse(shape);
  return shape;
}

at::Tensor with_axes_of(const NpyHeader& header, const at::Tensor& stored) {
  if (!header.column_major) return stored;
  std::vector<std::int64_t> axes(header.shape.size());
  std::iota(axes.rbegin(), axes.rend(), 0);
  return stored.permute(axes);
}

at::Tensor read_copied_npy(const tensor_io::Input& input) {
  const NpyHeader header = tensor_io::read_npy_header(input);
  const at::Tensor stored = tensor_io::allocate(stored_shape(header), header.dtype, input.name());
  input.read(header.data_offset, tensor_io::writable_bytes_of(stored));
  if (header.big_endian) tensor_io::swap_bytes(stored);
  return with_axes_of(header, stored).contiguous();
}

at::Tensor read_mapped_npy(const tensor_io::FileInput& input) {
  const NpyHeader header = tensor_io::read_npy_header(input);
  if (header.data_size == 0) return at::empty(header.shape, at::TensorOptions(header.dtype));
  const at::Tensor stored =
      tensor_io::view_mapping(input.map(), header.data_offset, stored_shape(header), header.dtype);
  if (header.big_endian) tensor_io::swap_bytes(stored);
  return with_axes_of(header, stored);
}

struct NpyBytes {
  std::string header;
  at::Tensor plain;
};

NpyBytes format_npy(const at::Tensor& tensor, const std::string& name) {
  NpyBytes bytes{{}, tensor_io::plain_tensor(tensor, name)};
  bytes.header = tensor_io::format_npy_header(bytes.plain.scalar_type(), bytes.plain.sizes(), name);
  return bytes;
}

TensorMap read_archive(const tensor_io::Input& input) {
  const tensor_io::ZipArchive archive(input);
  TensorMap tensors;
  for (const tensor_io::ZipRecord& record : archive.records()) {
    if (record.name.ends_with('/')) continue;
    const std::string place = fmt::format("{}[{}]", input.name(), record.name);
    if (!record.name.ends_with(".npy")) {
      tensor_io::refuse(
          "E759",
          fmt::format("{}: '{}' is no array; an NPZ archive holds .npy files", input.name(), record.name),
          input.name());
    }
    const std::string bytes = archive.read_text(record);
    tensors.add(record.name.substr(0, record.name.size() - 4), parse_npy(bytes, place));
  }
  return tensors;
}

}  // namespace

TensorInfo inspect_npy(const std::string& path) {
  const NpyHeader header = tensor_io::read_npy_header(*tensor_io::FileInput::open(path));
  return {.name = {}, .dtype = header.dtype, .shape = header.shape, .begin = 0, .end = header.data_size};
}

at::Tensor read_npy(const std::string& path, const TensorReadOptions& options) {
  const auto input = tensor_io::FileInput::open(path);
  return options.mapped ? read_mapped_npy(*input) : read_copied_npy(*input);
}

at::Tensor parse_npy(std::string_view bytes, const std::string& name) {
  return read_copied_npy(tensor_io::MemoryInput(bytes, name));
}

WrittenFile write_npy(const std::string& path, const at::Tensor& tensor) {
  const NpyBytes bytes = format_npy(tensor, path);
  tensor_io::HashingWriter file(path);
  file.write(bytes.header);
  file.write(tensor_io::bytes_of(bytes.plain));
  return file.commit().whole();
}

TensorMap read_npz(const std::string& path) {
  return read_archive(*tensor_io::FileInput::open(path));
}

TensorMap parse_npz(std::string_view bytes, const std::string& name) {
  return read_archive(tensor_io::MemoryInput(bytes, name));
}

WrittenFile write_npz(const std::string& path, const TensorMap& tensors) {
  tensor_io::HashingWriter file(path);
  tensor_io::ZipWriter archive(file);
  for (const auto& [name, tensor] : tensors) {
    const NpyBytes bytes = format_npy(tensor, name);
    archive.add(name + ".npy", {std::as_bytes(std::span(bytes.header)), tensor_io::bytes_of(bytes.plain)});
  }
  archive.finish();
  return file.commit().whole();
}

}  // namespace nexuml
