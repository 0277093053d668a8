// SPDX-License-Identifier: BSD-3-Clause
// The joined steps of a job as columns: messages with both ends, and the moments of a replay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/engine/causal_order.h"
#include "analysis/engine/joined_job.h"

namespace fathom::python {

// One row per message that an own process received, with as much about the other end as the step
// knows.
struct MessageColumns {
  std::vector<std::int32_t> sender, receiver, tag, communicator;  // world ranks
  std::vector<std::int64_t> send_entered_ns, received_ns, receive_posted_ns, bytes, sender_step,
      receiver_step;
  std::vector<std::uint8_t> hidden;
};
MessageColumns messages_of(const analysis::JoinedJob& job);

// The next moments of a replay of the kinds in `wanted`, one bit per analysis::Moment.
struct MomentColumns {
  std::vector<std::uint8_t> moment;
  std::vector<std::uint32_t> process, step;
  std::vector<std::int64_t> time_ns;
};
MomentColumns next_moments(analysis::CausalOrder& order, std::uint32_t wanted, std::size_t most);

}  // namespace fathom::python
