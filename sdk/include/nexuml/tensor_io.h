// Tensor files: safetensors, state dicts of torch.save (.pt), NPY and NPZ.
//
//     nexuml::TensorMap weights;
//     weights.add("fc.weight", at::ones({2, 3}));
//     nexuml::write_safetensors("model.safetensors", weights, {{"format", "pt"}});
//
//     nexuml::TensorFile file = nexuml::read_safetensors("model.safetensors");
//     file.tensors.at("fc.weight");   // [2, 3], float32
//
// Every reader treats its file as hostile: it checks before it allocates, executes nothing, and refuses with
// an `Error` (E750 to E759) that names the file, the tensor and both numbers. Every writer writes beside its
// target, syncs and renames, so that a reader sees the old file or the whole new one. All bits survive: NaN
// payloads, -0, subnormals. [any thread], as long as two threads do not write the same path.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <torch/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nexuml {

// Named tensors in the order in which they were added. Copies share the tensors' storage, as tensors do.
class NEXUML_EXPORT TensorMap {
 public:
  using Entry = std::pair<std::string, at::Tensor>;

  TensorMap() = default;
  TensorMap(std::initializer_list<Entry> entries);

  void add(std::string name, at::Tensor tensor);  // throws E754 when the name is taken
  const at::Tensor* find(std::string_view name) const noexcept;
  const at::Tensor& at(std::string_view name) const;  // throws E754 with near names
  bool contains(std::string_view name) const noexcept { return find(name) != nullptr; }
  std::vector<std::string> names() const;

  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

// Names whose tensors are the same view (storage, offset, sizes, strides), such as tied weights: groups of
// two and more, in the order of the map. Empty tensors have no storage to share and are in no group.
NEXUML_EXPORT std::vector<std::vector<std::string>> find_shared(const TensorMap& tensors);

using TensorMetadata = std::map<std::string, std::string>;

struct TensorFile {
  TensorMap tensors;        // in the order of the file's header
  TensorMetadata metadata;  // `__metadata__` of safetensors
  std::string sha256;       // of the whole file, in hex; empty unless `TensorReadOptions::hash`
};

struct TensorReadOptions {
  // Tensors view the file's pages (copy-on-write, so writing into them is allowed and never reaches the file)
  // and keep the mapping alive. The file must not be shortened meanwhile.
  bool mapped = false;
  // Computes the digest of the file while reading it.
  bool hash = false;
};

// What a header says about one tensor. Offsets are in bytes from the start of the data section.
struct TensorInfo {
  std::string name;
  at::ScalarType dtype = at::kFloat;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  // in the order of the header
  TensorMetadata metadata;
  std::uint64_t data_offset = 0;  // of the data section, from the start of the file
  std::uint64_t file_size = 0;
};

// What was written, for a manifest.
struct WrittenFile {
  std::uint64_t size = 0;
  std::string sha256;  // in hex
};

// Reads and checks the header alone.
NEXUML_EXPORT SafetensorsHeader inspect_safetensors(const std::string& path);
NEXUML_EXPORT TensorFile read_safetensors(const std::string& path, const TensorReadOptions& options = {});
// From memory; `name` stands for the file in messages.
NEXUML_EXPORT TensorFile parse_safetensors(std::string_view bytes, const std::string& name);

// The bytes depend on the content alone: tensors are sorted by dtype and name as the safetensors package
// does, metadata by key. Tensors of any device and layout of strides are accepted; every name stores its own
// bytes, also where tensors share storage (see `find_shared`).
NEXUML_EXPORT WrittenFile write_safetensors(const std::string& path, const TensorMap& tensors,
                                            const TensorMetadata& metadata = {});
NEXUML_EXPORT std::string format_safetensors(const TensorMap& tensors, const TensorMetadata& metadata = {});

// NPY files of numpy, versions 1 to 3, any byte order; [row-major] also where the file is column-major,
// unless it is mapped: then the strides are those of the file. Refused with E759: Python objects, fields,
// text and dates (they would need code or have no dtype here), files that are cut off or go on after the
// array.
NEXUML_EXPORT TensorInfo inspect_npy(const std::string& path);  // `name` is empty
NEXUML_EXPORT at::Tensor read_npy(const std::string& path, const TensorReadOptions& options = {});
NEXUML_EXPORT at::Tensor parse_npy(std::string_view bytes, const std::string& name);
// The bytes that numpy.save writes. E753 for dtypes that numpy lacks, such as bfloat16.
NEXUML_EXPORT WrittenFile write_npy(const std::string& path, const at::Tensor& tensor);

// NPZ archives of numpy.savez and numpy.savez_compressed; written uncompressed.
NEXUML_EXPORT TensorMap read_npz(const std::string& path);
NEXUML_EXPORT TensorMap parse_npz(std::string_view bytes, const std::string& name);
NEXUML_EXPORT WrittenFile write_npz(const std::string& path, const TensorMap& tensors);

}  // namespace nexuml
