// Numbers in the cells of a table, read the same way in every locale.
#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace nexuml_library {

// Why a cell is no number, and what may help.
struct CsvNumberProblem {
  std::string message;
  std::string hint;
};

// A finite number that float32 can hold. `decimal` is '.' or ','.
std::variant<float, CsvNumberProblem> parse_csv_number(std::string_view text, char decimal);

}  // namespace nexuml_library
