// SPDX-License-Identifier: BSD-3-Clause
// Slack: by how much each call could have begun later without making the job end later, everything
// else unchanged.
//
// A backward pass over the steps (analysis/engine/causal_walk.h), from the end of the job, computes
// the latest time L at which each operation could have been complete:
//
//   the end        L = when the last process reached the end (analysis/engine/job_end.h)
//   a call         slack = min(slack of what follows + its wait,
//                              L - entered, for each message it sends, each collective it enters
//                              and each receive it posts that a sender waited for)
//   an operation   L = when the call that completes it could go on + slack of what follows;
//                  of a message: at the receiver, and for the call that posts the receive at the
//                  sender
//
// A wait is slack: a process that would have waited anyway may come later. On the critical path the
// slack is 0. analysis/engine/awaited_receives.h says which senders waited. A large send whose
// receive was already posted does not limit the call that posted it, unless it is synchronous,
// although that call could not really come arbitrarily late. Only calls of the first thread count;
// others are assumed to delay nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/engine/rounds.h"

namespace fathom::analysis {

// Calls with the same attributes.
struct SlackRow {
  std::uint32_t process = 0;
  std::uint32_t function = 0, phase = kNobody;
  std::int32_t communicator = -1;
  std::uint64_t site = 0;
  std::uint64_t count = 0, least_ns = ~std::uint64_t{0}, sum_ns = 0;
};

// Called for each call of own processes, for each process from last to first.
using EachSlack =
    std::function<void(std::uint32_t process, std::uint32_t call, std::uint64_t slack_ns)>;

// At analysis process 0 the rows of all, sorted by process, function, site, communicator, phase.
// Collective over the job's transport. Cost: about 100 ns per call.
PassTo<std::vector<SlackRow>> path_slack_pass(JoinedJob& job, EachSlack each = {});

}  // namespace fathom::analysis
