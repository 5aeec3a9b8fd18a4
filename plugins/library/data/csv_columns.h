// Which columns of a table are features, label and split.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "data/csv_reader.h"
#include "data/csv_source.h"

namespace nexuml_library {

struct CsvColumns {
  std::vector<std::string> names;     // of all columns; column_1, column_2, ... without a header
  std::vector<std::size_t> features;  // positions, in the order of the tensor
  std::optional<std::size_t> label, split;
};

// `first` is the header, or the first row of data where the source says that there is none. Throws
// nexuml::Error E833 for a header that cannot be used and for names that it lacks.
CsvColumns csv_columns(const CsvSource& source, const CsvReader& reader, const CsvRow& first);

// True where every cell is a number: such a first line is hardly a header.
bool looks_numeric(const CsvRow& row);

}  // namespace nexuml_library
