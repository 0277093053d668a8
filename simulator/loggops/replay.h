// SPDX-License-Identifier: BSD-3-Clause
// Replays a Program: computes when every operation happens on a machine described by LogGOPS
// parameters and, optionally, on a network whose links are shared (flow_model.h).
//
// The machine (A. Alexandrov et al., LogGP, SPAA 1995; O and S: T. Hoefler et al., LogGOPSim, HPDC
// 2010). A message has k bytes.
//
//     L   latency, from the last byte's departure to its arrival
//     o   overhead of the processor at each end, per message
//     O   overhead of the processor at each end, per byte: o + k O in all
//     g   gap: time between the end of one message and the start of the next, at the network
//         interface of each end
//     G   gap per byte: k bytes pass an interface in B(k) = max(k - 1, 0) G
//     S   longest eager message; longer ones are sent by rendezvous
//
// An eager message, whose send gets its processor at t:
//
//     processor is free again        t' = t + o + k O;  the send has ended
//     first byte leaves              d  = t', or when the sender's interface is free: B(k) + g
//                                         after the first byte of the message before
//     first byte arrives             f  = d + L, or when the receiver's interface is free: likewise
//                                         B(k) + g after the first byte of the message before
//     last byte arrives              f + B(k)
//     receive has ended              o + k O after the receive is posted, its message has arrived
//                                    and it has got a processor
//
// One eager message between idle ranks takes o + (k-1) G + L + o for O = 0.
//
// A rendezvous message, k > S:
//
//     request of 1 byte              leaves at d, as above
//     receiver answers               L after that, or when the receive is posted; the answer takes
//                                    L and no processor
//     k bytes leave                  when the answer has arrived and the sender's interface is free
//     send has ended                 B(k) later, when the last byte has left
//
// LogGOPSim differs here: its data do not wait for the interface, and its answer takes no time.
// With a receiver that is ready and O = 0 the message takes
//
//     o + L + L + (k-1) G + L + o.
//
// Each rank has one interface. Its processors serve compute, send and receive operations in the
// order in which they become ready. Requests and eager messages arrive, and are matched, in the
// order they were sent.
//
// With a network, messages between ranks whose route has links are flows: L is the sum of the
// links' latencies, and the last byte arrives when the flow ends. G and the receiver's gap do not
// apply to them.
//
// Cost: O(log(active events)) per event, at most three events per operation. Threading: one thread
// at a time. Memory: about 30 bytes per operation in addition to the Program.
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

struct LogGops {  // nanoseconds; G and O: nanoseconds per byte
  double L = 0, o = 0, g = 0, G = 0, O = 0;
  double S_bytes = 65536;
};

struct ReplayNetwork {
  FlowModel* flows = nullptr;  // must be new
  // The links between two ranks; none if they share a host. The links exist in `flows`, and the
  // span stays valid.
  std::function<std::span<const std::uint32_t>(std::uint32_t from, std::uint32_t to)> route;
};

// Processors per rank that the program uses: the highest processor number of any rank, plus one.
std::uint32_t processor_count(const Program& program);

struct RankTimes {
  double end_ns = 0;       // of its last operation
  double compute_ns = 0;   // time its processors computed
  double overhead_ns = 0;  // time they sent and received
};

// Time until its last operation that was neither computation nor overhead. With several processors
// some of the waiting may be hidden; the result is never negative.
inline double wait_ns(const RankTimes& rank) {
  const double rest = rank.end_ns - rank.compute_ns - rank.overhead_ns;
  return rest > 0 ? rest : 0;
}

struct ReplayResult {
  std::vector<RankTimes> ranks;
  double end_ns = 0;  // of the last rank
  std::uint64_t messages = 0;
  double bytes = 0;
  std::uint64_t events = 0;      // operations and messages, as LogGOPSim counts them
  std::uint64_t unreceived = 0;  // messages that no receive matched
};

// An error if some operations can never happen; it names one of them and what it waits for. `busy`,
// if given, gets the time that each processor computes, sends and receives, as "bytes" at rate 1 on
// link rank * processor_count() + processor.
base::Result<ReplayResult> replay(const Program& program, const LogGops& machine,
                                  const ReplayNetwork* network = nullptr,
                                  LinkUsage* busy = nullptr);

}  // namespace fathom::simulator
