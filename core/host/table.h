// Columns of text, as wide as their longest cell.
#pragma once

#include <string>
#include <vector>

namespace nexuml {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const noexcept { return rows_.size() == 1; }
  std::string to_text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace nexuml
