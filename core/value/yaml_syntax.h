// Words for what libyaml refuses.
#pragma once

#include <yaml.h>

#include "value/text.h"

namespace nexuml {

// Byte columns for libyaml's marks, which count characters. Marks come mostly in the order of the text, so
// each call walks on from the last one and a whole document costs one pass.
class MarkPlaces {
 public:
  explicit MarkPlaces(const CheckedText& text) : text_(text) {}
  Place place(const yaml_mark_t& mark);

 private:
  std::size_t offset_of(std::size_t character);

  const CheckedText& text_;
  std::size_t character_ = 0;
  std::size_t offset_ = 0;
  std::size_t line_start_ = 0;  // in characters
  std::size_t line_offset_ = 0;
};

// One E703 diagnostic for the error that `parser` stopped at.
void report_yaml_error(const yaml_parser_t& parser, const CheckedText& text,
                       const std::shared_ptr<const std::string>& file, Diagnostics& problems);

}  // namespace nexuml
