#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/tensor_io.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "tensor_io/dtypes.h"
#include "tensor_io/hashing_writer.h"
#include "tensor_io/layout.h"

namespace nexuml {

namespace {

struct Stored {
  const std::string* name;
  const at::Tensor* tensor;
  const tensor_io::DtypeNames* dtype;
};

const tensor_io::DtypeNames* storable_dtype(const std::string& name, const at::Tensor& tensor) {
  tensor_io::require_plain(tensor, name);
  const auto* dtype = tensor_io::find_dtype(tensor.scalar_type());
  if (dtype && !dtype->safetensors.empty()) return dtype;
  throw Error("E753",
              fmt::format("tensor '{}' is {}, which safetensors cannot hold", name,
                          tensor_io::dtype_name(tensor.scalar_type())),
              {}, tensor.is_complex() ? "store at::view_as_real of it" : "");
}

// The order of the safetensors package: wide dtypes first, so that all are aligned, then by name.
std::vector<Stored> in_stored_order(const TensorMap& tensors) {
  std::vector<Stored> order;
  order.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) order.push_back({&name, &tensor, storable_dtype(name, tensor)});
  std::ranges::sort(order, [](const Stored& left, const Stored& right) {
    const int left_rank = left.dtype->safetensors_rank;
    const int right_rank = right.dtype->safetensors_rank;
    return left_rank != right_rank ? left_rank > right_rank : *left.name < *right.name;
  });
  return order;
}

std::string json_text(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw Error("E752", "a tensor name or metadata text is not UTF-8", {}, "rename it");
  }
}

std::string format_header(const std::vector<Stored>& order, const TensorMetadata& metadata) {
  std::vector<std::string> entries;
  if (!metadata.empty()) {
    std::vector<std::string> texts;
    for (const auto& [key, text] : metadata) texts.push_back(json_text(key) + ":" + json_text(text));
    entries.push_back(fmt::format("\"__metadata__\":{{{}}}", fmt::join(texts, ",")));
  }
  std::uint64_t begin = 0;
  for (const Stored& stored : order) {
    if (*stored.name == "__metadata__") {
      throw Error("E752", "a tensor cannot be named '__metadata__' in a safetensors file", {}, "rename it");
    }
    const std::uint64_t end = begin + stored.tensor->nbytes();
    const auto shape = stored.tensor->sizes();
    entries.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                  json_text(*stored.name), stored.dtype->safetensors,
                                  fmt::join(shape.begin(), shape.end(), ","), begin, end));
    begin = end;
  }
  std::string header = fmt::format("{{{}}}", fmt::join(entries, ","));
  header.append((8 - header.size() % 8) % 8, ' ');
  return header;
}

// Gives the file's bytes piece by piece to `sink`, with the tensor that owns them, or null for those of the
// header.
template <class Sink>
void emit(const TensorMap& tensors, const TensorMetadata& metadata, Sink&& sink) {
  const std::vector<Stored> order = in_stored_order(tensors);
  const std::string header = format_header(order, metadata);
  const std::uint64_t length = header.size();
  sink(std::as_bytes(std::span(&length, 1)), nullptr);
  sink(std::as_bytes(std::span(header)), nullptr);
  for (const Stored& stored : order) {
    const auto plain =
        std::make_shared<const at::Tensor>(tensor_io::plain_tensor(*stored.tensor, *stored.name));
    sink(tensor_io::bytes_of(*plain), plain);
  }
}

}  // namespace

WrittenFile write_safetensors(const std::string& path, const TensorMap& tensors,
                              const TensorMetadata& metadata) {
  return tensor_io::write_safetensors_in_chunks(path, tensors, metadata, 0).whole();
}

tensor_io::HashedFile tensor_io::write_safetensors_in_chunks(const std::string& path,
                                                             const TensorMap& tensors,
                                                             const TensorMetadata& metadata,
                                                             std::uint64_t chunk) {
  HashingWriter file(path, chunk);
  emit(tensors, metadata,
       [&](std::span<const std::byte> bytes, const std::shared_ptr<const at::Tensor>& owner) {
         if (owner) {
           file.write(bytes, owner);
         } else {
           file.write(bytes);
         }
       });
  return file.commit();
}

std::string format_safetensors(const TensorMap& tensors, const TensorMetadata& metadata) {
  std::string text;
  emit(tensors, metadata, [&](std::span<const std::byte> bytes, const auto&) {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return text;
}

}  // namespace nexuml
