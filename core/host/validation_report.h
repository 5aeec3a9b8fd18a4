// What `validate` found out, one line a check, and the forms in which it is told.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/value.h>

#include <string>
#include <string_view>
#include <vector>

namespace nexuml {

struct ValidationLine {
  std::string subject;  // "org.acme.audio", "layer/acme.log_mel@1", "scenario acme-demo"
  std::string check;    // "made from its defaults"
  std::string status;   // passed, failed, crashed, skipped, advice
  std::string message;
  std::string code;    // of a diagnostic, where there is one
  double seconds = 0;  // of the child that carried it out, told once a subject
};

class ValidationReport {
 public:
  void add(ValidationLine line) { lines_.push_back(std::move(line)); }
  // One line for each diagnostic, or one that passed. A child that ended or was stopped is `crashed`.
  void add(const std::string& subject, const std::string& check, const Diagnostics& found,
           double seconds = 0);

  bool has_problems() const noexcept;
  std::size_t count(std::string_view status) const noexcept;
  std::string to_text(bool only_failed) const;
  Value to_value() const;
  // JUnit's XML, as continuous integration reads it: one suite a subject.
  std::string to_junit() const;

 private:
  std::vector<ValidationLine> lines_;
};

}  // namespace nexuml
