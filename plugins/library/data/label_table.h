// A CSV of texts about files: its rows by column name.
//
//     LabelTable table = read_label_table("meta.csv");
//     for (const auto& row : table.rows) row[table.require({"file", "path", "filename"})];
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nexuml_library {

struct LabelTable {
  std::filesystem::path file;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;

  std::optional<std::size_t> find(const std::vector<std::string>& names) const;
  // Throws nexuml::Error E833 naming the columns that there are.
  std::size_t require(const std::vector<std::string>& names) const;
};

// The delimiter is a tab where the first line holds one, else a comma. Throws nexuml::Error E831 where the
// file cannot be read and E833 for a short row.
LabelTable read_label_table(const std::filesystem::path& file);

// The file that a table names: as it is written, below the folder of the table, or below one of `folders`,
// whole or by its name alone, for tables that were made on another machine. Nothing where none of these
// exists.
std::optional<std::filesystem::path> rerooted(const std::string& written, const std::filesystem::path& table,
                                              const std::vector<std::filesystem::path>& folders);

}  // namespace nexuml_library
