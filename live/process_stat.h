// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says of a process: /proc/PID/stat (proc(5)).
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace fathom::live {

struct ProcessStat {
  char state = 0;                     // 'R', 'S', 'T', 'Z', …; 0: there is no such process
  std::uint64_t processor_ticks = 0;  // in units of 1 / sysconf(_SC_CLK_TCK)
  std::uint64_t started = 0;          // ticks since boot
};

// `process`: a number, or "self".
inline ProcessStat stat_of_process(const std::string& process) {
  const int descriptor = open(("/proc/" + process + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  char text[1024];
  const ssize_t size = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  if (size <= 0) return {};
  text[size] = '\0';
  // The second field, the name in parentheses, may hold anything.
  const char* rest = std::strrchr(text, ')');
  ProcessStat stat;
  unsigned long user = 0, system = 0;
  unsigned long long started = 0;
  if (rest == nullptr ||
      std::sscanf(
          rest, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %llu",
          &stat.state, &user, &system, &started) != 4)
    return {};
  stat.processor_ticks = user + system;
  stat.started = started;
  return stat;
}

}  // namespace fathom::live
