// SPDX-License-Identifier: BSD-3-Clause
// Where in the program an MPI call was made.
//
// A C or C++ program calls MPI_X itself: the site is the return address. Fortran bindings
// (libmpi_mpifh, libmpi_usempif08) call PMPI_X from inside themselves, and some of their functions
// call each other; the site is then the return address of the outermost of them. The binding's
// unwind tables (.eh_frame) give its distance in the stack for each calling place. It is worked out
// once per place; afterwards a call costs one look-up per binding function. So no unwinding is
// needed, and no entry points of our own for some thousand Fortran names.
//
// Calls that the MPI library makes for itself do not belong to the program: bindings that first ask
// for a communicator's size, ROMIO, and the like. For these site() is null and nothing is recorded.
//
// Threading: any thread. site() never allocates; it locks (in dladdr) only the first time that a
// place in the MPI library or a binding calls. Limit: a binding function whose frame has no fixed
// size is itself the site; Open MPI built by GCC or Clang with optimisation has none.
#pragma once

#include <cstdint>

#include "profiler/counting/call_depth.h"

namespace fathom::profiler {

struct Caller {
  const void* return_address;
  const void* frame;  // the caller's stack pointer when it called: __builtin_dwarf_cfa()
};
#define FATHOM_CALLER \
  ::fathom::profiler::Caller { __builtin_return_address(0), __builtin_dwarf_cfa() }

class CallSites {
 public:
  // Cold. Call once the bindings are loaded, and again if more may have been loaded.
  static void open();

  // `function`: the "MPI_X" being called. Null if the program did not make the call.
  static const void* site(Caller caller, const char* function) {
    if (!is_outermost_site(caller.return_address)) [[unlikely]]
      return look_closer(caller, function);
    return caller.return_address;
  }
  // Whether the address that an MPI function returns to is where the program called it, inside no other,
  // as far as can be told without a closer look.
  static bool is_outermost_site(const void* return_address) {
    return reinterpret_cast<std::uintptr_t>(return_address) - all_.begin >= all_.size &&
           is_outermost();
  }

  // From here on, `note` is called with the site of each call that the program makes and that is
  // asked for, inside no other. Cold. Without it, nothing about a call changes.
  static void watch(void (*note)(const void* site));

  // Whether this thread is not inside an MPI call.
  static bool is_outermost() { return depth() == 0; }
  // Whether it is inside one that is not inside another.
  static bool is_inside_one() { return depth() == 1; }
  // site(), but null as well for a call made inside another.
  static const void* outermost_site(Caller caller, const char* function) {
    return is_outermost() ? site(caller, function) : nullptr;
  }

  // While one lives, this thread is inside an MPI call, so calls may come from the library itself.
  class Inside {
   public:
    [[gnu::always_inline]] Inside() { ++depth(); }
    [[gnu::always_inline]] ~Inside() { --depth(); }
    Inside(const Inside&) = delete;
    // Whether this is the only one on the thread; only for the innermost one that lives.
    bool is_outermost() const { return depth() == 1; }
  };

  // The same in two steps, where is_outermost() has been found true.
  static void enter_outermost() { depth() = 1; }
  static void leave_outermost() { depth() = 0; }

  struct Binding {
    std::uintptr_t begin, size;  // of its code
    const std::uint8_t* frames;  // .eh_frame_hdr
  };

 private:
  static constexpr int kMaxBindings = 8;

  static const void* look_closer(Caller caller, const char* function);
  static const void* through_binding(Caller caller, const char* function);
  static const void* nested(Caller caller);
  static int& depth() { return call_depth(); }
  static const Binding* binding_of(std::uintptr_t address);

  static inline Binding all_ = {};  // from the first byte of any binding to the last
  static inline Binding bindings_[kMaxBindings] = {};
  static inline int binding_count_ = 0;
  static inline void (*note_)(const void* site) = nullptr;
};

}  // namespace fathom::profiler
