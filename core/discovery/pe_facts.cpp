#include "discovery/pe_facts.h"

#include <nexuml/registration.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace nexuml {
namespace {

// The layout of the format, as far as it is read. Offsets count from the start of the structure.
constexpr std::uint64_t dos_header_size = 64, offset_of_pe_header = 60;
constexpr std::uint64_t coff_header_size = 20, section_header_size = 40;
constexpr std::uint16_t is_executable = 0x0002, is_library = 0x2000;
constexpr std::uint16_t magic_32 = 0x10b, magic_64 = 0x20b;
constexpr std::size_t max_pe_sections = 96;  // Windows loads no file with more
constexpr std::size_t max_pe_names = 4096, max_pe_name_length = 4096, max_pe_note = 65536;

std::string pe_machine_name(std::uint16_t machine) {
  switch (machine) {
    case 0x8664:
      return "x86_64";
    case 0xaa64:
      return "aarch64";
    case 0x014c:
      return "i386";
    default:
      return "machine " + std::to_string(machine);
  }
}

struct PeSection {
  std::string name;
  std::uint64_t address = 0, memory_size = 0, offset = 0, size = 0;
};

// A table of the optional header: where it lies in memory, and its size.
struct PeDirectory {
  std::uint64_t address = 0, size = 0;
};

class PeReader {
 public:
  PeReader(const ByteSource& bytes, const Where& where, Diagnostics& problems)
      : bytes_(bytes), where_(where), problems_(problems) {}

  std::optional<PeFacts> read() {
    PeFacts facts;
    if (!read_headers(facts) || !read_sections() || !read_exports(facts) || !read_imports(facts))
      return std::nullopt;
    read_pe_note(facts);
    return facts;
  }

 private:
  bool fail(const char* code, std::string message, std::string hint = {}) {
    problems_.error(code, std::move(message), where_).hint = std::move(hint);
    return false;
  }
  bool damaged(const std::string& what) {
    return fail("E202", "the Windows library is cut off or damaged: " + what, "copy or build it again");
  }
  // A little-endian number, or nothing behind the end of the file.
  template <class Number>
  std::optional<Number> number(std::uint64_t offset) const {
    std::array<std::byte, sizeof(Number)> raw{};
    if (!bytes_.read(offset, raw)) return std::nullopt;
    std::uint64_t result = 0;
    for (std::size_t index = raw.size(); index-- > 0;)
      result = result << 8 | std::to_integer<std::uint64_t>(raw[index]);
    return static_cast<Number>(result);
  }
  // An address in memory as an offset into the file.
  std::optional<std::uint64_t> file_offset(std::uint64_t address) const {
    for (const auto& section : sections_)
      if (address >= section.address && address - section.address < section.size)
        return section.offset + (address - section.address);
    return std::nullopt;
  }
  std::optional<std::string> name_at(std::uint64_t address) const;

  bool read_headers(PeFacts& facts);
  bool read_sections();
  bool read_exports(PeFacts& facts);
  bool read_imports(PeFacts& facts);
  void read_pe_note(PeFacts& facts) const;

