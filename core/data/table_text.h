// Tables as CSV text: cells with commas, quotes or line ends stand in quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nexuml {

std::string table_line(const std::vector<std::string>& cells);
// All rows; quoted cells may hold line ends.
std::vector<std::vector<std::string>> table_cells(std::string_view text);

}  // namespace nexuml
