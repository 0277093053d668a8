// SPDX-License-Identifier: BSD-3-Clause
// The functions that a wrapper calls next, looked up once.
//
// The program calls MPI_X; other tools call PMPI_X, and so does every Fortran binding of Open MPI:
// its entry points (all manglings, mpif.h, use mpi, use mpi_f08) end in a call of PMPI_X through
// the dynamic linker. Fathom therefore defines both names. MPI_X calls the next tool's MPI_X if
// there is one. That tool may call PMPI_X, which arrives here again. It must not count the call
// twice, nor look for the next tool's MPI_X itself, which would loop; so MPI_X does the work, and a
// Chain makes PMPI_X of the same function pass the call through.
#pragma once

#include <atomic>

#include "profiler/openmpi/mpi_library.h"
#include "profiler/process/exported.h"

namespace fathom::profiler {

// While it lives, this thread is inside `function`, called through another tool.
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

// A function of either kind, whatever its type. There are some 1,300 of them, so what happens once is
// not compiled into each.
class NextFunction {
 public:
  explicit constexpr NextFunction(const char* name) : name_(name) {}

  // From here on, what is found by a name is replaced by what `around` returns for both. Before any
  // function is looked up whose replacement matters.
  static void set_around(void* (*around)(const char* name, void* found)) { around_ = around; }

 protected:
  using Find = void*(const char* name);
  void* found(Find& find) {
    if (!known_.load(std::memory_order_acquire)) [[unlikely]]
      return look_up(find);
    return function_.load(std::memory_order_relaxed);
  }
  void* elsewhere();
  bool is_known() const { return known_.load(std::memory_order_acquire); }
  void* direct() const { return direct_.load(std::memory_order_relaxed); }
  void set_direct(void* function) { direct_.store(function, std::memory_order_relaxed); }

 private:
  [[gnu::cold]] void* look_up(Find& find);
  static inline void* (*around_)(const char* name, void* found) = nullptr;

  const char* name_;
  std::atomic<void*> function_{nullptr};
  std::atomic<void*> elsewhere_{nullptr};
  std::atomic<void*> direct_{nullptr};
  std::atomic<bool> known_{false};
};

template <typename F>
class Next : NextFunction {
 public:
  using NextFunction::NextFunction;

  // The MPI library's function; nullptr unless the process's MPI is an Open MPI that Fathom knows.
  F library() { return reinterpret_cast<F>(found(find_in_mpi)); }
  // The next tool's function; nullptr if there is none.
  F other_tool() { return reinterpret_cast<F>(found(find_other_tool)); }
  // For the name that programs call: the library's function, once it is known that no other tool is in
  // between; until then, and if one is, nullptr. One load in place of four.
  F direct() const { return reinterpret_cast<F>(NextFunction::direct()); }
  void goes_to(const Next& library, F function) {
    if (is_known() && library.is_known()) set_direct(reinterpret_cast<void*>(function));
  }
  // With any other MPI library: the function that the program would have called without Fathom;
  // nullptr if there is none.
  F elsewhere() { return reinterpret_cast<F>(NextFunction::elsewhere()); }
};

}  // namespace fathom::profiler
