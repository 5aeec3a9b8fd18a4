#include <fmt/format.h>
#include <nexuml/pickled_value.h>

#include <algorithm>
#include <map>

#include "tensor_io/dtypes.h"
#include "tensor_io/input_file.h"
#include "tensor_io/layout.h"
#include "tensor_io/pickle_machine.h"
#include "tensor_io/zip_reader.h"

namespace nexuml {

namespace {

using tensor_io::refuse;

constexpr std::uint64_t kMaxPickle = 256u << 20;

// The bytes of the tensors, each record read once and shared by all tensors on it.
class StorageRecords {
 public:
  StorageRecords(const tensor_io::ZipArchive& archive, std::string folder)
      : archive_(archive), folder_(std::move(folder)) {}

  at::Tensor make_tensor(const tensor_io::PickleStorage& wanted, const tensor_io::TensorLayout& layout) {
    const at::Tensor& bytes = load(wanted);
    check_extent(layout, static_cast<std::uint64_t>(bytes.numel()));
    at::Tensor tensor = at::empty({0}, at::TensorOptions(layout.dtype));
    const std::int64_t offset = std::ranges::count(layout.sizes, 0) > 0 ? 0 : layout.offset;
    return tensor.set_(bytes.storage(), offset, layout.sizes, layout.strides);
  }

 private:
  const std::string& file() const { return archive_.input().name(); }

  const at::Tensor& load(const tensor_io::PickleStorage& wanted) {
    const auto known = loaded_.find(wanted.key);
    if (known != loaded_.end()) {
      check_size(wanted, static_cast<std::uint64_t>(known->second.numel()));
      return known->second;
    }
    const std::string name = folder_ + "data/" + wanted.key;
    const tensor_io::ZipRecord* record = archive_.find(name);
    if (!record) {
      refuse("E757", fmt::format("{} has no record '{}' for the storage '{}'", file(), name, wanted.key),
             file());
    }
    check_size(wanted, record->size);
    const std::int64_t size = static_cast<std::int64_t>(record->size);
    at::Tensor bytes = tensor_io::allocate(std::span(&size, 1), at::kByte, name);
    archive_.read(*record, tensor_io::writable_bytes_of(bytes));
    return loaded_.emplace(wanted.key, std::move(bytes)).first->second;
  }

  void check_size(const tensor_io::PickleStorage& wanted, std::uint64_t present) const {
    if (wanted.bytes == present) return;
    refuse("E757",
           fmt::format("{}: the storage '{}' should have {}, its record has {}", file(), wanted.key,
                       tensor_io::byte_count(wanted.bytes), tensor_io::byte_count(present)),
           file());
  }

  [[noreturn]] void refuse_tensor(const tensor_io::TensorLayout& layout, std::string_view reason) const {
    refuse("E757",
           fmt::format("{}: tensor '{}' of shape {} with strides {} and offset {} {}", file(), layout.name,
                       tensor_io::shape_text(layout.sizes), tensor_io::shape_text(layout.strides),
                       layout.offset, reason),
           file());
  }

  // The last element must lie inside the storage; repeated elements (stride 0) may not blow up a copy of the
  // tensor.
  void check_extent(const tensor_io::TensorLayout& layout, std::uint64_t storage_bytes) const {
    constexpr std::uint64_t kMaxRepeated = 1u << 30;
    const std::size_t item_size = c10::elementSize(layout.dtype);
    const auto bytes = tensor_io::checked_bytes(layout.sizes, item_size);
    if (layout.sizes.size() != layout.strides.size() || layout.offset < 0 || !bytes) {
      refuse_tensor(layout, "is impossible");
    }
    std::int64_t last = layout.offset;
    bool fits = true;
    for (std::size_t i = 0; i < layout.sizes.size(); ++i) {
      std::int64_t reach = 0;
      const std::int64_t steps = std::max<std::int64_t>(layout.sizes[i] - 1, 0);
      fits = fits && layout.strides[i] >= 0 && !__builtin_mul_overflow(steps, layout.strides[i], &reach) &&
             !__builtin_add_overflow(last, reach, &last);
    }
    if (!fits) refuse_tensor(layout, "is impossible");
    if (*bytes == 0) return;
    if (static_cast<std::uint64_t>(last) >= storage_bytes / item_size) {
      refuse_tensor(layout,
                    fmt::format("reaches element {}, its storage has {}", last, storage_bytes / item_size));
    }
    if (*bytes > std::max(storage_bytes, kMaxRepeated)) {
      refuse_tensor(layout, fmt::format("repeats {} of storage to {}", tensor_io::byte_count(storage_bytes),
                                        tensor_io::byte_count(*bytes)));
    }
  }

