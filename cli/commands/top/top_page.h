// SPDX-License-Identifier: BSD-3-Clause
// What `fathom top` shows of a job, as lines: the same on the screen and with --once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/top/job_change.h"
#include "cli/terminal/terminal.h"
#include "live/verdict/verdict.h"

namespace fathom::cli {

struct TopView {
  RankOrder order = RankOrder::kWaiting;
  std::optional<std::int32_t> rank;  // the chosen one: its threads and pairs are shown
  std::string kind;                  // of traffic; empty: all
  double window_s = 1;               // rates are averages over this many seconds
  bool paused = false;
  std::size_t width = kUsualWidth;  // columns
  std::size_t height = 0;           // lines; 0: as many as the page takes
  std::size_t first_rank = 0;       // in the order; for scrolling
};

struct TopLine {
  Style style = Style::kPlain;
  std::string text;
};

// Lines are UTF-8 without control characters. Where the view has a height they are no wider than it; else
// tables may be, so that nothing is cut.
std::vector<TopLine> top_page(const live::JobState& now, const live::JobState& earlier,
                              const live::Verdict& verdict, const TopView& view);

// "MPI_Recv from 9, tag 7 (halo.c:88)"; "computing, after solver.c:10".
std::string activity_text(const live::JobState& job, const live::ThreadState& thread);

const char* name_of(RankOrder order);

}  // namespace fathom::cli
