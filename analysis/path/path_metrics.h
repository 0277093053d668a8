// SPDX-License-Identifier: BSD-3-Clause
// critter's metrics: what the costliest chain of dependent operations through the job costs, each
// metric on its own path, beside the costliest process and the sum over all.
//
// A path goes from MPI_Init to the end through the calls of a process, and from one process to
// another wherever one depends on the other (analysis/engine/causal_walk.h). Costs of a call, with
// n bytes and p processes (critter, cost models alpha-beta and BSP; Hutter, Solomonik:
// Confidence-based performance modelling):
//
//   routine                                       alpha-beta: synchronisation, communication   BSP
//   barrier; constructors of communicators        log2 p           0                           1, 0
//   bcast, reduce, allreduce, scan                2 log2 p         2 n                         1, n
//   gather, allgather, scatter, reduce-scatter    log2 p           n  (of all members)         1, n
//   alltoall                                      log2 p           n log2 p                    1, n
//   a message, at its sender and its receiver     1                n                           1, n
//
// n of a message is what really travelled; it counts with the routine that began it, in the moment
// of the call that completed it. In BSP what one wait completes is one superstep. As in critter a
// call's own cost is not in what it hands on, but in what its process hands on next.
//
// Times: computation is what lies between communicating calls; communication is their duration less
// their waits (call_wait.h), which are idle time and on no path; of that, synchronisation is what
// operations without data took, data movement the rest. Run time is computation and communication.
// The estimated times are alpha x synchronisation + beta x communication of a model, with alpha and
// beta as this run's own messages measure them (transfer_model.h); 0 if they cannot.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/engine/rounds.h"
#include "analysis/path/transfer_model.h"

namespace fathom::analysis {

enum class PathMetric : std::uint8_t {
  kBytes,
  kMessages,
  kCommunication,
  kSynchronisation,
  kBspCommunication,
  kBspSynchronisation,
  kCommunicationTime,
  kSynchronisationTime,
  kDataMovementTime,
  kComputationTime,
  kRunTime,
  kEstimatedTime,
  kBspTime,
};
inline constexpr std::size_t kPathMetrics = 13;

// Calls that are told together; the non-blocking form with the blocking one, and where it is waited
// for apart.
enum class Routine : std::uint8_t {
  kComputation,
  kSend,
  kIsend,
  kReceive,
  kIreceive,
  kSendReceive,
  kWait,
  kTest,
  kProbe,
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kGather,
  kAllgather,
  kScatter,
  kReduceScatter,
  kAlltoall,
  kScan,
  kCommunicator,
  kOther,
};
inline constexpr std::size_t kRoutines = 21;

const char* name_of(PathMetric metric);
std::string_view name_of(Routine routine);

// Of estimated costs, which may be fractions: in units of 2^-12.
inline constexpr int kFractionBits = 12;
// Bytes and messages as they are, times in ns, estimated costs in 2^-12.
using Costs = std::array<std::uint64_t, kPathMetrics>;

// A value as it is shown: bytes, messages, coefficients, seconds.
double shown(PathMetric metric, std::uint64_t value);

struct PathMetrics {                                  // at analysis process 0
  Costs path{};                                       // the costliest path
  std::array<std::uint32_t, kPathMetrics> ends_at{};  // process at which it ends
  std::array<std::array<std::uint64_t, kPathMetrics>, kRoutines>
      path_by_routine{};  // of each metric on its own path
  Costs most{};           // of any process
  Costs sum{};            // over all
  std::array<Costs, kRoutines> sum_by_routine{};
  std::uint64_t most_idle_ns = 0, sum_idle_ns = 0;
  std::uint64_t released = 0;
  TransferModel model;  // at every analysis process
  std::size_t processes = 0;
};

// Collective over the job's transport.
PassTo<PathMetrics> path_metrics_pass(JoinedJob& job);

}  // namespace fathom::analysis