  const tensor_io::ZipArchive& archive_;
  std::string folder_;
  std::map<std::string, at::Tensor> loaded_;  // uint8, one dimension
};

// Says what a file is that is no zip archive.
[[noreturn]] void refuse_foreign(const tensor_io::Input& input) {
  const std::string head = input.read_text(0, std::min<std::uint64_t>(input.size(), 16));
  const std::string start = fmt::format("{} ({})", input.name(), tensor_io::byte_count(input.size()));
  if (head.starts_with(std::string_view("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14))) {
    refuse("E758",
           fmt::format("{} has the format of torch.save before PyTorch 1.6, which is not read", start),
           input.name(), "load it in Python with a newer PyTorch and save it again");
  }
  if (head.size() > 1 && head[0] == '\x80' && head[1] >= 0 && head[1] <= 5) {
    refuse("E758", fmt::format("{} is a bare Python pickle, not a file of torch.save", start), input.name(),
           "save it with torch.save");
  }
  const std::string kind = tensor_io::describe_foreign(input);
  refuse("E751",
         fmt::format("{} is no file of torch.save: {}", start, kind.empty() ? "no zip archive" : kind),
         input.name(),
         kind.ends_with("a safetensors file") ? "read it as safetensors" : "fetch or copy the file again");
}

// The folder of the archive that holds data.pkl, with its slash.
std::string find_folder(const tensor_io::ZipArchive& archive) {
  const std::string& file = archive.input().name();
  std::string folder;
  bool has_pickle = false;
  for (const tensor_io::ZipRecord& record : archive.records()) {
    const std::size_t slash = record.name.find('/');
    if (slash == std::string::npos) continue;
    const std::string_view inner = std::string_view(record.name).substr(slash + 1);
    if (inner == "constants.pkl" || inner.starts_with("code/")) {
      refuse("E758", fmt::format("{} is a TorchScript archive, weights are expected", file), file,
             "save state_dict() of the module with torch.save instead");
    }
    if (inner == "data.pkl") {
      folder = record.name.substr(0, slash + 1);
      has_pickle = true;
    }
  }
  if (has_pickle) return folder;
  const bool arrays = std::ranges::any_of(archive.records(),
                                          [](const auto& record) { return record.name.ends_with(".npy"); });
  refuse("E758",
         fmt::format("{} is a zip archive without data.pkl: torch.save did not write it{}", file,
                     arrays ? ", it holds NPY arrays" : ""),
         file);
}

PickledValue read_input(const tensor_io::Input& input) {
  if (input.size() < 4 || input.read_text(0, 4) != "PK\x03\x04") refuse_foreign(input);
  const tensor_io::ZipArchive archive(input);
  const std::string folder = find_folder(archive);
  if (const auto* order = archive.find(folder + "byteorder");
      order && archive.read_text(*order) != "little") {
    refuse("E758", fmt::format("{} was written on a big-endian machine, which is not read", input.name()),
           input.name(), "load and save it again on a little-endian one");
  }
  const tensor_io::ZipRecord& record = *archive.find(folder + "data.pkl");
  if (record.size > kMaxPickle) {
    refuse("E757",
           fmt::format("{}: its pickle has {}, at most {} are read", input.name(),
                       tensor_io::byte_count(record.size), tensor_io::byte_count(kMaxPickle)),
           input.name());
  }
  const std::string pickle = archive.read_text(record);
  StorageRecords storages(archive, folder);
  tensor_io::PickleMachine machine(
      pickle, input.name(),
      [&](const tensor_io::PickleStorage& storage, const tensor_io::TensorLayout& layout) {
        return storages.make_tensor(storage, layout);
      });
  return machine.run();
}

}  // namespace

PickledValue read_pt(const std::string& path) {
  return read_input(*tensor_io::FileInput::open(path));
}

PickledValue parse_pt(std::string_view bytes, const std::string& name) {
  return read_input(tensor_io::MemoryInput(bytes, name));
}

}  // namespace nexuml
