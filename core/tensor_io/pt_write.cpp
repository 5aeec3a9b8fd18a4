#include <fmt/format.h>
#include <nexuml/pickled_value.h>

#include <cstring>
#include <map>

#include "tensor_io/dtypes.h"
#include "tensor_io/hashing_writer.h"
#include "tensor_io/layout.h"
#include "tensor_io/zip_writer.h"

namespace nexuml {

namespace {

// Writes protocol 2 without memo: what Python's weights-only reader accepts, byte for byte decided by the
// values.
class PickleWriter {
 public:
  std::string pickle(const PickledValue& value) {
    count_storages(value);
    bytes_ = "\x80\x02";
    std::visit(*this, value.data);
    return bytes_ + '.';
  }

  // Records in the order of their keys 0, 1, ...
  const std::vector<at::Tensor>& storages() const { return storages_; }

  void operator()(const PickledValue::None&) { bytes_ += 'N'; }
  void operator()(bool value) { bytes_ += value ? '\x88' : '\x89'; }
  void operator()(std::int64_t value) {
    bytes_ += "\x8a\x08";
    put(static_cast<std::uint64_t>(value), 8);
  }
  void operator()(const PickledValue::BigInteger& value) {
    throw Error("E753",
                fmt::format("the integer {} has more than 64 bits and cannot be written", value.digits));
  }
  void operator()(double value) {
    bytes_ += 'G';
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    put(__builtin_bswap64(bits), 8);
  }
  void operator()(const std::complex<double>& value) {
    global("__builtin__", "complex");
    (*this)(value.real());
    (*this)(value.imag());
    bytes_ += "\x86R";
  }
  void operator()(const std::string& value) {
    bytes_ += 'X';
    put(value.size(), 4);
    bytes_ += value;
  }
  void operator()(const PickledValue::Bytes& value) {
    std::string text;  // Latin-1 as UTF-8
    for (const char c : value.bytes) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x80) {
        text += c;
      } else {
        text += static_cast<char>(0xc0 | byte >> 6);
        text += static_cast<char>(0x80 | (byte & 0x3f));
      }
    }
    global("_codecs", "encode");
    (*this)(text);
    (*this)(std::string("latin1"));
    bytes_ += "\x86R";
  }
  void operator()(const at::Tensor& tensor) { put_tensor(tensor); }
  void operator()(at::ScalarType dtype) { global("torch", tensor_io::dtype_name(dtype)); }
  void operator()(const PickledValue::Device& device) {
    const std::size_t colon = device.name.find(':');
    global("torch", "device");
    (*this)(device.name.substr(0, colon));
    if (colon != std::string::npos) (*this)(std::int64_t{std::stoll(device.name.substr(colon + 1))});
    bytes_ += colon == std::string::npos ? "\x85R" : "\x86R";
  }
  void operator()(const PickledValue::List& list) {
    bytes_ += "](";
    put_all(list.items);
    bytes_ += 'e';
  }
  void operator()(const PickledValue::Tuple& tuple) {
    bytes_ += '(';
    put_all(tuple.items);
    bytes_ += 't';
  }
  void operator()(const PickledValue::Set& set) {
    global("__builtin__", "set");
    (*this)(PickledValue::List{set.items});
    bytes_ += "\x85R";
  }
  void operator()(const PickledValue::Dict& dict) {
    bytes_ += "}(";
    for (const PickledValue::Entry& entry : dict.entries) {
      std::visit(*this, entry.key.data);
      std::visit(*this, entry.value.data);
    }
    bytes_ += 'u';
  }
  void operator()(const PickledValue::Opaque& opaque) {
    throw Error("E753", fmt::format("a {} that was skipped on reading cannot be written", opaque.class_name));
  }

