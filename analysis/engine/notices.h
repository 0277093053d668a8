// SPDX-License-Identifier: BSD-3-Clause
// Joins what processes tell each other without a message (epochs.h), as messages are joined.
//
// A notice is dropped if the call that may have waited for it had been left before the other was
// entered: MPI_Win_start need not wait for the post.
//
// Where a trace begins in the middle of the run, as the window of a flight recorder does, nobody knows
// how many notices came before. Only a window that is made in the trace has a name there
// (step_recorder.h), so those of others are neither told nor heard.
//
// Memory: the notices that have not been heard yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/engine/job_facts.h"
#include "analysis/engine/step_recorder.h"

namespace fathom::analysis {

class JoinedJob;

class Notices {
 public:
  // `own`: the processes whose ends are heard here.
  Notices(const JobFacts& facts, const std::vector<std::uint32_t>& own);

  // Joins found by the call are appended to `joined`.
  void told(std::uint32_t process, const SentMessage& notice, Channels::Joined& joined);
  void heard(const HeardNotice& notice, Channels::Joined& joined);
  void loss(const SourceLoss& loss, Channels::Joined& joined);

 private:
  void drop_unneeded(Channels::Joined& joined, std::size_t from) const;

  const JobFacts& facts_;
  std::vector<std::unique_ptr<Channels>> channels_;  // by process; nullptr for those of others
};

// After the join: what a completion told after it had waited reaches others at that moment.
// Collective over the job's transport: one exchange.
void delay_notices(JoinedJob& job, const std::vector<AccessEnd>& access_ends);

}  // namespace fathom::analysis
