// SPDX-License-Identifier: BSD-3-Clause
// The part of each process's trace that is the program's: from the end of MPI_Init (or
// MPI_Init_thread) to the beginning of MPI_Finalize.
//
// Where the trace holds no MPI_Init (a slice, a choice of functions, sessions), the part begins with
// the first event; without MPI_Finalize it ends with the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/reader.h"

namespace fathom::trace {

struct Span {
  std::uint64_t from_ns = 0, to_ns = 0;  // from_ns <= to_ns
  std::uint64_t ns() const { return to_ns - from_ns; }
};

class ProgramSpans {
 public:
  explicit ProgramSpans(const Trace& trace);  // must outlive this

  // `process`: position in Definitions::processes. Costs the events up to the first call that needs
  // MPI and those after the last one: usually two frames, never more than three passes.
  Span of(std::size_t process) const;

 private:
  enum class Kind : std::uint8_t { kBegins, kEnds, kAnyTime, kBetween };
  struct Ending;

  Kind kind_of(const Event& event) const {
    return event.function < kinds_.size() ? kinds_[event.function] : Kind::kBetween;
  }
  bool find_begin(std::size_t process, std::uint64_t& time_ns) const;
  bool find_end(std::size_t process, std::uint64_t& time_ns) const;
  Ending ending_after(std::size_t process, std::uint64_t time_ns) const;

  const Trace& trace_;
  std::vector<Kind> kinds_;  // by function
};

}  // namespace fathom::trace
