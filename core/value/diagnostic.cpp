#include <fmt/format.h>
#include <nexuml/diagnostic.h>

#include <algorithm>
#include <tuple>

namespace nexuml {

std::string_view to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      break;
  }
  return "error";
}

std::string Diagnostic::to_text() const {
  std::string text;
  if (!where.file.empty()) {
    text += where.file;
    if (where.line != 0) text += fmt::format(":{}:{}", where.line, where.column);
    text += ": ";
  }
  text += fmt::format("{} {}: {}", to_string(severity), code, message);
  const auto line = [&](std::string_view label, const std::string& content) {
    if (!content.empty()) text += fmt::format("\n    {}: {}", label, content);
  };
  line("key", where.key_path);
  line("layer", where.layer);
  line("library", where.library);
  line("hint", hint);
  return text;
}

Diagnostic& Diagnostics::error(std::string code, std::string message, Where where) {
  entries_.push_back({std::move(code), Severity::error, std::move(message), std::move(where), {}});
  return entries_.back();
}

Diagnostic& Diagnostics::warning(std::string code, std::string message, Where where) {
  entries_.push_back({std::move(code), Severity::warning, std::move(message), std::move(where), {}});
  return entries_.back();
}

Diagnostic& Diagnostics::note(std::string code, std::string message, Where where) {
  entries_.push_back({std::move(code), Severity::note, std::move(message), std::move(where), {}});
  return entries_.back();
}

void Diagnostics::add(Diagnostic diagnostic) {
  entries_.push_back(std::move(diagnostic));
}

void Diagnostics::append(const Diagnostics& others) {
  const std::vector<Diagnostic> copies = others.entries_;  // `others` may be this object
  entries_.insert(entries_.end(), copies.begin(), copies.end());
}

bool Diagnostics::has_errors() const noexcept {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Diagnostic& entry) { return entry.severity == Severity::error; });
}

void Diagnostics::sort() {
  const auto order = [](const Diagnostic& entry) {
    return std::tie(entry.where.file, entry.where.line, entry.where.column, entry.where.key_path, entry.code);
  };
  std::stable_sort(entries_.begin(), entries_.end(), [&](const Diagnostic& left, const Diagnostic& right) {
    return order(left) < order(right);
  });
  std::vector<Diagnostic> distinct;
  for (Diagnostic& entry : entries_) {
    // Repetitions share a place and a code, so they lie in the tail of equal order.
    bool repeated = false;
    for (auto earlier = distinct.rbegin(); earlier != distinct.rend() && order(*earlier) == order(entry);
         ++earlier) {
      repeated = repeated || *earlier == entry;
    }
    if (!repeated) distinct.push_back(std::move(entry));
  }
  entries_ = std::move(distinct);
}

std::string Diagnostics::to_text() const {
  std::string text;
  for (const Diagnostic& entry : entries_) {
    if (!text.empty()) text += '\n';
    text += entry.to_text();
  }
  return text;
}

namespace {

Diagnostics single_diagnostic(Diagnostic diagnostic) {
  Diagnostics diagnostics;
  diagnostics.add(std::move(diagnostic));
  return diagnostics;
}

}  // namespace

Error::Error(Diagnostics diagnostics)
    : std::runtime_error(diagnostics.to_text()),
      diagnostics_(std::make_shared<const Diagnostics>(std::move(diagnostics))) {}

Error::Error(Diagnostic diagnostic) : Error(single_diagnostic(std::move(diagnostic))) {}

Error::Error(std::string code, std::string message, Where where, std::string hint)
    : Error(Diagnostic{std::move(code), Severity::error, std::move(message), std::move(where),
                       std::move(hint)}) {}

Error::~Error() = default;

}  // namespace nexuml
