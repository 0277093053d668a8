// SPDX-License-Identifier: BSD-3-Clause
// Watches a job while `fathom run` waits for it, and says when it is stuck (--stuck-after).
//
// A job is stuck if a verdict (live/verdict/verdict.h) has been proved for as long as the user allows; or
// if ranks have waited so long for one that is outside of MPI and uses no processor. A rank that computes
// is never taken for stuck.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands/top/job_source.h"
#include "live/verdict/verdict.h"

namespace fathom::cli {

inline constexpr int kStuckExit = 124;  // fathom run --kill ended a stuck job: as timeout(1)

// Whether this verdict means that the job has been stuck for `patience_s`.
bool is_stuck(const live::Verdict& verdict, double patience_s);

class StuckWatch {
 public:
  // `run`: the run directory of the job, which need not have begun yet.
  StuckWatch(std::string run, double patience_s);

  // How long to wait from one look to the next: often enough to notice in time.
  std::chrono::seconds interval() const;

  // The verdict, once for each time that the job gets stuck. Nothing while it moves, or cannot be seen.
  std::optional<live::Verdict> look();

 private:
  std::string run_;
  double patience_s_;
  std::unique_ptr<JobSource> source_;
  live::JobState last_;
  bool was_stuck_ = false;
};

}  // namespace fathom::cli
