// SPDX-License-Identifier: BSD-3-Clause
// The communication events of a job, from which the logical structure (logical_structure.h) is
// built: calls that send, receive, or take part in a collective, each with its other ends. Calls
// that only compute, post a receive or wait for a send are no events.
//
//   kSend        a call that sends; consecutive non-blocking sends of a process are one event,
//                eager or not (Isaacs et al., Combing the communication hairball, InfoVis 2014)
//   kReceive     a call that completes receives, or non-blocking collectives
//   kCollective  a blocking collective
//   kPost        the start of a non-blocking collective
//
// MPI_Sendrecv is a kSend followed by a kReceive. Calls outside the time window are left out, and
// links to them are dropped. Memory: about 60 bytes per event, in temporary files if that is much
// (base/scratch.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "base/scratch.h"

namespace fathom::analysis {

using base::ScratchVector;

enum class CommKind : std::uint8_t { kSend, kReceive, kCollective, kPost };

struct CommEvent {
  std::uint64_t enter_ns = 0, exit_ns = 0;
  std::uint32_t process = 0;
  std::uint32_t call = 0;         // step of the first call
  std::uint32_t group = kNobody;  // for kCollective and kPost
  CommKind kind = CommKind::kSend;
  std::uint8_t reserved[3] = {};
};

// A mapping from one number to many, in one array.
struct Links {
  ScratchVector<std::uint32_t> first, to;  // those of i: to[first[i]] up to to[first[i + 1]]
  std::span<const std::uint32_t> of(std::size_t i) const {
    return {to.data() + first[i], to.data() + first[i + 1]};
  }
};

struct CommEvents {
  ScratchVector<CommEvent> events;      // by process, then in its order
  std::vector<std::uint32_t> first_of;  // by process: its first event, plus one final entry
  Links senders, receivers;             // by event: the other ends of its messages
  Links members;                        // by group: kCollective or kPost
  Links completions,
      completed;  // non-blocking: by group its kReceive; by kReceive its groups
  std::size_t groups() const { return members.first.size() - 1; }

  // Calls take(event) for all events, in order.
  template <typename Take>
  void each(Take take) const {
    for (std::uint32_t event = 0; event < events.size(); ++event) {
      touched(event);
      take(event);
    }
  }
  // Loops that do not use each() call this for each event, with an increasing count, so that memory
  // is released on the way.
  static void touched(std::uint32_t count) {
    constexpr std::uint32_t kAtOnce = 1 << 14;
    if (count % kAtOnce == 0) base::scratch::touched(kAtOnce * kBytesTouched);
  }

 private:
  static constexpr std::size_t kBytesTouched =
      64;  // per event: the event, its links and results, in one pass
};

// Complete at analysis process 0; elsewhere empty. Collective over the job's transport.
CommEvents comm_events(JoinedJob& job, std::uint64_t from_ns = 0,
                       std::uint64_t to_ns = ~std::uint64_t{0});

}  // namespace fathom::analysis
