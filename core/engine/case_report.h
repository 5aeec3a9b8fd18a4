// What came of one golden case: differences, and the step it stands at.
#pragma once

#include <nexuml/value.h>
#include <torch/types.h>

#include <string>
#include <vector>

#include "engine/golden_case.h"

namespace nexuml {

class CaseReport {
 public:
  explicit CaseReport(Tolerance tolerance) : tolerance_(tolerance) {}

  // The step that runs; an exception belongs to it.
  CasePhase phase = CasePhase::define;

  // |got - expected| <= absolute + relative * |expected|; whole numbers and booleans exactly.
  void compare(const std::string& what, const at::Tensor& got, const at::Tensor& expected);
  void compare(const std::string& what, double got, double expected);
  // Any JSON-safe value: numbers within the tolerance, null for undefined. Of `warnings` the number counts.
  void compare(const std::string& what, const Value& got, const Value& expected);
  void fail(std::string message) { failures_.push_back(std::move(message)); }

  double largest_error() const noexcept { return largest_error_; }
  const std::string& largest_at() const noexcept { return largest_at_; }
  const std::vector<std::string>& failures() const noexcept { return failures_; }

 private:
  void record(const std::string& what, double error, double excess, double got, double expected);

  Tolerance tolerance_;
  double largest_error_ = 0;
  std::string largest_at_;
  std::vector<std::string> failures_;
};

}  // namespace nexuml
