// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/calls/loaded_code.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace fathom::profiler {
namespace {

std::string build_id_of(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    const char* end = at + object.dlpi_phdr[i].p_memsz;
    while (end - at >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* description = name + (note.n_namesz + 3) / 4 * 4;
      const char* next = description + (note.n_descsz + 3) / 4 * 4;
      if (next > end) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          std::memcmp(name, "GNU", 4) == 0) {
        std::string id;
        char hex[3];
        for (unsigned int k = 0; k < note.n_descsz; ++k) {
          std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned char>(description[k]));
          id += hex;
        }
        return id;
      }
      at = next;
    }
  }
  return "-";
}

std::string path_of(const dl_phdr_info& object) {
  if (object.dlpi_name != nullptr && object.dlpi_name[0] != '\0') return object.dlpi_name;
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string("?");
}

struct CodeList {
  unsigned long long* seen;
  std::string lines;
};

int add_object(dl_phdr_info* object, std::size_t size, void* list_pointer) {
  auto& list = *static_cast<CodeList*>(list_pointer);
  if (size >= offsetof(dl_phdr_info, dlpi_adds) + sizeof object->dlpi_adds && list.lines.empty()) {
    if (object->dlpi_adds == *list.seen) return 1;
    *list.seen = object->dlpi_adds;
  }
  const std::string path = path_of(*object);
  // The kernel's page is no file, so nothing could be looked up in it afterwards.
  if (path.find("linux-vdso") != std::string::npos) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    char line[128];
    std::snprintf(line, sizeof line, "code %llx %llx %llx ",
                  static_cast<unsigned long long>(object->dlpi_addr) + segment.p_vaddr,
                  static_cast<unsigned long long>(segment.p_memsz),
                  static_cast<unsigned long long>(segment.p_offset));
    list.lines += line + build_id_of(*object) + ' ' + path + '\n';
  }
  return 0;
}

struct AddressSearch {
  std::uintptr_t address;
  CodePlace found;
};

int compare_object(dl_phdr_info* object, std::size_t, void* search_pointer) {
  auto& search = *static_cast<AddressSearch*>(search_pointer);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    if (search.address - (object->dlpi_addr + segment.p_vaddr) >= segment.p_memsz) continue;
    search.found = {path_of(*object), build_id_of(*object), search.address - object->dlpi_addr};
    return 1;
  }
  return 0;
}

}  // namespace

std::string describe_code(unsigned long long& seen) {
  CodeList list{&seen, {}};
  dl_iterate_phdr(add_object, &list);
  return list.lines;
}

CodePlace place_in_file(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  AddressSearch search{number, {{}, "-", number}};
  dl_iterate_phdr(compare_object, &search);
  return search.found;
}

}  // namespace fathom::profiler