  const ByteSource& bytes_;
  const Where& where_;
  Diagnostics& problems_;
  std::uint64_t sections_at_ = 0;
  std::uint16_t section_count_ = 0;
  PeDirectory exports_, imports_;
  std::vector<PeSection> sections_;
};

std::optional<std::string> PeReader::name_at(std::uint64_t address) const {
  const auto offset = file_offset(address);
  if (!offset) return std::nullopt;
  std::string name;
  for (std::uint64_t at = *offset; name.size() < max_pe_name_length;) {
    std::array<char, 64> chunk{};
    const std::uint64_t length =
        std::min<std::uint64_t>(chunk.size(), bytes_.size() - std::min(at, bytes_.size()));
    if (length == 0 || !bytes_.read(at, std::as_writable_bytes(std::span(chunk.data(), length))))
      return std::nullopt;
    if (const auto* end = static_cast<const char*>(std::memchr(chunk.data(), 0, length)))
      return name.append(chunk.data(), static_cast<std::size_t>(end - chunk.data()));
    name.append(chunk.data(), length);
    at += length;
  }
  return std::nullopt;
}

bool PeReader::read_headers(PeFacts& facts) {
  if (bytes_.text(0, std::min<std::uint64_t>(2, bytes_.size())) != "MZ")
    return fail("E201", "not a Windows library: expected a PE file, which starts with MZ");
  const auto header_at = number<std::uint32_t>(offset_of_pe_header);
  if (bytes_.size() < dos_header_size || !header_at) return damaged("the file ends in its first header");
  const std::uint64_t coff = std::uint64_t{*header_at} + 4;
  if (bytes_.text(*header_at, 4) != std::string_view("PE\0\0", 4))
    return bytes_.size() < coff ? damaged("its PE header lies behind the end of the file")
                                : fail("E201", "a program for DOS, not a Windows library");
  const auto machine = number<std::uint16_t>(coff);
  const auto count = number<std::uint16_t>(coff + 2);
  const auto optional_size = number<std::uint16_t>(coff + 16);
  const auto flags = number<std::uint16_t>(coff + 18);
  if (!machine || !count || !optional_size || !flags) return damaged("the file ends in its PE header");
  facts.machine = pe_machine_name(*machine);
  if ((*flags & is_executable) == 0 || (*flags & is_library) == 0)
    return fail("E204", "a Windows file, but not a library", "link it as a DLL");
  const std::uint64_t optional = coff + coff_header_size;
  const auto magic = number<std::uint16_t>(optional);
  if (!magic || (*magic != magic_32 && *magic != magic_64))
    return damaged("its optional header is of no known form");
  // The number of tables, and the tables: export first, import second.
  const std::uint64_t tables = optional + (*magic == magic_64 ? 108u : 92u);
  const auto table_count = number<std::uint32_t>(tables);
  if (!table_count || tables + 4 > optional + *optional_size)
    return damaged("its optional header is too short");
  const auto directory = [&](std::uint32_t index) {
    const std::uint64_t at = tables + 4 + std::uint64_t{index} * 8;
    if (index >= *table_count || at + 8 > optional + *optional_size) return PeDirectory{};
    return PeDirectory{number<std::uint32_t>(at).value_or(0), number<std::uint32_t>(at + 4).value_or(0)};
  };
  exports_ = directory(0);
  imports_ = directory(1);
  sections_at_ = optional + *optional_size;
  section_count_ = *count;
  return true;
}

bool PeReader::read_sections() {
  if (section_count_ == 0 || section_count_ > max_pe_sections)
    return damaged("it has " + std::to_string(section_count_) + " sections");
  for (std::uint16_t index = 0; index < section_count_; ++index) {
    const std::uint64_t at = sections_at_ + index * section_header_size;
    auto name = bytes_.text(at, 8);
    const auto memory_size = number<std::uint32_t>(at + 8);
    const auto address = number<std::uint32_t>(at + 12);
    const auto size = number<std::uint32_t>(at + 16);
    const auto offset = number<std::uint32_t>(at + 20);
    if (!name || !memory_size || !address || !size || !offset)
      return damaged("its section headers lie outside the file");
    if (*size > 0 && (*offset > bytes_.size() || *size > bytes_.size() - *offset))
      return damaged("a section ends at byte " + std::to_string(std::uint64_t{*offset} + *size) +
                     ", the file has " + std::to_string(bytes_.size()));
    name->resize(std::min(name->find('\0'), name->size()));
    sections_.push_back({std::move(*name), *address, *memory_size, *offset, *size});
  }
  return true;
}

bool PeReader::read_exports(PeFacts& facts) {
  if (exports_.size == 0) return true;
  const auto at = file_offset(exports_.address);
  const auto name = at ? number<std::uint32_t>(*at + 12) : std::nullopt;
  const auto count = at ? number<std::uint32_t>(*at + 24) : std::nullopt;
  const auto names = at ? number<std::uint32_t>(*at + 32) : std::nullopt;
  if (!name || !count || !names) return damaged("its export table lies outside the file");
  facts.name = name_at(*name).value_or("");
  for (std::uint64_t index = 0; index < std::min<std::uint64_t>(*count, max_pe_names); ++index) {
    const auto entry = file_offset(std::uint64_t{*names} + index * 4);
    const auto address = entry ? number<std::uint32_t>(*entry) : std::nullopt;
    auto text = address ? name_at(*address) : std::nullopt;
    if (!text) return damaged("the name of an export lies outside the file");
    facts.exports_entry |= *text == NEXUML_LIBRARY_ENTRY_SYMBOL;
    facts.exported.push_back(std::move(*text));
  }
  return true;
}

bool PeReader::read_imports(PeFacts& facts) {
  if (imports_.size == 0) return true;
  const auto at = file_offset(imports_.address);
  if (!at) return damaged("its import table lies outside the file");
  for (std::uint64_t index = 0; index < max_pe_names; ++index) {
    const auto name = number<std::uint32_t>(*at + index * 20 + 12);
    if (!name) return damaged("its import table has no end");
    if (*name == 0) return true;
    auto text = name_at(*name);
    if (!text) return damaged("the name of an imported library lies outside the file");
    facts.needed.push_back(std::move(*text));
  }
  return damaged("its import table has no end");
}

// The section starts with the length of the payload.
void PeReader::read_pe_note(PeFacts& facts) const {
  for (const auto& section : sections_) {
    if (section.name != ".nexuml") continue;
    const auto length = number<std::uint32_t>(section.offset);
    if (length && *length <= max_pe_note && std::uint64_t{*length} + 4 <= section.size)
      facts.note = bytes_.text(section.offset + 4, *length);
  }
}

}  // namespace

std::optional<PeFacts> read_pe_facts(const ByteSource& bytes, const Where& where, Diagnostics& problems) {
  return PeReader(bytes, where, problems).read();
}

}  // namespace nexuml
