// SPDX-License-Identifier: BSD-3-Clause
// The screen of `fathom top`: fills the terminal, follows its size, and reads keys.
//
//   q quit   s sort by   up, down, page up, page down: choose a rank   enter, escape: show it, or all
//   c class of traffic   w window of the rates   p, blank: pause
#pragma once

#include <string>

#include "base/result.h"
#include "cli/commands/top/job_source.h"

namespace fathom::cli {

enum class ScreenEnd { kQuit, kJobEnded };

// Needs a terminal on stdin and stdout, which it leaves as it was. `interval_s`: from one sample to the next.
base::Result<ScreenEnd> show_screen(JobSource& source, double interval_s);

}  // namespace fathom::cli
