#include "checkpoint/weights.h"

#include <ATen/ops/equal.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <nexuml/pickled_value.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "checkpoint/wrapper_names.h"
#include "tensor_io/layout.h"

namespace nexuml {

namespace {

constexpr std::size_t listed_names = 10;

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> shown(names.begin(), names.begin() + std::min(names.size(), listed_names));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > listed_names) text += fmt::format(" and {} more", names.size() - listed_names);
  return text;
}

bool selected(const std::string& name, const CheckpointLoadSpec& rules) {
  const auto any = [&](const Keys& patterns) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& glob) { return matches_glob(name, glob); });
  };
  return (rules.include.empty() || any(rules.include)) && !any(rules.exclude);
}

bool is_transposed(const at::Tensor& left, const at::Tensor& right) {
  return left.dim() == 2 && right.dim() == 2 && left.size(0) == right.size(1) &&
         left.size(1) == right.size(0);
}

std::string dtype_text(const at::Tensor& tensor) {
  return c10::toString(tensor.scalar_type());
}

// Where a conversion would drop more than precision: a fraction, an imaginary part, all but true and false.
bool loses_values(const at::Tensor& from, const at::Tensor& to) {
  return !at::canCast(from.scalar_type(), to.scalar_type());
}

bool same_values(const at::Tensor& left, const at::Tensor& right) {
  return left.scalar_type() == right.scalar_type() && at::equal(left, right);
}

// Names of one tensor of the module under which the file holds different values.
std::vector<std::string> torn_ties(const TensorMap& own, const TensorMap& weights, const LoadReport& report) {
  std::vector<std::string> torn;
  const std::set<std::string> matched(report.matched.begin(), report.matched.end());
  for (const auto& group : find_shared(own)) {
    const std::string* first = nullptr;
    for (const std::string& name : group) {
      if (!matched.contains(name)) continue;
      if (first && !same_values(weights.at(*first), weights.at(name)))
        torn.push_back(fmt::format("'{}' and '{}'", *first, name));
      if (!first) first = &name;
    }
  }
  return torn;
}

// A name is not missing where the file holds its tensor under another one.
void forgive_tied_names(const TensorMap& own, LoadReport& report) {
  const std::set<std::string> matched(report.matched.begin(), report.matched.end());
  for (const auto& group : find_shared(own)) {
    const bool loaded = std::any_of(group.begin(), group.end(),
                                    [&](const std::string& name) { return matched.contains(name); });
    if (!loaded) continue;
    std::erase_if(report.missing, [&](const std::string& name) {
      return std::find(group.begin(), group.end(), name) != group.end();
    });
  }
}

LoadReport compare(const TensorMap& own, const TensorMap& weights, const CheckpointLoadSpec& rules) {
  LoadReport report;
  for (const auto& [name, tensor] : weights) {
    const at::Tensor* target = own.find(name);
    if (!selected(name, rules))
      report.excluded.push_back(name);
    else if (!target)
      report.unexpected.push_back(name);
    else if (target->sizes() != tensor.sizes())
      report.shape_mismatched.push_back(fmt::format(
          "{}: pipeline {}, file {}{}", name, tensor_io::shape_text(target->sizes()),
          tensor_io::shape_text(tensor.sizes()), is_transposed(*target, tensor) ? " (transposed?)" : ""));
    else
      report.matched.push_back(name);
  }
  for (const auto& [name, tensor] : own)
    if (!weights.contains(name) && selected(name, rules)) report.missing.push_back(name);
  for (const std::string& name : report.matched)
    if (own.at(name).scalar_type() != weights.at(name).scalar_type())
      report.converted.push_back(
          fmt::format("{}: {} to {}", name, dtype_text(weights.at(name)), dtype_text(own.at(name))));
  forgive_tied_names(own, report);
  return report;
}

void refuse_torn_ties(const TensorMap& own, const TensorMap& weights, const LoadReport& report,
                      const Where& where, Diagnostics& problems) {
  if (const auto torn = torn_ties(own, weights, report); !torn.empty())
    problems
        .error("E760",
               fmt::format("{} are one tensor in the pipeline, and their values in the file differ",
                           listed(torn)),
               where)
        .hint = "exclude one of the two names with checkpoint.exclude";
}

// For each missing name the unexpected one of equal shape that ends most alike.
std::string nearest_names(const LoadReport& report, const TensorMap& own, const TensorMap& weights) {
  std::vector<std::string> pairs;
  for (const std::string& missing : report.missing) {
    const std::string* nearest = nullptr;
    std::size_t longest = 0;
    for (const std::string& candidate : report.unexpected) {
      if (weights.at(candidate).sizes() != own.at(missing).sizes()) continue;
      const auto ends = std::mismatch(missing.rbegin(), missing.rend(), candidate.rbegin(), candidate.rend());
      const auto alike = static_cast<std::size_t>(ends.first - missing.rbegin());
      if (!nearest || alike > longest) {
        nearest = &candidate;
        longest = alike;
      }
    }
    if (nearest) pairs.push_back(fmt::format("{} may be {}", missing, *nearest));
    if (pairs.size() == listed_names) break;
  }
  return pairs.empty() ? std::string() : fmt::format("{}", fmt::join(pairs, "; "));
}

