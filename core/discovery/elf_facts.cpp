#include "discovery/elf_facts.h"

#include <elf.h>
#include <nexuml/abi.h>
#include <nexuml/registration.h>

#include <array>
#include <bit>
#include <cstring>

namespace nexuml {
namespace {

constexpr std::uint64_t max_table = 64u << 20;  // of any table that is read whole
constexpr std::size_t max_exported = 4096;
constexpr std::uint64_t max_symbols = 1u << 20;
constexpr std::size_t max_undefined = 65536;
constexpr std::size_t max_versions = 4096;
constexpr std::uint32_t note_type = 1;  // of those with our owner, see cmake/library_note.cpp

// Reads one struct, or fails.
template <class T>
bool read_struct(const ByteSource& bytes, std::uint64_t offset, T& into) {
  return bytes.read(offset, std::as_writable_bytes(std::span(&into, 1)));
}

// Reads `count` structs, or fails; the size is bounded by the file and by max_table.
template <class T>
bool read_table(const ByteSource& bytes, std::uint64_t offset, std::uint64_t count, std::vector<T>& into) {
  if (count > max_table / sizeof(T) || offset > bytes.size() || count * sizeof(T) > bytes.size() - offset)
    return false;
  into.resize(count);
  return bytes.read(offset, std::as_writable_bytes(std::span(into)));
}

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_RISCV:
      return "riscv64";
    case EM_PPC64:
      return "powerpc64";
    case EM_386:
      return "i386";
    case EM_ARM:
      return "arm";
    default:
      return "machine " + std::to_string(machine);
  }
}

// What a file is that is no ELF file, for the message.
std::string what_else(std::string_view start) {
  if (start.empty()) return "the file is empty";
  if (start.starts_with("MZ")) return "this is a Windows library";
  if (start.starts_with("\xcf\xfa\xed\xfe") || start.starts_with("\xca\xfe\xba\xbe"))
    return "this is a macOS library";
  if (start.starts_with("!<arch>")) return "this is a static archive";
  if (start.starts_with("version https://git-lfs")) return "this is a Git LFS pointer; run git lfs pull";
  for (const char c : start)
    if (static_cast<unsigned char>(c) < 9) return "the file starts with other bytes";
  return "this is a text file";
}

class ElfReader {
 public:
  ElfReader(const ByteSource& bytes, Where where, Diagnostics& problems)
      : bytes_(bytes), where_(std::move(where)), problems_(problems) {}

  // Header and program headers: enough to find the notes. Without `any_machine` of this one only.
  bool read_headers(bool any_machine = false);
  // Everything the loader relies on; the symbols by themselves, since their names are many reads.
  bool read_dynamic(ElfFacts& facts);
  bool read_exports(ElfFacts& facts);
  void read_notes(ElfFacts& facts) const;
  std::vector<std::string> undefined_symbols();
  std::vector<std::string> version_definitions() const;
  std::optional<std::string> section(std::string_view name) const;
  std::string machine() const { return machine_name(header_.e_machine); }

 private:
  bool fail(const char* code, std::string message, std::string hint = {}) {
    problems_.error(code, std::move(message), where_).hint = std::move(hint);
    return false;
  }
  bool truncated(const std::string& what) {
    return fail("E202", "the library is cut off or damaged: " + what, "copy or build it again");
  }
  // A virtual address that the loader would read, as an offset into the file.
  std::optional<std::uint64_t> file_offset(std::uint64_t address) const;
  void read_version_needs(ElfFacts& facts) const;
  std::optional<Elf64_Shdr> find_section(std::string_view name) const;
  std::optional<std::string> string_at(std::uint64_t index) const;

  const ByteSource& bytes_;
  const Where where_;
  Diagnostics& problems_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::uint64_t strings_ = 0, strings_size_ = 0, symbols_ = 0, gnu_hash_ = 0, sysv_hash_ = 0;
  std::uint64_t needs_ = 0, needs_count_ = 0, definitions_ = 0, definitions_count_ = 0;
  std::uint64_t undefined_end_ = 0;  // index behind the last symbol that can be undefined
};

bool ElfReader::read_headers(bool any_machine) {
  const auto start = bytes_.text(0, std::min<std::uint64_t>(bytes_.size(), 64)).value_or("");
  if (!start.starts_with(ELFMAG))
    return fail("E201", "not a shared library: expected an ELF file, but " + what_else(start));
  if (start.size() < sizeof(Elf64_Ehdr)) {
    return truncated("the file has " + std::to_string(bytes_.size()) + " bytes, less than an ELF header");
  }
  std::memcpy(&header_, start.data(), sizeof header_);
  if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
      (!any_machine && machine() != host_machine())) {
    const std::string bits = header_.e_ident[EI_CLASS] == ELFCLASS32 ? " (32 bit)" : "";
    return fail("E203",
                "built for " + machine() + bits + ", this host runs on " + std::string(host_machine()),
                "use the library's build for this machine");
  }
  if (header_.e_type != ET_DYN)
    return fail("E204", "an ELF file, but not a shared library", "link it as a shared library");
  if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum == 0 ||
      !read_table(bytes_, header_.e_phoff, header_.e_phnum, segments_)) {
    return truncated("the program headers lie outside the file");
  }
  return true;
}

