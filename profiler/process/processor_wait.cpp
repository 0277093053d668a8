// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/process/processor_wait.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace fathom::profiler {
namespace {

// The first bytes of a file in /proc; empty if it cannot be read.
std::string beginning(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  char text[128];
  const ssize_t size = read(file, text, sizeof text);
  close(file);
  return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

}  // namespace

std::uint64_t processor_wait_ns() {
  const std::string folder = "/proc/self/task/";
  DIR* const threads = opendir(folder.c_str());
  if (threads == nullptr) return 0;
  std::uint64_t all_ns = 0;
  while (const dirent* const entry = readdir(threads)) {
    if (entry->d_name[0] == '.') continue;
    const std::string thread = folder + entry->d_name;
    if (beginning(thread + "/comm").starts_with("fathom-")) continue;
    const std::string numbers = beginning(thread + "/schedstat");
    const std::size_t second = numbers.find(' ');
    if (second != std::string::npos) all_ns += std::strtoull(numbers.c_str() + second, nullptr, 10);
  }
  closedir(threads);
  return all_ns;
}

}  // namespace fathom::profiler
