#include "tensor_io/pickle_globals.h"

#include <deque>
#include <map>
#include <string>

#include "tensor_io/dtypes.h"

namespace nexuml::tensor_io {

namespace {

constexpr PickleGlobal kGlobals[] = {
    {"collections.OrderedDict", PickleWord::ordered_dict},
    {"collections.Counter", PickleWord::ordered_dict},
    {"builtins.set", PickleWord::set},
    {"__builtin__.set", PickleWord::set},
    {"builtins.frozenset", PickleWord::set},
    {"__builtin__.frozenset", PickleWord::set},
    {"builtins.bytearray", PickleWord::bytes_array},
    {"__builtin__.bytearray", PickleWord::bytes_array},
    {"builtins.complex", PickleWord::complex},
    {"__builtin__.complex", PickleWord::complex},
    {"_codecs.encode", PickleWord::encode},
    {"torch.Size", PickleWord::size},
    {"torch.device", PickleWord::device},
    {"torch.Tensor", PickleWord::tensor_class},
    {"torch.nn.parameter.Parameter", PickleWord::tensor_class},
    {"torch.nn.parameter.Buffer", PickleWord::tensor_class},
    {"torch.storage.UntypedStorage", PickleWord::untyped_storage},
    {"torch.UntypedStorage", PickleWord::untyped_storage},
    {"torch._utils._rebuild_tensor_v2", PickleWord::rebuild_tensor},
    {"torch._utils._rebuild_tensor_v3", PickleWord::rebuild_tensor_with_dtype},
    {"torch._utils._rebuild_parameter", PickleWord::rebuild_parameter},
    {"torch._utils._rebuild_parameter_with_state", PickleWord::rebuild_parameter},
    {"torch._tensor._rebuild_from_type_v2", PickleWord::rebuild_from_type},
    {"argparse.Namespace", PickleWord::opaque_class},
    {"numpy.core.multiarray._reconstruct", PickleWord::numpy_reconstruct},
    {"numpy._core.multiarray._reconstruct", PickleWord::numpy_reconstruct},
    {"numpy.core.numeric._frombuffer", PickleWord::numpy_from_buffer},
    {"numpy._core.numeric._frombuffer", PickleWord::numpy_from_buffer},
    {"numpy.ndarray", PickleWord::numpy_array},
    {"numpy.dtype", PickleWord::numpy_dtype},
};

using GlobalTable = std::map<std::string_view, PickleGlobal>;

// Storage classes are found in `torch` and, on the GPU, in `torch.cuda`; the spelling `torch.cuda` is read as
// well.
GlobalTable make_table() {
  static std::deque<std::string> names;
  GlobalTable table;
  for (const PickleGlobal& global : kGlobals) table.emplace(global.name, global);
  for (const DtypeNames& dtype : all_dtypes()) {
    const std::string& torch_name = names.emplace_back("torch." + std::string(dtype.torch));
    table.emplace(torch_name, PickleGlobal{torch_name, PickleWord::dtype, dtype.dtype});
    if (dtype.storage.empty()) continue;
    for (const std::string_view module : {"torch.", "torch.cuda."}) {
      const std::string& name = names.emplace_back(std::string(module) + std::string(dtype.storage));
      table.emplace(name, PickleGlobal{name, PickleWord::storage, dtype.dtype});
    }
  }
  return table;
}

}  // namespace

const PickleGlobal* find_pickle_global(std::string_view name) {
  static const GlobalTable table = make_table();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace nexuml::tensor_io