// Python's safetensors.torch.save_model stores tied weights once and notes `further name: stored name`.
TensorMap with_tied_names(TensorFile file) {
  TensorMap tensors = std::move(file.tensors);
  for (const auto& [name, stored] : file.metadata)
    if (const at::Tensor* tensor = tensors.find(stored); tensor && !tensors.contains(name))
      tensors.add(name, at::Tensor(*tensor));
  return tensors;
}

void copy_matched(const TensorMap& own, const TensorMap& weights, const LoadReport& report) {
  const at::AutoGradMode no_grad(false);
  for (const std::string& name : report.matched) at::Tensor(own.at(name)).copy_(weights.at(name));
}

}  // namespace

TensorMap state_dict(const torch::nn::Module& module) {
  TensorMap state;
  for (const auto& item : module.named_parameters()) state.add(item.key(), item.value());
  for (const auto& item : module.named_buffers()) state.add(item.key(), item.value());
  return state;
}

void load_state_dict(torch::nn::Module& module, const TensorMap& weights) {
  load_named_tensors(state_dict(module), weights);
}

void load_named_tensors(const TensorMap& own, const TensorMap& weights) {
  CheckpointLoadSpec everything;
  everything.allow_missing = false;
  everything.allow_shape_mismatch = false;
  const LoadReport report = compare(own, weights, everything);
  Diagnostics problems;
  if (!report.missing.empty())
    problems.error("E760", fmt::format("{} saved tensors are missing: {}", report.missing.size(),
                                       listed(report.missing)));
  if (!report.unexpected.empty())
    problems.error("E760", fmt::format("{} saved tensors belong to no parameter: {}",
                                       report.unexpected.size(), listed(report.unexpected)));
  if (!report.shape_mismatched.empty())
    problems.error("E760", fmt::format("{} shapes differ: {}", report.shape_mismatched.size(),
                                       listed(report.shape_mismatched)));
  if (!report.converted.empty())
    problems.error("E760", fmt::format("{} dtypes differ, saved and own: {}", report.converted.size(),
                                       listed(report.converted)));
  refuse_torn_ties(own, weights, report, {}, problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  copy_matched(own, weights, report);
}

LoadReport load_weights(torch::nn::Module& module, const TensorMap& wrapped, const CheckpointLoadSpec& rules,
                        const std::string& source) {
  const TensorMap own = state_dict(module);
  UnwrappedWeights unwrapped = without_wrappers(own, wrapped, source);
  const TensorMap& weights = unwrapped.weights;
  LoadReport report = compare(own, weights, rules);
  report.unwrapped = std::move(unwrapped.removed);
  Diagnostics problems;
  const Where where = Where::in_file(source);
  if (!rules.allow_missing && !report.missing.empty())
    problems
        .error("E760",
               fmt::format("{} tensors of the pipeline are missing: {}", report.missing.size(),
                           listed(report.missing)),
               where)
        .hint = nearest_names(report, own, weights);
  if (!rules.allow_shape_mismatch && !report.shape_mismatched.empty())
    problems.error(
        "E760",
        fmt::format("{} shapes differ: {}", report.shape_mismatched.size(), listed(report.shape_mismatched)),
        where);
  if (!rules.allow_missing && !report.missing.empty() && !report.unexpected.empty())
    problems.error("E760",
                   fmt::format("{} tensors of the file belong to no parameter: {}", report.unexpected.size(),
                               listed(report.unexpected)),
                   where);
  for (const std::string& name : report.matched)
    if (loses_values(weights.at(name), own.at(name)))
      problems.error("E760",
                     fmt::format("'{}' is {} in the pipeline and {} in the file", name,
                                 dtype_text(own.at(name)), dtype_text(weights.at(name))),
                     where);
  refuse_torn_ties(own, weights, report, where, problems);
  if (report.matched.empty())
    problems
        .error("E760",
               fmt::format("none of the {} tensors fits this pipeline; it would keep its random weights",
                           weights.size()),
               where)
        .hint = "checkpoint.include and exclude are globs on full names, such as stages.Encoder.*";
  if (problems.has_errors()) throw Error(std::move(problems));
  copy_matched(own, weights, report);
  if (rules.freeze_loaded)
    for (auto& item : module.named_parameters())
      if (std::find(report.matched.begin(), report.matched.end(), item.key()) != report.matched.end())
        item.value().set_requires_grad(false);
  return report;
}

TensorMap read_weights(const std::string& source) {
  const auto hash = source.find_last_of('#');
  const std::string path = source.substr(0, hash);
  const std::string key = hash == std::string::npos ? std::string() : source.substr(hash + 1);
  const std::string extension = std::filesystem::path(path).extension();
  if (extension == ".safetensors") return with_tied_names(read_safetensors(path));
  if (extension == ".pt" || extension == ".pth" || extension == ".ckpt" || extension == ".bin")
    return state_dict_of(read_pt(path), path, key).tensors;
  throw Error("E761",
              "weights are read from .safetensors files and from .pt, .pth, .ckpt and .bin of torch.save",
              Where::in_file(path));
}

bool matches_glob(std::string_view name, std::string_view pattern) {
  return ::fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), FNM_NOESCAPE) == 0;
}

}  // namespace nexuml
