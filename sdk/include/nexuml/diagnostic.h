// Diagnostics: the one form in which the runtime tells a person what is wrong.
//
// A message says what happened and what was expected against what was found; `where` says the place; `hint`
// names one thing to do. Codes are stable and listed in docs/errors.md.
//
//     Diagnostics problems;
//     problems.error("E712", "number expected, got text '1e-3'", where).hint = "remove the quotes";
//     if (problems.has_errors()) throw nexuml::Error(std::move(problems));
//
// Expected failures are data (`Diagnostics`); broken contracts and failures that must unwind travel as
// `Error`.
#pragma once

#include <nexuml/export.h>

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml {

enum class Severity { note, warning, error };

NEXUML_EXPORT std::string_view to_string(Severity severity) noexcept;

// A place in a text that was read. Lines and columns count from 1, columns in bytes; line 0 means "no
// position".
struct Position {
  std::shared_ptr<const std::string>
      file;  // name as given by the caller, or "-O training.lr" for an override
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  bool known() const noexcept { return line != 0; }
};

// The place that a diagnostic speaks of. Empty parts are unknown or do not apply.
struct Where {
  std::string file;  // path of a document, a library or a data file
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string key_path;  // pipeline.stages.Encoder[0].component.params.output_dim
  std::string library;   // library id, such as org.acme.audio
  std::string layer;     // Encoder/00_LinearEncoder

  Where() = default;
  Where(const Position& position, std::string key_path_ = {})
      : file(position.file ? *position.file : std::string()),
        line(position.line),
        column(position.column),
        key_path(std::move(key_path_)) {}
  static Where in_file(std::string path) {
    Where where;
    where.file = std::move(path);
    return where;
  }
  static Where in_library(std::string id, std::string path = {}) {
    Where where;
    where.library = std::move(id);
    where.file = std::move(path);
    return where;
  }
  static Where in_layer(std::string layer_) {
    Where where;
    where.layer = std::move(layer_);
    return where;
  }
  bool operator==(const Where&) const = default;
};

struct Diagnostic {
  std::string code;  // "E712"; W for advice
  Severity severity = Severity::error;
  std::string message;
  Where where;
  std::string hint;

  // `file:line:column: error E712: message` and indented lines for key path, library, layer and hint.
  NEXUML_EXPORT std::string to_text() const;
  bool operator==(const Diagnostic&) const = default;
};

class NEXUML_EXPORT Diagnostics {
 public:
  // Both return the new entry so that a hint can be added; the reference is valid until the next call.
  Diagnostic& error(std::string code, std::string message, Where where = {});
  Diagnostic& warning(std::string code, std::string message, Where where = {});
  Diagnostic& note(std::string code, std::string message, Where where = {});
  void add(Diagnostic diagnostic);
  void append(const Diagnostics& others);

  bool has_errors() const noexcept;
  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }
  const std::vector<Diagnostic>& entries() const noexcept { return entries_; }
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

  // Sorts by file, line, column, key path and code and removes exact repetitions.
  void sort();
  std::string to_text() const;

 private:
  std::vector<Diagnostic> entries_;
};

// The exception of this project; `what()` is the text of its diagnostics.
class NEXUML_EXPORT Error : public std::runtime_error {
 public:
  explicit Error(Diagnostics diagnostics);
  explicit Error(Diagnostic diagnostic);
  Error(std::string code, std::string message, Where where = {}, std::string hint = {});
  ~Error() override;  // the key function: one type_info for all shared objects

  const Diagnostics& diagnostics() const noexcept { return *diagnostics_; }

 private:
  std::shared_ptr<const Diagnostics> diagnostics_;
};

// Names at most five of `candidates` that are close to `name` (edit distance, case and blanks), nearest
// first.
NEXUML_EXPORT std::vector<std::string> near_names(std::string_view name,
                                                  const std::vector<std::string>& candidates);

// `did you mean LinearEncoder or LinearDecoder?`, or an empty string where nothing is near.
NEXUML_EXPORT std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace nexuml
