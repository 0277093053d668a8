// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/placement_of_process.h"

#include <sched.h>
#include <unistd.h>

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

}  // namespace fathom::profiler
