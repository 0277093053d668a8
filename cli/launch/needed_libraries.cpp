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

}  // namespace

std::vector<std::string> needed_libraries(const std::string& program) {
  elf_version(EV_CURRENT);
  const int file = open(program.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  Elf* elf = elf_begin(file, ELF_C_READ, nullptr);
  std::vector<std::string> names;
  if (elf != nullptr && elf_kind(elf) == ELF_K_ELF) names = read_names(elf);
  elf_end(elf);
  close(file);
  return names;
}

}  // namespace fathom::cli
