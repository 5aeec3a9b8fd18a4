#include "engine/case_report.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace nexuml {

namespace {

std::string sizes_text(const at::Tensor& tensor) {
  return to_string(Shape(tensor.sizes().begin(), tensor.sizes().end()));
}

bool exact(const at::Tensor& tensor) {
  return at::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
}

}  // namespace

void CaseReport::record(const std::string& what, double error, double excess, double got, double expected) {
  if (error > largest_error_ || largest_at_.empty() || std::isnan(error)) {
    largest_error_ = error;
    largest_at_ = what;
  }
  if (!(excess <= 0)) fail(fmt::format("{}: {} expected, got {}", what, expected, got));
}

void CaseReport::compare(const std::string& what, const at::Tensor& got, const at::Tensor& expected) {
  if (!got.defined()) return fail(what + " is missing");
  if (got.sizes() != expected.sizes())
    return fail(fmt::format("{} has shape {}, expected {}", what, sizes_text(got), sizes_text(expected)));
  if (exact(got) != exact(expected))
    return fail(fmt::format("{} is {}, expected {}", what, at::toString(got.scalar_type()),
                            at::toString(expected.scalar_type())));
  if (got.numel() == 0) return;
  const at::Tensor a = got.detach().to(at::kCPU, at::kDouble).flatten();
  const at::Tensor b = expected.to(at::kDouble).flatten();
  const at::Tensor same = a.eq(b).logical_or(a.isnan().logical_and(b.isnan()));
  const at::Tensor error =
      at::where(same, at::zeros_like(a), (a - b).abs()).nan_to_num(std::numeric_limits<double>::infinity());
  const bool whole = exact(expected);
  const at::Tensor allowed =
      b.abs().nan_to_num(0, 0, 0) * (whole ? 0 : tolerance_.relative) + (whole ? 0 : tolerance_.absolute);
  const at::Tensor excess = error - allowed;
  const std::int64_t worst = excess.argmax().item<std::int64_t>();
  record(what, error.max().item<double>(), excess[worst].item<double>(), a[worst].item<double>(),
         b[worst].item<double>());
}

void CaseReport::compare(const std::string& what, double got, double expected) {
  const bool same = got == expected || (std::isnan(got) && std::isnan(expected));
  const double error = same ? 0 : std::abs(got - expected);
  record(what, error, error - (tolerance_.absolute + tolerance_.relative * std::abs(expected)), got,
         expected);
}

void CaseReport::compare(const std::string& what, const Value& got, const Value& expected) {
  if (expected.is_number() && got.is_number()) return compare(what, got.as_number(), expected.as_number());
  if (expected.is_map() && got.is_map()) {
    for (const auto& entry : expected.entries()) {
      const Value* found = got.find(entry.key);
      const std::string place = what.empty() ? entry.key : what + "/" + entry.key;
      if (!found)
        fail(place + " is missing");
      else if (entry.key == "warnings" && entry.value.is_list())
        compare(place + " (count)", static_cast<double>(found->size()),
                static_cast<double>(entry.value.size()));
      else
        compare(place, *found, entry.value);
    }
    return;
  }
  if (expected.is_list() && got.is_list() && expected.size() == got.size()) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      compare(fmt::format("{}[{}]", what, i), got.items()[i], expected.items()[i]);
    return;
  }
  if (!(got == expected))
    fail(fmt::format("{}: {} expected, got {}", what, describe_for_message(expected),
                     describe_for_message(got)));
}

}  // namespace nexuml
