// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/placement_of_process.h"

#include <elf.h>
#include <link.h>
#include <sched.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace fathom::profiler {
namespace {

// The number in a file of one line, or -1.
int number_in(const std::string& path) {
  std::ifstream file(path);
  int number = -1;
  return file >> number ? number : -1;
}

// The NUMA node that a processor belongs to: /sys names it by a directory entry nodeN.
int numa_node_of(int processor) {
  const std::string directory = "/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/node";
  for (int node = 0; node < 1024; ++node) {
    if (access((directory + std::to_string(node)).c_str(), F_OK) == 0) return node;
    if (access(("/sys/devices/system/node/node" + std::to_string(node)).c_str(), F_OK) != 0) break;
  }
  return -1;
}

// "0-3,8"
std::string list_of(const cpu_set_t& set) {
  std::string list;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &set)) continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    if (!list.empty()) list += ',';
    list += std::to_string(first);
    if (last > first) list += '-' + std::to_string(last);
    first = last;
  }
  return list;
}

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

}  // namespace

// Reads /sys, as hwloc does, because the library may be preloaded where hwloc is not installed.
std::string describe_place() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {};
  int socket = -2, node = -2;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &set)) continue;
    const int its_socket = number_in("/sys/devices/system/cpu/cpu" + std::to_string(i) +
                                     "/topology/physical_package_id");
    const int its_node = numa_node_of(i);
    socket = socket == -2 || socket == its_socket ? its_socket : -1;
    node = node == -2 || node == its_node ? its_node : -1;
  }
  std::string lines = "affinity " + list_of(set) + '\n';
  if (socket >= 0) lines += "socket " + std::to_string(socket) + '\n';
  if (node >= 0) lines += "numa " + std::to_string(node) + '\n';
  return lines;
}

std::string describe_code(unsigned long long& seen) {
  CodeList list{&seen, {}};
  dl_iterate_phdr(add_object, &list);
  return list.lines;
}

}  // namespace fathom::profiler
