// SPDX-License-Identifier: BSD-3-Clause
// The same work on many things, shared by all processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace fathom::base {

// Threads for work that nobody else shares; more gain nothing, because they wait for the disk.
inline unsigned worker_threads() {
  return std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
}

// Calls work(i) once for each i below `count`, in any order, from several threads at once, of which the calling
// one is one; returns when all are done. `work` throws nothing.
template <typename Work>
void in_parallel(std::size_t count, Work work, std::size_t most_threads = worker_threads()) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&next, &work, count] {
    for (std::size_t at = next++; at < count; at = next++) work(at);
  };
  std::vector<std::thread> others;
  const std::size_t threads = std::min(most_threads, count);
  try {
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(run);
  } catch (const std::system_error&) {
    // This user may have no more threads: fewer do it.
  }
  run();
  for (std::thread& other : others) other.join();
}

}  // namespace fathom::base
