// SPDX-License-Identifier: BSD-3-Clause
// The communication events of a job, as the logical structure (logical_structure.h) is built of:
// calls that send, receive, or take part in a collective, each with its other ends. What only
// computes, posts a receive or waits for a send is no event.
//
//   kSend        a call that sends; consecutive non-blocking sends of a process are one event (Isaacs et al.,
//                Combing the communication hairball, InfoVis 2014)
//   kReceive     a call that completes receives, or non-blocking collectives
//   kCollective  a blocking collective
//   kPost        a non-blocking collective is begun
// MPI_Sendrecv is a kSend and a kReceive behind it. Calls outside of the window of time are left
// out, and whatever has an end there is as if it had none. Memory: some 60 bytes an event, in
// temporary files where that is much (base/scratch.h).
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
  std::uint32_t group = kNobody;  // of a kCollective or kPost
  CommKind kind = CommKind::kSend;
  std::uint8_t reserved[3] = {};
};

// From one number to many, in one array.
struct Links {
  ScratchVector<std::uint32_t> first, to;  // those of i: to[first[i]] until to[first[i + 1]]
  std::span<const std::uint32_t> of(std::size_t i) const {
    return {to.data() + first[i], to.data() + first[i + 1]};
  }
};

struct CommEvents {
  ScratchVector<CommEvent> events;      // by process, then in its order
  std::vector<std::uint32_t> first_of;  // by process: its first event; one more at the end
  Links senders, receivers;             // by event: of its messages the other ends
  Links members;                        // by group: kCollective or kPost
  Links completions,
      completed;  // of non-blocking ones: by group its kReceive; by kReceive its groups
  std::size_t groups() const { return members.first.size() - 1; }

  // Calls take(event) for all, in their order.
  template <typename Take>
  void each(Take take) const {
    for (std::uint32_t event = 0; event < events.size(); ++event) {
      touched(event);
      take(event);
    }
  }
  // Whoever goes through them otherwise says so for each, with a number that goes up: memory is
  // given back.
  static void touched(std::uint32_t count) {
    constexpr std::uint32_t kAtOnce = 1 << 14;
    if (count % kAtOnce == 0) base::scratch::touched(kAtOnce * kBytesTouched);
  }

 private:
  static constexpr std::size_t kBytesTouched =
      64;  // of an event, its links, and what is made of it, in a pass
};

// At analysis process 0; elsewhere empty. Collective over the job's transport.
CommEvents comm_events(JoinedJob& job, std::uint64_t from_ns = 0,
                       std::uint64_t to_ns = ~std::uint64_t{0});

}  // namespace fathom::analysis
