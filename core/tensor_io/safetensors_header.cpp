#include "tensor_io/safetensors_header.h"

#include <fmt/format.h>
#include <nexuml/value.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "tensor_io/dtypes.h"
#include "tensor_io/layout.h"

namespace nexuml::tensor_io {

namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the limit of the safetensors package
constexpr std::string_view kMetadata = "__metadata__";

// Turns the parsed header into tensors and reports everything that is wrong with it.
class HeaderCheck {
 public:
  HeaderCheck(const std::string& file, SafetensorsHeader& header) : file_(file), header_(header) {}

  void run(const Value& root) {
    if (!root.is_map()) {
      problem(kMetadata,
              fmt::format("the header is a {}, a map of tensors is expected", kind_name(root.kind())));
      return throw_problems();
    }
    for (const Value::Entry& entry : root.entries()) {
      if (entry.key == kMetadata) {
        read_metadata(entry.value);
      } else {
        read_tensor(entry.key, entry.value);
      }
    }
    throw_problems();
    check_coverage();
    throw_problems();
  }

 private:
  void problem(std::string_view tensor, std::string message) {
    Where where = Where::in_file(file_);
    where.key_path = std::string(tensor);
    problems_.error("E752", std::move(message), std::move(where));
  }

  void throw_problems() const {
    if (problems_.has_errors()) throw Error(problems_);
  }

  std::uint64_t data_size() const { return header_.file_size - header_.data_offset; }

  void read_metadata(const Value& metadata) {
    if (!metadata.is_map()) {
      return problem(kMetadata, fmt::format("{} is a {}, a map of texts is expected", kMetadata,
                                            kind_name(metadata.kind())));
    }
    for (const Value::Entry& entry : metadata.entries()) {
      if (entry.value.is_string()) {
        header_.metadata.emplace(entry.key, entry.value.as_string());
      } else {
        problem(kMetadata, fmt::format("{}: '{}' is {}, text is expected", kMetadata, entry.key,
                                       describe_for_message(entry.value)));
      }
    }
  }

  void read_tensor(const std::string& name, const Value& entry) {
    TensorInfo info;
    info.name = name;
    const std::size_t before = problems_.size();
    const DtypeNames* dtype = read_dtype(name, entry.find("dtype"));
    read_shape(info, entry.find("shape"));
    read_offsets(info, entry.find("data_offsets"));
    if (problems_.size() == before) check_extent(info, *dtype);
    header_.tensors.push_back(std::move(info));
  }

  const DtypeNames* read_dtype(const std::string& name, const Value* dtype) {
    if (!dtype || !dtype->is_string()) {
      problem(name, fmt::format("tensor '{}' has no dtype", name));
      return nullptr;
    }
    const DtypeNames* names = find_safetensors_dtype(dtype->as_string());
    if (!names)
      problem(name, fmt::format("tensor '{}' has the unknown dtype '{}'", name, dtype->as_string()));
    return names;
  }

  void read_shape(TensorInfo& info, const Value* shape) {
    if (!shape || !shape->is_list()) {
      return problem(info.name, fmt::format("tensor '{}' has no list 'shape'", info.name));
    }
    for (const Value& size : shape->items()) {
      if (!size.is_integer() || size.as_integer() < 0) {
        return problem(info.name, fmt::format("tensor '{}' has {} in its shape, integers from 0 are expected",
                                              info.name, describe_for_message(size)));
      }
      info.shape.push_back(size.as_integer());
    }
  }

  void read_offsets(TensorInfo& info, const Value* offsets) {
    if (!offsets || !offsets->is_list() || offsets->size() != 2) {
      return problem(info.name, fmt::format("tensor '{}' has no list of two 'data_offsets'", info.name));
    }
    for (const Value& offset : offsets->items()) {
      if (!offset.is_integer() || offset.as_integer() < 0) {
        return problem(info.name,
                       fmt::format("tensor '{}' has {} in its data_offsets, integers from 0 are expected",
                                   info.name, describe_for_message(offset)));
      }
    }
    info.begin = static_cast<std::uint64_t>(offsets->items()[0].as_integer());
    info.end = static_cast<std::uint64_t>(offsets->items()[1].as_integer());
  }