std::optional<std::uint64_t> ElfReader::file_offset(std::uint64_t address) const {
  for (const auto& segment : segments_) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz) {
      return segment.p_offset + (address - segment.p_vaddr);
    }
  }
  return std::nullopt;
}

std::optional<std::string> ElfReader::string_at(std::uint64_t index) const {
  if (index >= strings_size_) return std::nullopt;
  std::string result;
  for (std::uint64_t offset = index; offset < strings_size_ && result.size() < 65536;) {
    std::array<char, 128> chunk{};
    const std::uint64_t length = std::min<std::uint64_t>(chunk.size(), strings_size_ - offset);
    if (!bytes_.read(strings_ + offset, std::as_writable_bytes(std::span(chunk.data(), length))))
      return std::nullopt;
    if (const auto* end = static_cast<const char*>(std::memchr(chunk.data(), 0, length))) {
      return result.append(chunk.data(), static_cast<std::size_t>(end - chunk.data()));
    }
    result.append(chunk.data(), length);
    offset += length;
  }
  return std::nullopt;
}

bool ElfReader::read_dynamic(ElfFacts& facts) {
  const Elf64_Phdr* dynamic = nullptr;
  for (const auto& segment : segments_) {
    if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC) continue;
    if (segment.p_offset > bytes_.size() || segment.p_filesz > bytes_.size() - segment.p_offset) {
      return truncated("a segment ends at byte " + std::to_string(segment.p_offset + segment.p_filesz) +
                       ", the file has " + std::to_string(bytes_.size()));
    }
    if (segment.p_filesz > segment.p_memsz)
      return truncated("a segment is larger in the file than in memory");
    if (segment.p_type == PT_DYNAMIC) dynamic = &segment;
  }
  std::vector<Elf64_Dyn> entries;
  if (!dynamic || dynamic->p_filesz == 0 ||
      !read_table(bytes_, dynamic->p_offset, dynamic->p_filesz / sizeof(Elf64_Dyn), entries)) {
    return fail("E204", "an ELF file without a dynamic section: it can hold only debug information");
  }

  std::vector<std::uint64_t> needed;
  std::optional<std::uint64_t> soname, runpath;
  for (const auto& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    switch (entry.d_tag) {
      case DT_STRTAB:
        strings_ = entry.d_un.d_ptr;
        break;
      case DT_STRSZ:
        strings_size_ = entry.d_un.d_val;
        break;
      case DT_SYMTAB:
        symbols_ = entry.d_un.d_ptr;
        break;
      case DT_GNU_HASH:
        gnu_hash_ = entry.d_un.d_ptr;
        break;
      case DT_HASH:
        sysv_hash_ = entry.d_un.d_ptr;
        break;
      case DT_NEEDED:
        needed.push_back(entry.d_un.d_val);
        break;
      case DT_SONAME:
        soname = entry.d_un.d_val;
        break;
      case DT_RPATH:
      case DT_RUNPATH:
        runpath = entry.d_un.d_val;
        break;
      case DT_VERNEED:
        needs_ = entry.d_un.d_ptr;
        break;
      case DT_VERNEEDNUM:
        needs_count_ = entry.d_un.d_val;
        break;
      case DT_VERDEF:
        definitions_ = entry.d_un.d_ptr;
        break;
      case DT_VERDEFNUM:
        definitions_count_ = entry.d_un.d_val;
        break;
      case DT_FLAGS:
        facts.static_tls = (entry.d_un.d_val & DF_STATIC_TLS) != 0;
        break;
      default:
        break;
    }
  }
  const auto strings = file_offset(strings_);
  if (!strings || strings_size_ > bytes_.size() || *strings > bytes_.size() - strings_size_) {
    return truncated("the string table lies outside the file");
  }
  strings_ = *strings;
  for (const std::uint64_t name : needed) {
    const auto text = string_at(name);
    if (!text) return truncated("a needed library has no name");
    facts.needed.push_back(*text);
  }
  if (soname) facts.soname = string_at(*soname).value_or("");
  if (runpath) facts.runpath = string_at(*runpath).value_or("");
  read_version_needs(facts);
  return true;
}

