#include <nexuml/tensor_io.h>

#include <algorithm>
#include <map>
#include <memory>

#include "tensor_io/hashing_writer.h"
#include "tensor_io/layout.h"
#include "tensor_io/safetensors_header.h"
#include "tensor_io/sha256.h"

namespace nexuml {

namespace {

using tensor_io::Input;

constexpr std::size_t kReadChunk = 4u << 20;

// Fills the tensor; each piece is hashed while the next one is read.
void read_data(const Input& input, std::uint64_t offset, const at::Tensor& tensor,
               tensor_io::StreamDigests* digests) {
  std::span<std::byte> into = tensor_io::writable_bytes_of(tensor);
  const auto owner = digests ? std::make_shared<const at::Tensor>(tensor) : nullptr;
  while (!into.empty()) {
    const auto chunk = into.first(std::min(kReadChunk, into.size()));
    input.read(offset, chunk);
    if (digests) digests->push(chunk, owner);
    offset += chunk.size();
    into = into.subspan(chunk.size());
  }
}

// Reads from the first byte to the last, so that the digests are those of exactly the bytes that were loaded.
TensorFile read_copied(const Input& input, tensor_io::StreamDigests* digests) {
  SafetensorsHeader header = tensor_io::read_safetensors_header(input);
  std::map<std::string_view, at::Tensor> loaded;
  if (digests) {
    const std::string head = input.read_text(0, header.data_offset);
    digests->update(std::as_bytes(std::span(head)));
  }
  for (const TensorInfo* info : tensor_io::in_data_order(header)) {
    at::Tensor tensor = tensor_io::allocate(info->shape, info->dtype, info->name);
    read_data(input, header.data_offset + info->begin, tensor, digests);
    loaded.emplace(info->name, std::move(tensor));
  }
  TensorFile file;
  for (const TensorInfo& info : header.tensors) file.tensors.add(info.name, std::move(loaded.at(info.name)));
  file.metadata = std::move(header.metadata);
  return file;
}

TensorFile read_mapped(const tensor_io::FileInput& input, bool with_hash) {
  SafetensorsHeader header = tensor_io::read_safetensors_header(input);
  const std::shared_ptr<std::byte> mapping = input.map();
  TensorFile file;
  for (const TensorInfo& info : header.tensors) {
    file.tensors.add(
        info.name, tensor_io::view_mapping(mapping, header.data_offset + info.begin, info.shape, info.dtype));
  }
  file.metadata = std::move(header.metadata);
  if (with_hash) {
    tensor_io::Sha256 digest;
    digest.update({mapping.get(), static_cast<std::size_t>(header.file_size)});
    file.sha256 = digest.hex();
  }
  return file;
}

}  // namespace

SafetensorsHeader inspect_safetensors(const std::string& path) {
  return tensor_io::read_safetensors_header(*tensor_io::FileInput::open(path));
}

TensorFile read_safetensors(const std::string& path, const TensorReadOptions& options) {
  const auto input = tensor_io::FileInput::open(path);
  if (options.mapped) return read_mapped(*input, options.hash);
  if (!options.hash) return read_copied(*input, nullptr);
  tensor_io::StreamDigests digests;
  TensorFile file = read_copied(*input, &digests);
  file.sha256 = digests.finish().front();
  return file;
}

TensorFile parse_safetensors(std::string_view bytes, const std::string& name) {
  return read_copied(tensor_io::MemoryInput(bytes, name), nullptr);
}

tensor_io::HashedTensors tensor_io::read_safetensors_in_chunks(const std::string& path, std::uint64_t chunk) {
  const auto input = FileInput::open(path);
  StreamDigests digests(chunk);
  TensorFile file = read_copied(*input, &digests);
  return {std::move(file), digests.finish()};
}

}  // namespace nexuml
