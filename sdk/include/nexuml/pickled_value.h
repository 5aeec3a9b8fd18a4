// State dicts and checkpoints of torch.save (.pt, .pth, .ckpt), read without running any code.
//
//     nexuml::PickledValue file = nexuml::read_pt("model.ckpt");
//     nexuml::StateDict weights = nexuml::state_dict_of(file, "model.ckpt");
//     weights.tensors.at("fc.weight");
//
//     nexuml::write_pt("state.pt", weights.tensors);   // opens with torch.load(..., weights_only=True)
//
// The reader understands tensors and plain values. Anything that Python would have to import or call is
// refused with E757, which names it; TorchScript archives, the format before PyTorch 1.6 and whole modules
// with E758, which says what to save instead. The checksum of each record is verified. [any thread]
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <nexuml/tensor_io.h>
#include <torch/types.h>

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace nexuml {

// A Python value. Tensors that shared a storage still do; they lie on the CPU and track no gradients.
struct NEXUML_EXPORT PickledValue {
  struct Entry;
  using Items = std::vector<PickledValue>;
  struct None {};
  struct BigInteger {
    std::string digits;  // decimal, beyond 64 bits
  };
  struct Bytes {
    std::string bytes;
  };
  struct Device {
    std::string name;  // cuda:0
  };
  struct List {
    Items items;
  };
  struct Tuple {
    Items items;
  };
  struct Set {
    Items items;
  };
  struct Dict {
    std::vector<Entry> entries;  // in order; keys may be of any kind
  };
  // An object that was skipped: argparse.Namespace.
  struct Opaque {
    std::string class_name;
  };

  std::variant<None, bool, std::int64_t, BigInteger, double, std::complex<double>, std::string, Bytes,
               at::Tensor, at::ScalarType, Device, List, Tuple, Set, Dict, Opaque>
      data;

  template <class T>
  const T* get_if() const noexcept {
    return std::get_if<T>(&data);
  }
  // The value of a text key of a dict; null where there is none and for what is no dict.
  const PickledValue* find(std::string_view key) const noexcept;
};

struct PickledValue::Entry {
  PickledValue key;
  PickledValue value;
};

// One line for people, in Python's spelling: `3`, `'größe'`, `None`, `tensor float32 [2, 3]`, `dict of 4`.
NEXUML_EXPORT std::string describe(const PickledValue& value);

NEXUML_EXPORT PickledValue read_pt(const std::string& path);
NEXUML_EXPORT PickledValue parse_pt(std::string_view bytes, const std::string& name);

// A file of pickle.dump: plain values and arrays of numpy, which become tensors. Texts of Python 2 hold
// bytes.
NEXUML_EXPORT PickledValue read_pickle(const std::string& path);

struct StateDict {
  TensorMap tensors;                 // names as in the file
  std::string key;                   // where they were found: "", "state_dict", "model"
  std::vector<std::string> skipped;  // entries of that dict that are no tensors
};

// The weights inside a file that `read_pt` gave. With a `key` ("model", "ema/weights") those of that dict;
// without, the whole dict where it holds tensors, else the only dict of tensors in it, or `state_dict` among
// several. Dicts inside are flattened with dots. E754 where there is none or a choice: it lists the
// candidates. `name` is for messages.
NEXUML_EXPORT StateDict state_dict_of(const PickledValue& root, const std::string& name,
                                      std::string_view key = {});

// The same tensors without `prefix`, where every name begins with it; otherwise unchanged. Lightning keeps a
// pipeline under `pipeline.`, torch.compile a module under `_orig_mod.`, data-parallel wrappers under
// `module.`.
NEXUML_EXPORT TensorMap without_prefix(const TensorMap& tensors, std::string_view prefix);

// A zip archive as torch.save writes it, with one dict. Tensors that share a storage still do when loaded.
NEXUML_EXPORT WrittenFile write_pt(const std::string& path, const TensorMap& tensors);
NEXUML_EXPORT WrittenFile write_pt(const std::string& path, const PickledValue& value);

}  // namespace nexuml
