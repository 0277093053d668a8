// SPDX-License-Identifier: BSD-3-Clause
// Slack: by how much each call could have begun later without the job ending later, all else being
// as it was.
//
// Backward over the steps (analysis/engine/causal_walk.h), from the end of the job, the latest
// moment L at which each operation could have been complete:
//   at the end      L = when the last came to the end (analysis/engine/job_end.h)
//   a call          slack = min(slack of what follows + its wait, of each message it sends, collective it enters and
//                   receive it posts that a sender waited for: L of that - entered)
//   an operation    L at the call that completes it = the moment that call could go on + the slack of what follows;
//                   of a message at the receiver's, and, for the call that posts the receive, at the sender's
// A wait is slack: who would have waited anyway may come later. On the critical path the slack is
// 0. Which senders waited: analysis/engine/awaited_receives.h. A large send whose receive had been
// posted before it does not hold the call that posted it, though that one may not come as late as
// it likes; unless it is synchronous. Calls of the first thread alone; others are taken to hold up
// nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/engine/rounds.h"

namespace fathom::analysis {

// Calls that are alike.
struct SlackRow {
  std::uint32_t process = 0;
  std::uint32_t function = 0, phase = kNobody;
  std::int32_t communicator = -1;
  std::uint64_t site = 0;
  std::uint64_t count = 0, least_ns = ~std::uint64_t{0}, sum_ns = 0;
};

// Told of each call of own processes, of each process from the last to the first.
using EachSlack =
    std::function<void(std::uint32_t process, std::uint32_t call, std::uint64_t slack_ns)>;

// At analysis process 0 the rows of all, sorted by process, function, site, communicator, phase.
// Collective over the job's transport. Cost: some 100 ns a call.
PassTo<std::vector<SlackRow>> path_slack_pass(JoinedJob& job, EachSlack each = {});

}  // namespace fathom::analysis
