#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/pickled_value.h>

#include <algorithm>

#include "tensor_io/dtypes.h"
#include "tensor_io/layout.h"

namespace nexuml {

namespace {

using Dict = PickledValue::Dict;

bool is_tensor(const PickledValue& value) {
  return value.get_if<at::Tensor>() != nullptr;
}

// A dict that holds tensors under text keys, whatever else it holds.
bool holds_tensors(const PickledValue& value) {
  const Dict* dict = value.get_if<Dict>();
  return dict && std::ranges::any_of(dict->entries, [](const auto& entry) {
           return is_tensor(entry.value) && entry.key.template get_if<std::string>();
         });
}

void flatten(const Dict& dict, const std::string& prefix, StateDict& result) {
  for (const PickledValue::Entry& entry : dict.entries) {
    const auto* key = entry.key.get_if<std::string>();
    const std::string name = prefix + (key ? *key : describe(entry.key));
    if (const auto* tensor = entry.value.get_if<at::Tensor>(); tensor && key) {
      result.tensors.add(name, *tensor);
    } else if (const auto* inner = entry.value.get_if<Dict>(); inner && key) {
      flatten(*inner, name + ".", result);
    } else {
      result.skipped.push_back(name);
    }
  }
}

[[noreturn]] void refuse_choice(const std::string& name, std::string message, std::string hint) {
  throw Error("E754", fmt::format("{}: {}", name, message), Where::in_file(name), std::move(hint));
}

std::vector<std::string> text_keys(const PickledValue& value, bool (*wanted)(const PickledValue&)) {
  std::vector<std::string> keys;
  const Dict* dict = value.get_if<Dict>();
  if (!dict) return keys;
  for (const auto& entry : dict->entries) {
    const auto* key = entry.key.get_if<std::string>();
    if (key && wanted(entry.value)) keys.push_back(*key);
  }
  return keys;
}

const PickledValue& follow(const PickledValue& root, const std::string& name, std::string_view path) {
  const PickledValue* place = &root;
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view key = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(key.size() + 1, rest.size()));
    const PickledValue* next = place->find(key);
    if (!next) {
      const auto keys = text_keys(*place, [](const PickledValue&) { return true; });
      refuse_choice(name, fmt::format("no '{}' in it: it holds {}", key, fmt::join(keys, ", ")),
                    did_you_mean(key, keys));
    }
    place = next;
  }
  return *place;
}

// The key of the only dict of tensors below the root, `state_dict` among several, "" for the root itself.
std::string choose_key(const PickledValue& root, const std::string& name) {
  const auto candidates = text_keys(root, holds_tensors);
  const bool root_has_tensors = holds_tensors(root);
  if (candidates.empty() || root_has_tensors) return {};
  if (candidates.size() == 1) return candidates.front();
  if (std::ranges::count(candidates, "state_dict") > 0) return "state_dict";
  refuse_choice(name, fmt::format("several of its entries hold tensors: {}", fmt::join(candidates, ", ")),
                fmt::format("name one of them, such as {}#{}", name, candidates.front()));
}

template <class Range>
std::string count_text(std::string_view kind, const Range& range) {
  return fmt::format("{} of {}", kind, range.size());
}

struct Describe {
  std::string operator()(const PickledValue::None&) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(const PickledValue::BigInteger& value) const { return value.digits; }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::complex<double>& value) const {
    return fmt::format("({}{:+}j)", value.real(), value.imag());
  }
  std::string operator()(const std::string& value) const { return fmt::format("'{}'", value); }
  std::string operator()(const PickledValue::Bytes& value) const { return count_text("bytes", value.bytes); }
  std::string operator()(const at::Tensor& value) const {
    return fmt::format("tensor {} {}", tensor_io::dtype_name(value.scalar_type()),
                       tensor_io::shape_text(value.sizes()));
  }
  std::string operator()(at::ScalarType value) const {
    return fmt::format("torch.{}", tensor_io::dtype_name(value));
  }
  std::string operator()(const PickledValue::Device& value) const {
    return fmt::format("device '{}'", value.name);
  }
  std::string operator()(const PickledValue::List& value) const { return count_text("list", value.items); }
  std::string operator()(const PickledValue::Tuple& value) const { return count_text("tuple", value.items); }
  std::string operator()(const PickledValue::Set& value) const { return count_text("set", value.items); }
  std::string operator()(const Dict& value) const { return count_text("dict", value.entries); }
  std::string operator()(const PickledValue::Opaque& value) const {
    return fmt::format("{} (skipped)", value.class_name);
  }
};

}  // namespace

const PickledValue* PickledValue::find(std::string_view key) const noexcept {
  const Dict* dict = get_if<Dict>();
  if (!dict) return nullptr;
  const auto found = std::ranges::find_if(dict->entries, [&](const Entry& entry) {
    const auto* text = entry.key.get_if<std::string>();
    return text && *text == key;
  });
  return found == dict->entries.end() ? nullptr : &found->value;
}

std::string describe(const PickledValue& value) {
  return std::visit(Describe{}, value.data);
}

StateDict state_dict_of(const PickledValue& root, const std::string& name, std::string_view key) {
  StateDict result;
  result.key = key.empty() ? choose_key(root, name) : std::string(key);
  const PickledValue& place = follow(root, name, result.key);
  if (const Dict* dict = place.get_if<Dict>()) flatten(*dict, "", result);
  if (!result.tensors.empty()) return result;
  const auto keys = text_keys(place, [](const PickledValue&) { return true; });
  refuse_choice(name,
                keys.empty() ? fmt::format("no weights in it: it holds {}, a dict of tensors is expected",
                                           describe(place))
                             : fmt::format("no dict of tensors in it: it holds {}", fmt::join(keys, ", ")),
                "save model.state_dict()");
}

TensorMap without_prefix(const TensorMap& tensors, std::string_view prefix) {
  const bool everywhere = std::ranges::all_of(tensors, [&](const auto& entry) {
    return entry.first.starts_with(prefix) && entry.first.size() > prefix.size();
  });
  if (!everywhere) return tensors;
  TensorMap result;
  for (const auto& [name, tensor] : tensors) result.add(name.substr(prefix.size()), tensor);
  return result;
}

}  // namespace nexuml