  void check_extent(TensorInfo& info, const DtypeNames& dtype) {
    info.dtype = dtype.dtype;
    const std::size_t item_size = c10::elementSize(dtype.dtype);
    const auto needed = checked_bytes(info.shape, item_size);
    if (info.end < info.begin) {
      problem(info.name, fmt::format("tensor '{}' ends at byte {} before it begins at byte {}", info.name,
                                     info.end, info.begin));
    } else if (!needed) {
      problem(info.name,
              fmt::format("tensor '{}' has the impossible shape {}: its size in bytes leaves 63 bits, the "
                          "file holds {} for it",
                          info.name, shape_text(info.shape), info.end - info.begin));
    } else if (*needed != info.end - info.begin) {
      problem(
          info.name,
          fmt::format("tensor '{}' of shape {} and dtype {} needs {}, the file holds {} for it", info.name,
                      shape_text(info.shape), dtype.safetensors, byte_count(*needed), info.end - info.begin));
    } else if (info.end > data_size()) {
      problem(info.name,
              fmt::format("tensor '{}' ends at byte {} of the data section, which has {}: the file is cut "
                          "off or its header is wrong",
                          info.name, info.end, byte_count(data_size())));
    }
  }

  void check_coverage() {
    std::uint64_t covered = 0;
    std::string previous = "the start of the data";
    for (const TensorInfo* info : in_data_order(header_)) {
      if (info->begin < covered) {
        problem(info->name, fmt::format("tensor '{}' begins at byte {} inside {}, which ends at byte {}",
                                        info->name, info->begin, previous, covered));
      } else if (info->begin > covered) {
        problem(info->name,
                fmt::format("{} before tensor '{}' belong to no tensor: {} ends at byte {}, it begins "
                            "at byte {}",
                            byte_count(info->begin - covered), info->name, previous, covered, info->begin));
      }
      covered = std::max(covered, info->end);
      previous = fmt::format("tensor '{}'", info->name);
    }
    if (covered < data_size()) {
      problem("", fmt::format(
                      "{} after the last tensor belong to none: {} ends at byte {}, the data section has {}",
                      byte_count(data_size() - covered), previous, covered, byte_count(data_size())));
    }
  }

  const std::string& file_;
  SafetensorsHeader& header_;
  Diagnostics problems_;
};

std::uint64_t read_header_length(const Input& input) {
  if (input.size() < 8) {
    const std::string kind = describe_foreign(input);
    refuse("E751",
           fmt::format("{} is no safetensors file: it has {}{}{}", input.name(), byte_count(input.size()),
                       kind.empty() ? ", at least 8 are expected" : ", ", kind),
           input.name());
  }
  std::uint64_t length = 0;
  input.read(0, std::as_writable_bytes(std::span(&length, 1)));
  if (length <= kMaxHeader && length <= input.size() - 8) return length;
  const std::string kind = describe_foreign(input);
  if (!kind.empty() && !kind.ends_with("a safetensors file")) {
    refuse("E751",
           fmt::format("{} ({}) is no safetensors file: {}", input.name(), byte_count(input.size()), kind),
           input.name());
  }
  if (length > kMaxHeader) {
    refuse("E751",
           fmt::format("{} ({}) is no safetensors file: its header would have {}, at most {} are read",
                       input.name(), byte_count(input.size()), byte_count(length), byte_count(kMaxHeader)),
           input.name());
  }
  refuse("E751",
         fmt::format("{} is cut off inside its header: the header has {}, the file {}", input.name(),
                     byte_count(length), byte_count(input.size())),
         input.name(), "fetch or copy the file again");
}

}  // namespace

std::vector<const TensorInfo*> in_data_order(const SafetensorsHeader& header) {
  std::vector<const TensorInfo*> order;
  order.reserve(header.tensors.size());
  for (const TensorInfo& info : header.tensors) order.push_back(&info);
  std::ranges::stable_sort(order, {},
                           [](const TensorInfo* info) { return std::tuple(info->begin, info->end); });
  return order;
}

SafetensorsHeader read_safetensors_header(const Input& input) {
  const std::uint64_t length = read_header_length(input);
  SafetensorsHeader header;
  header.file_size = input.size();
  header.data_offset = 8 + length;
  Diagnostics problems;
  const DocumentLimits limits{.max_bytes = kMaxHeader, .max_depth = 8, .max_nodes = kMaxHeader / 2};
  const Value root = parse_json(input.read_text(8, length), input.name(), problems, limits);
  if (problems.has_errors()) {
    Diagnostics all;
    all.error("E752",
              fmt::format("the header of {} ({}) cannot be read", input.name(), byte_count(input.size())),
              Where::in_file(input.name()));
    all.append(problems);
    throw Error(std::move(all));
  }
  HeaderCheck(input.name(), header).run(root);
  return header;
}

}  // namespace nexuml::tensor_io