// Two chained lists: files, and the versions that are needed of each. Each step goes forward, so both end.
void ElfReader::read_version_needs(ElfFacts& facts) const {
  auto at = needs_ ? file_offset(needs_) : std::nullopt;
  for (std::uint64_t file = 0; at && file < needs_count_; ++file) {
    Elf64_Verneed need{};
    if (!read_struct(bytes_, *at, need)) return;
    const auto name = string_at(need.vn_file);
    std::uint64_t version_at = *at + need.vn_aux;
    for (unsigned index = 0; name && index < need.vn_cnt && facts.version_needs.size() < max_versions;
         ++index) {
      Elf64_Vernaux version{};
      if (!read_struct(bytes_, version_at, version)) return;
      if ((version.vna_flags & VER_FLG_WEAK) == 0) {
        if (auto text = string_at(version.vna_name)) facts.version_needs.push_back({*name, std::move(*text)});
      }
      if (version.vna_next == 0) break;
      version_at += version.vna_next;
    }
    if (need.vn_next == 0 || facts.version_needs.size() >= max_versions) return;
    *at += need.vn_next;
  }
}

std::vector<std::string> ElfReader::version_definitions() const {
  std::vector<std::string> found;
  auto at = definitions_ ? file_offset(definitions_) : std::nullopt;
  for (std::uint64_t index = 0; at && index < definitions_count_ && found.size() < max_versions; ++index) {
    Elf64_Verdef definition{};
    Elf64_Verdaux name{};
    if (!read_struct(bytes_, *at, definition) || !read_struct(bytes_, *at + definition.vd_aux, name)) break;
    const bool is_own_name = (definition.vd_flags & VER_FLG_BASE) != 0;
    if (!is_own_name) {
      if (auto text = string_at(name.vda_name)) found.push_back(std::move(*text));
    }
    if (definition.vd_next == 0) break;
    *at += definition.vd_next;
  }
  return found;
}

// The dynamic symbols that are defined: those from `symoffset` of the GNU hash table to the end of its last
// chain, or all that the older hash table counts.
bool ElfReader::read_exports(ElfFacts& facts) {
  const auto symbols = file_offset(symbols_);
  if (!symbols) return truncated("the symbol table lies outside the file");
  symbols_ = *symbols;
  std::uint64_t first = 0, end = 0;
  if (const auto hash = gnu_hash_ ? file_offset(gnu_hash_) : std::nullopt) {
    std::array<std::uint32_t, 4> head{};  // buckets, first symbol, bloom words, bloom shift
    std::vector<std::uint32_t> buckets;
    if (!read_struct(bytes_, *hash, head)) return truncated("the symbol hash table lies outside the file");
    const std::uint64_t buckets_at = *hash + sizeof head + std::uint64_t{head[2]} * 8;
    if (!read_table(bytes_, buckets_at, head[0], buckets))
      return truncated("the symbol hash table lies outside the file");
    first = head[1];
    for (const std::uint32_t bucket : buckets) end = std::max<std::uint64_t>(end, bucket);
    undefined_end_ = first;
    if (end < first) return true;  // nothing is exported
    const std::uint64_t chains_at = buckets_at + std::uint64_t{head[0]} * 4;
    for (std::uint32_t link = 0; (link & 1) == 0; ++end) {
      if (end - first > max_symbols || !read_struct(bytes_, chains_at + (end - first) * 4, link)) {
        return truncated("a symbol hash chain has no end");
      }
    }
  } else if (const auto old = sysv_hash_ ? file_offset(sysv_hash_) : std::nullopt) {
    std::array<std::uint32_t, 2> head{};  // buckets, symbols
    if (!read_struct(bytes_, *old, head)) return truncated("the symbol hash table lies outside the file");
    end = std::min<std::uint64_t>(head[1], max_symbols);
  }
  if (undefined_end_ == 0) undefined_end_ = end;
  for (std::uint64_t index = first; index < end && facts.exported.size() < max_exported; ++index) {
    Elf64_Sym symbol{};
    if (!read_struct(bytes_, *symbols + index * sizeof symbol, symbol))
      return truncated("the symbol table ends early");
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0) continue;
    if (auto name = string_at(symbol.st_name)) {
      facts.exports_entry |= *name == NEXUML_LIBRARY_ENTRY_SYMBOL;
      facts.exported.push_back(std::move(*name));
    }
  }
  return true;
}

std::vector<std::string> ElfReader::undefined_symbols() {
  std::vector<std::string> found;
  std::vector<Elf64_Sym> symbols;
  if (!read_table(bytes_, symbols_, std::min(undefined_end_, max_symbols), symbols)) return found;
  for (const auto& symbol : symbols) {
    if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0 || ELF64_ST_BIND(symbol.st_info) == STB_WEAK)
      continue;
    if (found.size() >= max_undefined) break;
    if (auto name = string_at(symbol.st_name)) found.push_back(std::move(*name));
  }
  return found;
}

