// SPDX-License-Identifier: BSD-3-Clause
#include "trace/code/code_files.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "trace/code/demangled.h"

namespace fathom::trace {
namespace {

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string hexadecimal(std::uint64_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[value % 16]);
    value /= 16;
  } while (value != 0);
  return "0x" + text;
}

bool is_fortran(Dwarf_Die* unit) {
  switch (dwarf_srclang(unit)) {
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08: return true;
    default: return false;
  }
}

// The function that holds the address, inside all others that do.
struct FunctionAt {
  Dwarf_Addr address;
  Dwarf_Die function{};
  bool found = false;
};

int look_at_function(Dwarf_Die* function, void* wanted) {
  auto& at = *static_cast<FunctionAt*>(wanted);
  if (dwarf_haspc(function, at.address) != 1) return DWARF_CB_OK;
  at.function = *function;
  at.found = true;
  return DWARF_CB_OK;
}

// As the source has it, with the modules and procedures around it: "heat::exchange".
std::string fortran_name(Dwarf_Die* unit, Dwarf_Addr address) {
  FunctionAt at{address};
  dwarf_getfuncs(unit, look_at_function, &at, 0);
  if (!at.found) return "";
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&at.function, &scopes);
  std::string name;
  for (int i = 0; i < count; ++i) {  // the innermost first
    const int tag = dwarf_tag(&scopes[i]);
    const char* part = dwarf_diename(&scopes[i]);
    if (part == nullptr || (tag != DW_TAG_subprogram && tag != DW_TAG_module)) continue;
    name = name.empty() ? part : std::string(part) + "::" + name;
  }
  std::free(scopes);
  return name;
}

const Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

}  // namespace

// One file on disk, and what libdw knows about it.
class CodeFiles::Module {
 public:
  explicit Module(const std::string& path) {
    // Opened here with O_NONBLOCK, so that a device or a pipe of that name cannot block.
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return;
    dwfl_ = dwfl_begin(&kCallbacks);
    if (dwfl_ != nullptr) {
      dwfl_report_begin(dwfl_);
      module_ = dwfl_report_offline(dwfl_, base_name(path).c_str(), path.c_str(),
                                    descriptor);  // takes the descriptor
      dwfl_report_end(dwfl_, nullptr, nullptr);
    }
    if (module_ == nullptr) close(descriptor);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module() {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
  }

  bool is_open() const { return module_ != nullptr; }

  std::string build_id() const {
    const unsigned char* bytes = nullptr;
    GElf_Addr where = 0;
    const int size = dwfl_module_build_id(module_, &bytes, &where);
    std::string text;
    for (int i = 0; i < size; ++i) {
      constexpr char kDigits[] = "0123456789abcdef";
      text += kDigits[bytes[i] >> 4];
      text += kDigits[bytes[i] & 15];
    }
    return text;
  }

  // The address, in the layout made by the linker, of a byte of the file.
  std::optional<std::uint64_t> virtual_address(std::uint64_t file_offset) {
    Elf* elf = dwfl_module_getelf(module_, &bias_);
    std::size_t headers = 0;
    if (elf == nullptr || elf_getphdrnum(elf, &headers) != 0) return std::nullopt;
    for (std::size_t i = 0; i < headers; ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD)
        continue;
      if (file_offset >= header.p_offset && file_offset - header.p_offset < header.p_filesz) {
        return header.p_vaddr + (file_offset - header.p_offset);
      }
    }
    return std::nullopt;
  }

  void look_up(std::uint64_t virtual_address, CodeSite& site) {
    if (dwfl_module_getelf(module_, &bias_) == nullptr) return;
    const Dwarf_Addr address = virtual_address + bias_;
    GElf_Off offset = 0;
    GElf_Sym symbol{};
    const char* name =
        dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
    // libdw gives a function without a symbol the name of the one before it.
    if (name != nullptr && offset < symbol.st_size) site.function = function_name(name, address);
    if (Dwfl_Line* line = dwfl_module_getsrc(module_, address)) {
      const char* file = dwfl_lineinfo(line, nullptr, &site.line, nullptr, nullptr, nullptr);
      if (file != nullptr) site.file = file;
    } else if (Dwarf_Line* found = line_by_units(address)) {
      const char* file = dwarf_linesrc(found, nullptr, nullptr);
      if (file != nullptr) site.file = file;
      dwarf_lineno(found, &site.line);
    }
  }

