// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/next_function.h"

namespace fathom::profiler {

void* NextFunction::look_up(Find& find) {
  void* found = find(name_);
  if (around_ != nullptr) found = around_(name_, found);
  if (!mpi_is_loaded()) return found;  // one may be loaded later
  function_.store(found, std::memory_order_relaxed);
  known_.store(true, std::memory_order_release);
  return found;
}

void* NextFunction::elsewhere() {
  void* found = elsewhere_.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = next_definition(name_);
    elsewhere_.store(found, std::memory_order_relaxed);
  }
  return found;
}

}  // namespace fathom::profiler
