// SPDX-License-Identifier: BSD-3-Clause
// Who waits for whom, and of what a critical path consists, summed up from a profile.
//
// Waits of several threads add up, as their calls do. Those in MPI_Init and MPI_Finalize are kept
// apart: they lie outside the time that shares are of (call_summary.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mpi/wait_kind.h"
#include "profile/profile.h"
#include "profile/selection.h"

namespace fathom::profile {

// How one rank waited for another, over all calls, and where it did longest.
struct WaitPair {
  std::int64_t rank = 0, awaited = 0;
  std::uint64_t waits = 0;
  double seconds = 0, longest_seconds = 0;
  std::string kind, function;  // of the calls in which it waited longest in total
  std::int64_t site = 0;
  double seconds_there = 0;
};

// How one rank waited for another in the calls of one function from one site, in one way.
struct WaitingCall {
  std::int64_t rank = 0, awaited = 0;
  std::string kind, function;
  std::int64_t site = 0;
  std::uint64_t waits = 0;
  double seconds = 0, longest_seconds = 0;
};

// The waits in MPI_Init or in MPI_Finalize, over all pairs, and the pair that waited longest there.
struct EdgeWaits {
  std::string kind;  // a name of mpi/wait_kind.h
  std::uint64_t waits = 0;
  double seconds = 0;
  std::int64_t rank = 0, awaited = 0;
  double seconds_of_pair = 0;
};

class WaitSummary {
 public:
  explicit WaitSummary(const Selection& selection = {}) : selection_(selection) {}

  void add(const CallWaits& block);

  // Without those in MPI_Init and MPI_Finalize, as the pairs are.
  double seconds() const;

  // Most time first; ties by ranks.
  std::vector<WaitPair> pairs() const;

  // The same waits by pair and call: the `top` with most time, most first; ties by ranks and call.
  std::vector<WaitingCall> calls(std::size_t top) const;

  // Of each kind that occurred, MPI_Init first.
  std::vector<EdgeWaits> edges() const;

 private:
  struct Sum {
    std::uint64_t waits = 0, total_ns = 0, longest_ns = 0;
  };
  using Way = std::tuple<std::string, std::string, std::int64_t>;  // kind, function, site

  using Pair = std::pair<std::int64_t, std::int64_t>;  // rank, awaited

  Selection selection_;
  std::map<Pair, std::map<Way, Sum>> pairs_;
  std::map<mpi::WaitKind, std::map<Pair, Sum>> edges_;
};

// Why a profile whose calls were timed has neither waits nor a critical path; empty: not known.
std::string why_no_waits(const Coverage& coverage);

// The calls of one function from one site on a path, or what is computed before them, over all
// communicators, phases and ranks.
struct PathShare {
  std::string function;
  std::int64_t site = 0;
  bool program = false;
  double seconds = 0;
  std::vector<std::pair<std::int64_t, double>> ranks;  // rank, seconds; most first
};

struct PathSummary {
  std::string window;
  double seconds = 0;  // how long the path is, even if only a part of it is selected
  std::uint64_t jumps = 0;
  double error_seconds = 0;
  std::vector<PathShare> shares;                       // most seconds first
  std::vector<std::pair<std::int64_t, double>> ranks;  // rank, seconds; ascending
};

PathSummary summed_up(const CriticalPath& path, const Selection& selection = {});

}  // namespace fathom::profile
