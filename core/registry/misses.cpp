#include "registry/misses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/schema_node.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace nexuml::detail {
namespace {

// Components of earlier systems that are plain modules here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRemoved{
    {{"IdentityLayer", "torch.nn:Identity"},
     {"Dropout", "torch.nn:Dropout"},
     {"Flatten", "torch.nn:Flatten"}}};

// Modules of torch.nn that cannot be targets, and why: a module takes one tensor and gives one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 29> kNotOneToOne{
    {{"RNN", "it returns an output and a state"},
     {"LSTM", "it returns an output and a state"},
     {"GRU", "it returns an output and a state"},
     {"RNNCell", "it takes an input and a state"},
     {"LSTMCell", "it takes an input and a state"},
     {"GRUCell", "it takes an input and a state"},
     {"MultiheadAttention", "it takes a query, keys and values"},
     {"Transformer", "it takes a source and a target"},
     {"TransformerEncoder", "it takes an input and masks"},
     {"TransformerEncoderLayer", "it takes an input and masks"},
     {"TransformerDecoder", "it takes a target and a memory"},
     {"TransformerDecoderLayer", "it takes a target and a memory"},
     {"Bilinear", "it takes two tensors"},
     {"CosineSimilarity", "it takes two tensors"},
     {"PairwiseDistance", "it takes two tensors"},
     {"EmbeddingBag", "it takes indices and offsets"},
     {"MaxUnpool1d", "it takes values and indices"},
     {"MaxUnpool2d", "it takes values and indices"},
     {"MaxUnpool3d", "it takes values and indices"},
     {"AdaptiveLogSoftmaxWithLoss", "it takes two tensors and returns two"},
     {"ModuleList", "it holds modules, which are layers of their own here"},
     {"ModuleDict", "it holds modules, which are layers of their own here"},
     {"ParameterList", "it holds parameters and computes nothing"},
     {"ParameterDict", "it holds parameters and computes nothing"},
     {"Module", "it computes nothing by itself"},
     {"RNNBase", "it returns an output and a state"},
     {"RNNCellBase", "it takes an input and a state"},
     {"Container", "it holds modules, which are layers of their own here"}}};

// Why a name of torch.nn is no target, or nothing.
std::string_view not_one_to_one(std::string_view spelling, std::string_view segment) {
  if (!spelling.starts_with("torch.nn")) return {};
  for (const auto& [name, reason] : kNotOneToOne)
    if (segment == name) return reason;
  return segment.ends_with("Loss") ? "it compares two tensors" : std::string_view();
}

// `nexuml_library.layers:LinearEncoder` -> `LinearEncoder`
std::string last_segment(const std::string& name) {
  const auto split = name.find_last_of(".:/");
  return split == std::string::npos ? name : name.substr(split + 1);
}

std::vector<std::string> names_of_kind(const KnownNames& known, ComponentKind kind) {
  std::set<std::string> names;
  for (const Identity& identity : known.identities)
    if (identity.kind == kind) names.insert(identity.name);
  return {names.begin(), names.end()};
}

std::string sentence(std::string hint, const std::string& searched) {
  if (searched.empty()) return hint;
  return hint.empty() ? searched : hint + " " + searched;
}

bool report_other_version(const Identity& wanted, const Where& at, const KnownNames& known,
                          Diagnostics& problems) {
  std::vector<std::string> versions;
  for (const Identity& identity : known.identities)
    if (identity.kind == wanted.kind && identity.name == wanted.name) versions.push_back(identity.version);
  if (versions.empty()) return false;
  std::ranges::sort(versions);
  problems
      .error("E732",
             fmt::format("there is no version '{}' of {}: {} exists in version {}", wanted.version,
                         wanted.name, wanted.name, fmt::join(versions, ", ")),
             at)
      .hint = fmt::format("write version: '{}'", versions.back());
  return true;
}

bool report_other_kind(const Identity& wanted, const Where& at, const KnownNames& known,
                       Diagnostics& problems) {
  for (const Identity& identity : known.identities)
    if (identity.name == wanted.name) {
      problems
          .error("E731",
                 fmt::format("{} is a {}, a {} is needed here", wanted.name, to_string(identity.kind),
                             to_string(wanted.kind)),
                 at)
          .hint = fmt::format("`nexuml-run registry list` shows what there is of each kind");
      return true;
    }
  return false;
}

}  // namespace

void report_missing_definition(const Identity& wanted, const Where& type_at, const Where& version_at,
                               const KnownNames& known, Diagnostics& problems) {
  if (report_other_version(wanted, version_at, known, problems)) return;
  if (report_other_kind(wanted, type_at, known, problems)) return;
  for (const auto& [name, target] : kRemoved)
    if (wanted.kind == ComponentKind::layer && wanted.name == name) {
      problems.error("E735", fmt::format("{} is no component: a plain module needs none", name), type_at)
          .hint =
          fmt::format("write type: NnModule with params: {{factory: '{}', args: [], kwargs: {{}}}}", target);
      return;
    }
  const std::vector<std::string> names = names_of_kind(known, wanted.kind);
  const std::string segment = last_segment(wanted.name);
  std::string hint = did_you_mean(wanted.name, names);
  if (segment != wanted.name && std::ranges::find(names, segment) != names.end())
    hint = "type is a registered name: " + segment + ".";
  problems.error("E730", fmt::format("no {} is named '{}'", to_string(wanted.kind), wanted.name), type_at)
      .hint = sentence(std::move(hint), known.searched);
}

void report_missing_target(TargetKind kind, const std::string& spelling, const Where& at,
                           const KnownNames& known, Diagnostics& problems) {
  if (!canonical_target_spelling(spelling)) {
    problems.error("E733", fmt::format("'{}' is not the name of a target", spelling), at).hint =
        "write module:name with one top-level name, such as torch.nn:Linear";
    return;
  }
  const std::string segment = last_segment(spelling);
  if (const auto reason = not_one_to_one(spelling, segment); !reason.empty()) {
    problems
        .error("E733",
               fmt::format("{} cannot be used here: {}; a module takes one tensor and returns one", spelling,
                           reason),
               at)
        .hint = "write a layer of your own for it, or use one of `nexuml-run registry list layers`";
    return;
  }
  std::string hint = did_you_mean(*canonical_target_spelling(spelling), known.targets);
  if (hint.empty()) {
    for (const std::string& target : known.targets)
      if (last_segment(target) == segment) {
        hint = "did you mean " + target + "?";
        break;
      }
  }
  problems.error("E733", fmt::format("no {} is registered as '{}'", to_string(kind), spelling), at).hint =
      sentence(std::move(hint), known.searched);
}

void report_wrong_target_kind(const std::string& spelling, TargetKind found, TargetKind wanted,
                              const Where& at, Diagnostics& problems) {
  problems
      .error(
          "E736",
          fmt::format(
              "'{}' is a {}, a {} is needed here{}", spelling, to_string(found), to_string(wanted),
              found == TargetKind::loss && wanted == TargetKind::module ? ": it compares two tensors" : ""),
          at)
      .hint = "`nexuml-run registry list targets` shows each kind";
}

}  // namespace nexuml::detail
