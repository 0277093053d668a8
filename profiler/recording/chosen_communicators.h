// SPDX-License-Identifier: BSD-3-Clause
// Which kinds of communicators are traced (FATHOM_TRACE_COMMUNICATORS).
//
// A communicator is chosen by its name (MPI_COMM_WORLD, or the one given with MPI_Comm_set_name)
// or, without a name, by its constructor (MPI_Comm_split). Calls, messages and transfers on the
// others are left out; calls without a communicator are kept. Threading: leaves_out() from
// anywhere; the others under the lock of tracing.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/reserved_array.h"
#include "profile/rows.h"

namespace fathom::profiler {

class ChosenCommunicators {
 public:
  static bool leaves_none_out() { return choice_ == nullptr; }
  static bool leaves_out(std::uint32_t kind) {
    return choice_ != nullptr && kind < kKinds && choice_->left_out.data()[kind] != 0;
  }

  // With no patterns, or without address space (then it returns false), all are traced.
  static bool open(std::vector<std::string> patterns);
  static void judge(std::uint32_t kind, std::string_view name, std::string_view made_by);

 private:
  static constexpr std::uint32_t kKinds = 1u << profile::kCommunicatorBits;

  struct Choice {
    std::vector<std::string> patterns;
    base::ReservedArray<std::uint8_t> left_out;  // by kind
  };
  static inline Choice* choice_ = nullptr;  // never destroyed: threads may outlive everything else
};

}  // namespace fathom::profiler
