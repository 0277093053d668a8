// SPDX-License-Identifier: BSD-3-Clause
// The page through which readers ask this process for a trace of some seconds (FATHOM_TRACE=request;
// trace/format/window_request.h). Until then it costs one branch for each call of the program.
//
// Cold; one thread.
#pragma once

#include <cstdint>
#include <string>

#include "profile/rows.h"
#include "trace/format/window_request.h"

namespace fathom::profiler {

class WindowPage {
 public:
  // `begin`: what the first call after a wish is to do. False, with errno set, if the system refuses.
  static bool open(const profile::RowsHeader& process, const std::string& run_directory,
                   void (*begin)());

  // Null if nobody can ask.
  static trace::WindowPage* own() { return own_; }

 private:
  static void in_forked_child();

  static inline trace::WindowPage* own_ = nullptr;
  static inline int descriptor_ = -1;
};

}  // namespace fathom::profiler
