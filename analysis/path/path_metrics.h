// SPDX-License-Identifier: BSD-3-Clause
// critter's metrics: the cost of the costliest chain of dependent operations through the job, each
// metric along its own path, next to the costliest process and the sum over all.
//
// A path goes from MPI_Init to the end through the calls of a process, and from one process to
// another wherever one depends on the other (analysis/engine/causal_walk.h). Cost of a call with n
// bytes and p processes (critter, cost models alpha-beta and BSP; Hutter, Solomonik:
// Confidence-based performance modelling):
//
//                                                alpha-beta                             BSP
//   routine                                      synchronisation   communication
//   barrier; constructors of communicators       log2 p            0                    1, 0
//   bcast, reduce, allreduce, scan               2 log2 p          2 n                  1, n
//   gather, allgather, scatter, reduce-scatter   log2 p            n  (of all members)  1, n
//   alltoall                                     log2 p            n log2 p             1, n
//   a message, at its sender and its receiver    1                 n                    1, n
//
// For a message, n is what was actually transferred; it counts for the routine that began it, at
// the time of the call that completed it. Persistent collectives cost time only: the call that starts one
// does not say what it moves. In BSP everything completed by one wait is one superstep.
// As in critter, what a call passes on does not include its own cost; what its process passes on
// next does.
//
// Times: computation is the time between communicating calls. Communication is their duration minus
// their waits (call_wait.h), which are idle time and on no path. Calls at windows and files are
// computation, except for their waits. Synchronisation is the
// communication time of operations without data, data movement the rest. Run time is computation
// plus communication. The estimated times are alpha x synchronisation + beta x communication of a
// model, with alpha and beta measured on this run's own messages (transfer_model.h); 0 if that is
// impossible.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/engine/rounds.h"
#include "analysis/path/routines.h"
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

const char* name_of(PathMetric metric);

// For estimated costs, which may be fractions: units of 2^-12.
inline constexpr int kFractionBits = 12;
// Bytes and messages as counts, times in ns, estimated costs in 2^-12.
using Costs = std::array<std::uint64_t, kPathMetrics>;

// A value in display units: bytes, messages, coefficients, seconds.
double shown(PathMetric metric, std::uint64_t value);

struct PathMetrics {                                  // at analysis process 0
  Costs path{};                                       // the costliest path
  std::array<std::uint32_t, kPathMetrics> ends_at{};  // process at which it ends
  std::array<std::array<std::uint64_t, kPathMetrics>, kRoutines>
      path_by_routine{};  // of each metric, along its own path
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
