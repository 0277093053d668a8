// SPDX-License-Identifier: BSD-3-Clause
// Replays a Program: when does every operation happen, on a machine described by LogGOPS
// parameters, and if asked on a network whose links are shared (flow_model.h)?
//
// The machine (A. Alexandrov et al., LogGP, SPAA 1995; O and S: T. Hoefler et al., LogGOPSim, HPDC
// 2010). A message of k bytes:
//
//     L  latency, from the last byte's departure to its arrival
//     o  overhead of the processor, at each end;  O  more of it per byte: o + k O
//     g  gap: between the end of one message and the start of the next, at each end's network
//     interface G  gap per byte: k bytes pass an interface in B(k) = max(k - 1, 0) G S  longest
//     eager message; longer ones are sent by rendezvous
//
// A send that gets its processor at t holds it until t' = t + o + k O. Its first byte leaves at d =
// t', or when the interface is free again, which is B(k) + g after the first byte before it left.
// Then
//
//     first byte arrives     f = d + L, or when the receiver's interface is free (B(k) + g, too)
//     last byte arrives      f + B(k)
//     receive has ended      o + k O after it has been posted, its message is there and it got a
//     processor
//
// so that one message between idle ranks takes o + (k-1) G + L + o. An eager send ends at t'. For
// longer messages a request of one byte leaves this way. L after its departure, or when the receive
// is posted, the receiver answers, which takes L and no processor; then the k bytes leave when the
// interface is free, and the send has ended when the last is gone, B(k) later. (In LogGOPSim the
// data do not wait, and the answer takes no time.) With a receiver that is ready and O = 0 that is
//
//     o + L + L + (k-1) G + L + o.
//
// Each rank has one interface, and processors that serve compute, send and receive operations in
// the order in which they become ready. Requests and eager messages arrive, and are matched, in the
// order in which they were sent.
//
// With a network, the messages between ranks whose route has links are flows: L is the sum of the
// links' latencies, and the last byte arrives when the flow ends; G and the receiver's gap do not
// apply to them.
//
// Cost: O(log(events under way)) an event, three events or fewer for each operation.
// Threading: one thread at a time. Memory: about 30 bytes per operation besides the Program.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "simulator/flow/flow_model.h"
#include "simulator/flow/link_usage.h"
#include "simulator/loggops/program.h"

namespace fathom::simulator {

struct LogGops {  // nanoseconds; per byte: nanoseconds a byte
  double L = 0, o = 0, g = 0, G = 0, O = 0;
  double S_bytes = 65536;
};

struct ReplayNetwork {
  FlowModel* flows = nullptr;  // fresh
  // The links between two ranks, which exist in `flows` and stay in memory; none where they share a
  // host.
  std::function<std::span<const std::uint32_t>(std::uint32_t from, std::uint32_t to)> route;
};

// How many processors of a rank the program uses: the highest number of any rank's, and one.
std::uint32_t processor_count(const Program& program);

struct RankTimes {
  double end_ns = 0;       // of its last operation
  double compute_ns = 0;   // its processors computed
  double overhead_ns = 0;  // and sent and received
};

// Until its last operation: what was neither computation nor overhead. With several processors some
// of that may be hidden, and the wait 0.
inline double wait_ns(const RankTimes& rank) {
  const double rest = rank.end_ns - rank.compute_ns - rank.overhead_ns;
  return rest > 0 ? rest : 0;
}

struct ReplayResult {
  std::vector<RankTimes> ranks;
  double end_ns = 0;  // of the last rank
  std::uint64_t messages = 0;
  double bytes = 0;
  std::uint64_t events = 0;      // operations and messages: what LogGOPSim counts
  std::uint64_t unreceived = 0;  // messages that no receive asked for
};

// An error if operations remain that can never happen; it names one of them and what it waits for.
// `busy`, if asked for, gets the time that each processor computes, sends and receives, as "bytes"
// at rate 1 of link rank * processor_count() + processor.
base::Result<ReplayResult> replay(const Program& program, const LogGops& machine,
                                  const ReplayNetwork* network = nullptr,
                                  LinkUsage* busy = nullptr);

}  // namespace fathom::simulator
