// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/needed_libraries.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

namespace fathom::cli {
namespace {

std::vector<std::string> read_names(Elf* elf) {
  std::vector<std::string> names;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Dyn entry;
    for (int i = 0;
         data != nullptr && gelf_getdyn(data, i, &entry) != nullptr && entry.d_tag != DT_NULL;
         ++i) {
      if (entry.d_tag != DT_NEEDED) continue;
      const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
      if (name != nullptr) names.push_back(name);
    }
  }
  return names;
}

// Calls look(elf) if the file is an ELF file.
template <typename Look>
void with_elf(const std::string& program, Look look) {
  elf_version(EV_CURRENT);
  const int file = open(program.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  Elf* elf = elf_begin(file, ELF_C_READ, nullptr);
  if (elf != nullptr && elf_kind(elf) == ELF_K_ELF) look(elf);
  elf_end(elf);
  close(file);
}

}  // namespace

std::vector<std::string> needed_libraries(const std::string& program) {
  std::vector<std::string> names;
  with_elf(program, [&](Elf* elf) { names = read_names(elf); });
  return names;
}

std::optional<LinkKind> link_kind(const std::string& program) {
  std::optional<LinkKind> kind;
  with_elf(program, [&](Elf* elf) {
    std::size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0 || count == 0) return;
    // Without an interpreter, no loader starts it that could read LD_PRELOAD.
    kind = LinkKind::kStatic;
    GElf_Phdr header;
    for (std::size_t i = 0; i < count; ++i) {
      if (gelf_getphdr(elf, static_cast<int>(i), &header) && header.p_type == PT_INTERP)
        kind = LinkKind::kDynamic;
    }
  });
  return kind;
}

}  // namespace fathom::cli