 private:
  void put(std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) bytes_ += static_cast<char>(value >> 8 * i & 255);
  }
  void put_all(const PickledValue::Items& items) {
    for (const PickledValue& item : items) std::visit(*this, item.data);
  }
  void global(std::string_view module, std::string_view name) {
    bytes_ += fmt::format("c{}\n{}\n", module, name);
  }
  void put_integers(at::IntArrayRef values) {
    bytes_ += '(';
    for (const std::int64_t value : values) (*this)(value);
    bytes_ += 't';
  }

  // How many tensors lie on each storage.
  void count_storages(const PickledValue& value) {
    if (const auto* tensor = value.get_if<at::Tensor>()) {
      tensor_io::require_plain(*tensor, "a tensor");
      ++users_[tensor->storage().unsafeGetStorageImpl()];
    } else if (const auto* dict = value.get_if<PickledValue::Dict>()) {
      for (const PickledValue::Entry& entry : dict->entries) count_storages(entry.value);
    } else {
      const auto* list = value.get_if<PickledValue::List>();
      const auto* tuple = value.get_if<PickledValue::Tuple>();
      if (list || tuple) {
        for (const PickledValue& item : list ? list->items : tuple->items) count_storages(item);
      }
    }
  }

  // Tensors with a storage of their own are stored contiguously; others keep their view of the whole storage.
  void put_tensor(const at::Tensor& tensor) {
    const auto* storage = tensor.storage().unsafeGetStorageImpl();
    if (users_.at(storage) == 1 || tensor.numel() == 0 || tensor.is_conj() || tensor.is_neg()) {
      const at::Tensor plain = tensor_io::plain_tensor(tensor, "a tensor");
      storages_.push_back(plain);
      return put_view(plain, storages_.size() - 1, plain.nbytes(), 0);
    }
    const auto [key, is_new] = keys_.emplace(storage, storages_.size());
    if (is_new) {
      const auto size = static_cast<std::int64_t>(tensor.storage().nbytes());
      storages_.push_back(
          at::empty({0}, tensor.options().dtype(at::kByte)).set_(tensor.storage(), 0, {size}, {1}).cpu());
    }
    put_view(tensor, key->second, tensor.storage().nbytes(), tensor.storage_offset());
  }

  // _rebuild_tensor_v2, or v3 for dtypes that have no class of typed storages.
  void put_view(const at::Tensor& tensor, std::size_t key, std::uint64_t bytes, std::int64_t offset) {
    const auto* dtype = tensor_io::find_dtype(tensor.scalar_type());
    if (!dtype) {
      throw Error("E753",
                  fmt::format("dtype {} cannot be written", tensor_io::dtype_name(tensor.scalar_type())));
    }
    const bool typed = !dtype->storage.empty() && bytes % tensor.element_size() == 0;
    global("torch._utils", typed ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
    bytes_ += "((";
    (*this)(std::string("storage"));
    global(typed ? "torch" : "torch.storage", typed ? dtype->storage : "UntypedStorage");
    (*this)(fmt::format("{}", key));
    (*this)(std::string("cpu"));
    (*this)(static_cast<std::int64_t>(typed ? bytes / tensor.element_size() : bytes));
    bytes_ += "tQ";
    (*this)(offset);
    put_integers(tensor.sizes());
    put_integers(tensor.strides());
    (*this)(false);
    global("collections", "OrderedDict");  // backward hooks: none
    bytes_ += ")R";
    if (!typed) (*this)(tensor.scalar_type());
    bytes_ += "tR";
  }

  std::string bytes_;
  std::map<const c10::StorageImpl*, std::size_t> users_;
  std::map<const c10::StorageImpl*, std::size_t> keys_;
  std::vector<at::Tensor> storages_;
};

}  // namespace

WrittenFile write_pt(const std::string& path, const PickledValue& value) {
  PickleWriter writer;
  const std::string pickle = writer.pickle(value);
  tensor_io::HashingWriter file(path);
  tensor_io::ZipWriter archive(file);
  archive.add("archive/data.pkl", pickle);
  archive.add("archive/byteorder", "little");
  for (std::size_t key = 0; key < writer.storages().size(); ++key) {
    archive.add(fmt::format("archive/data/{}", key), {tensor_io::bytes_of(writer.storages()[key])});
  }
  archive.add("archive/version", "3\n");
  archive.finish();
  return file.commit().whole();
}

WrittenFile write_pt(const std::string& path, const TensorMap& tensors) {
  PickledValue::Dict dict;
  for (const auto& [name, tensor] : tensors) dict.entries.push_back({{name}, {tensor}});
  return write_pt(path, PickledValue{std::move(dict)});
}

}  // namespace nexuml
