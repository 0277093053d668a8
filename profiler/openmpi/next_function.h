// SPDX-License-Identifier: BSD-3-Clause
// The functions behind a wrapper, looked up once.
//
// MPI_X is called by the program; PMPI_X by other tools and by every Fortran binding of Open MPI,
// whose entry points (all manglings, mpif.h, use mpi, use mpi_f08) end in a call of PMPI_X through
// the dynamic linker. Fathom stands in front of both names. MPI_X hands on to the tool behind us if
// there is one; that tool may call PMPI_X, which arrives here again and must not count twice, or
// look for the next MPI_X itself, which never comes back: so MPI_X acts, and a Chain makes PMPI_X
// of the same function stand aside.
#pragma once

#include <atomic>

#include "profiler/openmpi/mpi_library.h"
#include "profiler/process/exported.h"

namespace fathom::profiler {

// While it lives, this thread is in the MPI call of `function`, handed on to another tool.
class Chain {
 public:
  explicit Chain(const void* function) : outer_(current()) { current() = function; }
  ~Chain() { current() = outer_; }
  Chain(const Chain&) = delete;

  static bool holds(const void* function) { return current() == function; }

 private:
  static const void*& current() {
    static thread_local const void* function __attribute__((tls_model("initial-exec"))) = nullptr;
    return function;
  }
  const void* outer_;
};

template <typename F>
class Next {
 public:
  explicit constexpr Next(const char* name) : name_(name) {}

  // The MPI library's function; nullptr unless the process's MPI is an Open MPI that Fathom knows.
  F library() {
    return get([](const char* name) { return find_in_mpi(name); });
  }
  // The next tool's function; nullptr if there is none.
  F other_tool() {
    return get([](const char* name) { return find_other_tool(name); });
  }
  // With any other MPI: the function that the program would have called without this library;
  // nullptr if there is none.
  F elsewhere() {
    F found = elsewhere_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      found = reinterpret_cast<F>(next_definition(name_));
      elsewhere_.store(found, std::memory_order_relaxed);
    }
    return found;
  }

 private:
  template <typename Find>
  F get(Find find) {
    if (!known_.load(std::memory_order_acquire)) {
      const auto found = reinterpret_cast<F>(find(name_));
      if (!mpi_is_loaded()) return found;  // one may be loaded later
      function_.store(found, std::memory_order_relaxed);
      known_.store(true, std::memory_order_release);
    }
    return function_.load(std::memory_order_relaxed);
  }

  const char* name_;
  std::atomic<F> function_{nullptr};
  std::atomic<F> elsewhere_{nullptr};
  std::atomic<bool> known_{false};
};

}  // namespace fathom::profiler
