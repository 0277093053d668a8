// SPDX-License-Identifier: BSD-3-Clause
// What the waits for late ranks become: one finding for each cause, with the waits that it led to
// as its symptoms. The same sentences and figures for waits from a trace and from a profile; what
// only a trace knows is left out without one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/results/finding.h"
#include "analysis/results/finding_kinds.h"
#include "analysis/waits/wait_steps.h"
#include "mpi/wait_kind.h"

namespace fathom::analysis {

// Waits of several ranks for several others.
struct WaitGroup {
  std::uint64_t ns = 0, count = 0;
  std::map<std::int64_t, std::uint64_t> culprits, victims;               // ns by rank
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> pairs;  // ns by culprit, victim
  std::map<std::int64_t, WorstWait> worst;  // by victim; without a trace, nothing

  void add(std::int64_t victim, std::int64_t culprit, std::uint64_t pair_ns,
           std::uint64_t pair_count);
  void add(const WaitGroup& more);
};

// Where ranks wait, and how.
struct WaitPlace {
  mpi::WaitKind kind = mpi::WaitKind::kLateSender;
  std::string function, caller, file;
  int line = 0;
  std::string phase;
  auto operator<=>(const WaitPlace&) const = default;
};
Where where_of(const WaitPlace& place);

// How much the culprits compute in one stretch, or in the whole run, compared with the mean rank.
struct Balance {
  std::int64_t busiest = 0;   // of the culprits
  double times_the_mean = 0;  // what that one computes
  double excess_ns = 0;       // and how much more than the mean
  bool alone = false;         // others compute next to nothing there
  bool evens_out = false;     // elsewhere, it computes less than others by as much
};

// Why others waited, and what they waited. Nanoseconds of all these waits are `direct.ns +
// passed.ns`: waits for the culprits themselves, and waits for ranks that these had made late.
struct WaitCause {
  WaitGroup direct, passed;
  // All of them by place, and whether they were passed on. The culprits of a group are the ranks
  // that were waited for.
  std::map<std::pair<WaitPlace, bool>, WaitGroup> symptoms;
  std::map<std::int64_t, std::uint64_t> culprits;  // ns of both by rank
  std::optional<Meanwhile> meanwhile;
  std::optional<Balance> balance;
  bool serves = false;              // the culprit answers all other ranks, and is doing so
  std::optional<std::int64_t> hub;  // the rank that exchanges messages with all others (hub_of)
  bool traced = false;              // else what the culprits did meanwhile needs a trace
  double confidence = 1;

  std::uint64_t ns() const { return direct.ns + passed.ns; }
};

// `work`: ns by rank of those that work at all, of `ranks` ranks; nothing if nobody does. Workers are
// compared with workers: not with the hub, whose work is another.
std::optional<Balance> balance_of(const std::map<std::int64_t, std::uint64_t>& work,
                                  const WaitCause& cause, std::size_t ranks);

// Everything but where.communicator. `load_balance`: the threshold. `all_ns`: of all chosen ranks
// together.
Finding finding_of(const WaitCause& cause, double load_balance, std::uint64_t all_ns);

// Seconds of all findings together.
double seconds_in(const std::vector<Finding>& findings);

// The rank at one end of nearly all messages that the program itself sends, which exchanges
// messages with every other rank: a master. None with fewer than `few_ranks` ranks, since of two
// ranks each is at one end of all messages.
std::optional<std::int64_t> hub_of(const profile::Profile& profile, double few_ranks);

// Whether a wait is for a message, not for members of a collective.
bool is_for_message(mpi::WaitKind kind);

}  // namespace fathom::analysis