void ElfReader::read_notes(ElfFacts& facts) const {
  constexpr auto aligned = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
  for (const auto& segment : segments_) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > 65536) continue;
    const auto notes = bytes_.text(segment.p_offset, segment.p_filesz);
    if (!notes) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= notes->size();) {
      Elf64_Nhdr note{};
      std::memcpy(&note, notes->data() + at, sizeof note);
      const std::uint64_t name_at = at + sizeof note;
      const std::uint64_t payload_at = name_at + aligned(note.n_namesz);
      if (payload_at > notes->size() || note.n_descsz > notes->size() - payload_at) break;
      const std::string_view owner(notes->data() + name_at, note.n_namesz);
      const std::string_view payload(notes->data() + payload_at, note.n_descsz);
      if (owner == std::string_view("NEXUML\0", 7) && note.n_type == note_type) facts.note = payload;
      if (owner == std::string_view("GNU\0", 4) && note.n_type == NT_GNU_BUILD_ID) {
        static constexpr char digits[] = "0123456789abcdef";
        facts.build_id.clear();
        for (const char c : payload) {
          facts.build_id += digits[static_cast<unsigned char>(c) >> 4];
          facts.build_id += digits[static_cast<unsigned char>(c) & 15];
        }
      }
      at = payload_at + aligned(note.n_descsz);
    }
  }
}

std::optional<Elf64_Shdr> ElfReader::find_section(std::string_view name) const {
  std::vector<Elf64_Shdr> sections;
  if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shstrndx >= header_.e_shnum ||
      !read_table(bytes_, header_.e_shoff, header_.e_shnum, sections)) {
    return std::nullopt;
  }
  const auto& strings = sections[header_.e_shstrndx];
  const auto names =
      strings.sh_size < max_table ? bytes_.text(strings.sh_offset, strings.sh_size) : std::nullopt;
  if (!names) return std::nullopt;
  for (const auto& section : sections) {
    if (section.sh_name >= names->size() || section.sh_type == SHT_NOBITS) continue;
    const std::string_view rest = std::string_view(*names).substr(section.sh_name);
    if (rest.substr(0, rest.find('\0')) == name) return section;
  }
  return std::nullopt;
}

std::optional<std::string> ElfReader::section(std::string_view name) const {
  const auto found = find_section(name);
  if (!found || found->sh_size > max_table) return std::nullopt;
  return bytes_.text(found->sh_offset, found->sh_size);
}

}  // namespace

std::string_view host_machine() noexcept {
  return NEXUML_ABI_MACHINE;
}

std::optional<ElfFacts> read_elf_facts(const ByteSource& bytes, const Where& where, Diagnostics& problems) {
  ElfReader reader(bytes, where, problems);
  ElfFacts facts;
  if (!reader.read_headers()) return std::nullopt;
  facts.machine = reader.machine();
  reader.read_notes(facts);
  if (!reader.read_dynamic(facts) || !reader.read_exports(facts)) return std::nullopt;
  return facts;
}

bool has_nexuml_note(const ByteSource& bytes) {
  Diagnostics unreported;
  ElfReader reader(bytes, {}, unreported);
  if (!reader.read_headers()) return false;
  ElfFacts facts;
  reader.read_notes(facts);
  return facts.note.has_value();
}

std::optional<ForeignElf> read_foreign_elf(const ByteSource& bytes) {
  Diagnostics unreported;
  ElfReader reader(bytes, {}, unreported);
  if (!reader.read_headers(/*any_machine=*/true) || reader.machine() == host_machine()) return std::nullopt;
  ElfFacts facts;
  reader.read_notes(facts);
  return facts.note ? std::optional(ForeignElf{reader.machine(), std::move(*facts.note)}) : std::nullopt;
}

std::optional<std::string> read_elf_section(const ByteSource& bytes, std::string_view name) {
  Diagnostics unreported;
  ElfReader reader(bytes, {}, unreported);
  return reader.read_headers() ? reader.section(name) : std::nullopt;
}

std::vector<std::string> read_undefined_symbols(const ByteSource& bytes) {
  Diagnostics unreported;
  ElfReader reader(bytes, {}, unreported);
  ElfFacts facts;
  if (!reader.read_headers() || !reader.read_dynamic(facts) || !reader.read_exports(facts)) return {};
  return reader.undefined_symbols();
}

std::vector<std::string> read_version_definitions(const ByteSource& bytes) {
  Diagnostics unreported;
  ElfReader reader(bytes, {}, unreported);
  ElfFacts facts;
  if (!reader.read_headers() || !reader.read_dynamic(facts)) return {};
  return reader.version_definitions();
}

}  // namespace nexuml