 private:
  // Code that a compilation unit covers.
  struct Range {
    Dwarf_Addr begin = 0, end = 0;  // as in the file
    Dwarf_Die unit{};
  };

  // gfortran's "relax_" and "MAIN__" are names that C may have too. Debug information knows.
  std::string function_name(const std::string& symbol, Dwarf_Addr address) {
    std::string name = demangled(symbol);
    if (name != symbol) return name;
    Dwarf_Die* unit = unit_of(address);
    if (unit != nullptr && is_fortran(unit)) name = fortran_name(unit, address - units_bias_);
    return name.empty() ? symbol : name;
  }

  // dwfl_module_getsrc() finds the unit in .debug_aranges, which clang does not write. The units'
  // own ranges say the same.
  Dwarf_Line* line_by_units(Dwarf_Addr address) {
    Dwarf_Die* unit = unit_of(address);
    return unit == nullptr ? nullptr : dwarf_getsrc_die(unit, address - units_bias_);
  }

  Dwarf_Die* unit_of(Dwarf_Addr address) {
    if (!units_listed_) list_units();
    address -= units_bias_;
    const auto after =
        std::upper_bound(units_.begin(), units_.end(), address,
                         [](Dwarf_Addr a, const Range& range) { return a < range.begin; });
    if (after == units_.begin() || address >= (after - 1)->end) return nullptr;
    return &(after - 1)->unit;
  }

  void list_units() {
    units_listed_ = true;
    for (Dwarf_Die* unit = nullptr;
         (unit = dwfl_module_nextcu(module_, unit, &units_bias_)) != nullptr;) {
      Dwarf_Addr base = 0;
      Range range{.unit = *unit};
      for (std::ptrdiff_t next = 0;
           (next = dwarf_ranges(unit, next, &base, &range.begin, &range.end)) > 0;)
        units_.push_back(range);
    }
    std::sort(units_.begin(), units_.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
  }

  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  GElf_Addr bias_ = 0;
  std::vector<Range> units_;  // by begin; listed when first needed
  Dwarf_Addr units_bias_ = 0;
  bool units_listed_ = false;
};

std::string describe(const CodeSite& site) {
  const std::string line = site.line > 0 ? ":" + std::to_string(site.line) : "";
  const std::string source = site.file.empty() ? "" : base_name(site.file) + line;
  if (!site.function.empty())
    return source.empty() ? site.function : site.function + " (" + source + ")";
  if (!source.empty()) return source;
  const std::string place = hexadecimal(site.offset);
  return site.module.empty() ? place : base_name(site.module) + "+" + place;
}

std::string file_or_module(const CodeSite& site) {
  const bool nameless = site.function.empty() && site.file.empty() && !site.module.empty();
  return nameless ? describe(site) : site.file;
}

CodeFiles::CodeFiles() = default;
CodeFiles::CodeFiles(CodeFiles&&) noexcept = default;
CodeFiles& CodeFiles::operator=(CodeFiles&&) noexcept = default;
CodeFiles::~CodeFiles() = default;

CodeFiles::Module* CodeFiles::module_of(const std::string& path, const std::string& build_id) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&path](const auto& m) { return m.first == path; });
  if (found != open_.end()) {
    std::rotate(open_.begin(), found, found + 1);
  } else {
    if (open_.size() == kMostFiles) open_.pop_back();
    open_.emplace_front(path, std::make_unique<Module>(path));
  }
  Module& module = *open_.front().second;
  const bool fits = module.is_open() && (build_id.empty() || module.build_id() == build_id);
  return fits ? &module : nullptr;
}

std::optional<std::uint64_t> CodeFiles::virtual_address(const std::string& path,
                                                        const std::string& build_id,
                                                        std::uint64_t file_offset) {
  Module* module = module_of(path, build_id);
  return module == nullptr ? std::nullopt : module->virtual_address(file_offset);
}

void CodeFiles::look_up(const std::string& build_id, CodeSite& site) {
  Module* module = module_of(site.module, build_id);
  if (module != nullptr) module->look_up(site.offset, site);
}

}  // namespace fathom::trace
