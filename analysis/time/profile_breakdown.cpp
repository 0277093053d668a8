// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/scope/profile_scope.h"
#include "analysis/time/time_breakdown.h"
#include "base/seconds.h"
#include "mpi/wait_kind.h"

namespace fathom::analysis {
namespace {

// One function: the time in all its calls, and how much of it was waiting.
struct FunctionTime {
  std::uint64_t all_ns = 0, waiting_ns = 0;
};

// Whether all that is left of its calls, once the wait for the others is over, is the transfer.
bool transfers(const std::string& function) {
  const mpi::Meaning& meaning = mpi::meaning_of(function);
  if (meaning.immediate || meaning.requests != mpi::Requests::kNone) return false;
  switch (meaning.group) {
    case mpi::Group::kSend:
    case mpi::Group::kReceive:
    case mpi::Group::kSendReceive: return true;
    case mpi::Group::kCompletion: return !meaning.polls;
    case mpi::Group::kCollective: return ends_with_transfer(meaning.flow);
    default: return false;
  }
}

class ProfileBreakdown {
 public:
  ProfileBreakdown(const profile::Profile& profile, const Scope& scope)
      : profile_(profile), scope_(scope) {
    found.span_ns = static_cast<std::uint64_t>(std::llround(profile.application.seconds * 1e9));
  }

  // False if the calls of several threads took longer than their rank.
  bool find() {
    count_calls();
    count_waits();
    std::uint64_t computing_ns = 0, outside_ns = 0, missing_ns = 0, other_phases_ns = 0;
    for (const profile::Rank& rank : profile_.ranks) {
      if (scope_.ranks && !scope_.ranks->contains(rank.rank)) continue;
      TimeBreakdown::Rank row{rank.rank};
      const std::uint64_t mpi_ns = mpi_ns_[rank.rank];
      // Calls are measured by another clock, so they may be nanoseconds longer than their rank.
      const std::uint64_t own_ns =
          std::max(mpi_ns, static_cast<std::uint64_t>(std::llround(rank.seconds * 1e9)));
      if (!rank.reported) {
        missing_ns += found.span_ns;
        row.outside_ns = found.span_ns;
      } else if (own_ns > found.span_ns) {
        return false;
      } else {
        // What is outside MPI belongs to no phase: a profile has the times of calls only.
        (scope_.phases ? other_phases_ns : computing_ns) += own_ns - mpi_ns;
        outside_ns += found.span_ns - own_ns;
        row.computing_ns = scope_.phases ? 0 : own_ns - mpi_ns;
        row.outside_ns = found.span_ns - own_ns + (scope_.phases ? own_ns - mpi_ns : 0);
        row.waiting_ns = std::min(waiting_ns_[rank.rank], mpi_ns);
        row.unexplained_ns = mpi_ns - row.waiting_ns;
        // Known for the whole run only: of a phase nobody knows what is outside its calls.
        const std::uint64_t polling_ns = std::min(between_polls_ns_[rank.rank], row.computing_ns);
        row.computing_ns -= polling_ns;
        row.waiting_ns += polling_ns;
        computing_ns -= polling_ns;
        by_kind_[mpi::name_of(mpi::WaitKind::kPolling)] += polling_ns;
      }
      found.ranks.push_back(row);
    }
    const auto ranks = static_cast<std::size_t>(chosen_ranks(profile_, scope_));
    missing_ns += found.span_ns * (ranks - std::min(ranks, found.ranks.size()));
    found.add(kComputing, computing_ns);
    for (const auto& [kind, ns] : by_kind_) found.add(kind, ns);
    divide_the_rest();
    found.add(kStartUpAndEnd, outside_ns);
    found.add(kOtherPhases, other_phases_ns);
    found.add(kNotReported, missing_ns);
    return true;
  }

  TimeBreakdown found;

 private:
  void count_calls() {
    for (const profile::CallTimes& block : profile_.calls) {
      for (std::size_t row = 0; row < block.rank.size(); ++row) {
        functions_[block.function].all_ns += block.total_ns[row];
        mpi_ns_[block.rank[row]] += block.total_ns[row];
      }
    }
  }

  void count_waits() {
    for (const profile::CallWaits& block : profile_.waits) {
      FunctionTime& function = functions_[block.function];
      for (std::size_t row = 0; row < block.rank.size(); ++row) {
        const std::uint64_t ns =
            std::min(block.total_ns[row], function.all_ns - function.waiting_ns);
        function.waiting_ns += ns;
        waiting_ns_[block.rank[row]] += ns;
        by_kind_[block.kind] += ns;
        // A polling loop waits in its calls and between them.
        if (block.kind == mpi::name_of(mpi::WaitKind::kPolling))
          between_polls_ns_[block.rank[row]] += block.total_ns[row] - ns;
      }
    }
  }

  // Time in MPI that was no wait. How much of it was a wait that is not known, the coverage says for
  // all functions together: that is taken from the transfers of each in turn.
  void divide_the_rest() {
    std::uint64_t transferring_ns = 0, unexplained_ns = 0;
    for (const auto& [name, function] : functions_) {
      const std::uint64_t ns = function.all_ns - function.waiting_ns;
      if (profile_.coverage.waits && transfers(name)) {
        transferring_ns += ns;
      } else {
        found.add_unexplained(name, ns);
        unexplained_ns += ns;
      }
    }
    const auto unknown = [&](const char* what, std::uint64_t ns) {
      const std::uint64_t counted_ns = std::min(ns, transferring_ns);
      found.add_unexplained(what, counted_ns);
      transferring_ns -= counted_ns;
      unexplained_ns += counted_ns;
    };
    if (profile_.coverage.waits) {
      unknown("calls too short to be looked at for waits", profile_.coverage.waits->left_out_ns);
      unknown("calls whose other side was no longer known", profile_.coverage.waits->unresolved_ns);
    }
    found.add(kTransferring, transferring_ns);
    found.add(kUnexplained, unexplained_ns);
  }

  const profile::Profile& profile_;
  const Scope& scope_;
  std::map<std::string, FunctionTime> functions_;
  std::map<std::int64_t, std::uint64_t> mpi_ns_, waiting_ns_, between_polls_ns_;  // by rank
  std::map<std::string, std::uint64_t> by_kind_;
};

}  // namespace

base::Result<Outcome> time_breakdown_of_profile(const Input& input) {
  Outcome outcome;
  ProfileBreakdown breakdown(*input.profile, input.scope);
  if (breakdown.find()) {
    lay_out(std::move(breakdown.found), outcome.section);
  } else {
    outcome.limits.push_back(
        "the calls of a rank took longer than the rank itself, because several threads made them: "
        "to see where the time went, record a trace (fathom run --trace)");
  }
  return outcome;
}

}  // namespace fathom::analysis
