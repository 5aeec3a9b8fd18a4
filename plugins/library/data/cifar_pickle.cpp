#include "data/cifar_pickle.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <nexuml/pickled_value.h>

namespace nexuml_library {

namespace {

constexpr std::int64_t record_pixels = 3072;

// Keys are texts, or the bytes that Python 3 makes of a text of Python 2.
const nexuml::PickledValue* find_entry(const nexuml::PickledValue& root, std::string_view key) {
  const auto* dict = root.get_if<nexuml::PickledValue::Dict>();
  if (!dict) return nullptr;
  for (const auto& entry : dict->entries) {
    const auto* text = entry.key.get_if<std::string>();
    const auto* bytes = entry.key.get_if<nexuml::PickledValue::Bytes>();
    if ((text && *text == key) || (bytes && bytes->bytes == key)) return &entry.value;
  }
  return nullptr;
}

at::Tensor label_column(const nexuml::PickledValue::List& list, const std::filesystem::path& file,
                        const char* name) {
  at::Tensor column = at::empty({static_cast<std::int64_t>(list.items.size()), 1}, at::kByte);
  auto* bytes = column.mutable_data_ptr<std::uint8_t>();
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const auto* number = list.items[i].get_if<std::int64_t>();
    if (!number || *number < 0 || *number > 255)
      throw nexuml::Error("E831",
                          fmt::format("entry {} of '{}' is {}; a class number is expected", i, name,
                                      nexuml::describe(list.items[i])),
                          nexuml::Where::in_file(file.string()));
    bytes[i] = static_cast<std::uint8_t>(*number);
  }
  return column;
}

}  // namespace

at::Tensor read_pickled_records(const std::filesystem::path& file, const std::vector<const char*>& labels) {
  const nexuml::PickledValue root = nexuml::read_pickle(file.string());
  const auto refuse = [&](const std::string& message) {
    throw nexuml::Error("E831", message, nexuml::Where::in_file(file.string()), "fetch the file again");
  };
  const auto* data = find_entry(root, "data");
  const auto* pixels = data ? data->get_if<at::Tensor>() : nullptr;
  if (!pixels || pixels->scalar_type() != at::kByte || pixels->dim() != 2 || pixels->size(1) != record_pixels)
    refuse(fmt::format("'data' is {}; an array of bytes [images, {}] is expected",
                       data ? nexuml::describe(*data) : std::string("missing"), record_pixels));
  std::vector<at::Tensor> columns;
  for (const char* name : labels) {
    const auto* entry = find_entry(root, name);
    const auto* list = entry ? entry->get_if<nexuml::PickledValue::List>() : nullptr;
    if (!list) refuse(fmt::format("the list '{}' is missing", name));
    if (static_cast<std::int64_t>(list->items.size()) != pixels->size(0))
      refuse(fmt::format("{} entries of '{}' for {} images", list->items.size(), name, pixels->size(0)));
    columns.push_back(label_column(*list, file, name));
  }
  columns.push_back(*pixels);
  return at::cat(columns, 1);
}

}  // namespace nexuml_library
