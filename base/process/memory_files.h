// SPDX-License-Identifier: BSD-3-Clause
// Memory that another process shows: a memfd (memfd_create(2)) that it keeps open, found below /proc.
//
// Threading: none of it has state.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::base {

// The entries of a folder that begin with a digit, in the system's order: processes in /proc, descriptors in
// /proc/PID/fd. None if it cannot be read.
inline std::vector<std::string> numbers_in(const std::string& folder) {
  std::vector<std::string> numbers;
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return numbers;
  while (const dirent* entry = readdir(directory))
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') numbers.emplace_back(entry->d_name);
  closedir(directory);
  return numbers;
}

// Calls f(path) for each descriptor of the process, a number, that is a memfd with this name, until it returns
// true. The highest come first: that of Fathom is higher than what programs open themselves.
template <typename F>
void find_memory_file(const std::string& process, std::string_view name, F&& f) {
  const std::string folder = "/proc/" + process + "/fd/";
  const std::string wanted = "/memfd:" + std::string(name) + " (deleted)";
  std::vector<std::string> numbers = numbers_in(folder);
  std::ranges::reverse(numbers);
  for (const std::string& number : numbers) {
    const std::string path = folder + number;
    char target[64];
    const ssize_t length = readlink(path.c_str(), target, sizeof target);
    if (length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == wanted &&
        f(path))
      return;
  }
}

}  // namespace fathom::base
