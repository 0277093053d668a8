// SPDX-License-Identifier: BSD-3-Clause
// Where in the program an MPI call was made.
//
// A C or C++ program calls MPI_X itself: its return address is the site. Fortran bindings
// (libmpi_mpifh, libmpi_usempif08) call PMPI_X from inside themselves, and some of their functions
// call each other; the site is then the return address of the outermost of them. It lies at a
// distance in the stack that the binding's unwind tables (.eh_frame) give for each place that
// calls, and that is worked out once for each: afterwards a call costs one look-up per binding
// function, no entry points of our own for some thousand Fortran names, and no unwinding.
//
// A call that the MPI library makes for itself is not the program's: bindings that ask for a
// communicator's size first, ROMIO, and the like. For those site() is null and nothing is recorded.
//
// Threading: any thread. site() never allocates; it locks only (dladdr) the first time that a place
// in the MPI library or a binding calls. Limits: a binding function whose frame has no fixed size
// (none of Open MPI's built by GCC or Clang with optimisation) is itself the site.
#pragma once

#include <cstdint>

namespace fathom::profiler {

struct Caller {
  const void* return_address;
  const void* frame;  // the caller's stack pointer when it called: __builtin_dwarf_cfa()
};
#define FATHOM_CALLER \
  ::fathom::profiler::Caller { __builtin_return_address(0), __builtin_dwarf_cfa() }

class CallSites {
 public:
  // Cold, once the bindings are loaded; again if more may have been.
  static void open();

  // `function`: "MPI_X", which is being called. Null: not by the program.
  static const void* site(const Caller& caller, const char* function) {
    const auto address = reinterpret_cast<std::uintptr_t>(caller.return_address);
    if (address - all_.begin < all_.size || depth() != 0) [[unlikely]]
      return look_closer(caller, function);
    return caller.return_address;
  }

  // While it lives, this thread is inside an MPI call: calls may come from the library itself.
  class Inside {
   public:
    Inside() { ++depth(); }
    ~Inside() { --depth(); }
    Inside(const Inside&) = delete;
  };

  struct Binding {
    std::uintptr_t begin, size;  // of its code
    const std::uint8_t* frames;  // .eh_frame_hdr
  };

 private:
  static constexpr int kMaxBindings = 8;

  static const void* look_closer(const Caller& caller, const char* function);
  static const void* through_binding(const Caller& caller, const char* function);
  static const void* nested(const Caller& caller);
  static int& depth() {
    static thread_local int calls __attribute__((tls_model("initial-exec"))) = 0;
    return calls;
  }
  static const Binding* binding_of(std::uintptr_t address);

  static inline Binding all_ = {};  // from the first byte of any binding to the last
  static inline Binding bindings_[kMaxBindings] = {};
  static inline int binding_count_ = 0;
};

}  // namespace fathom::profiler
