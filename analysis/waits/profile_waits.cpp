// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/profile_waits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/scope/profile_scope.h"
#include "analysis/waits/wait_findings.h"
#include "base/seconds.h"
#include "base/text.h"
#include "mpi/traced_waits.h"
#include "mpi/wait_kind.h"
#include "trace/code/named_call_sites.h"

namespace fathom::analysis {
namespace {

// One row of a block.
struct PairWait {
  const profile::CallWaits* block;
  std::size_t row;
  const profile::CallSite* site;

  std::int64_t rank() const { return block->rank[row]; }
  std::int64_t awaited() const { return block->awaited[row]; }
  std::uint64_t ns() const { return block->total_ns[row]; }
};

std::vector<PairWait> pair_waits(const profile::Profile& profile) {
  std::map<std::int64_t, const profile::CallSite*> sites;
  for (const profile::CallSite& site : profile.call_sites) sites[site.id] = &site;
  std::vector<PairWait> rows;
  for (const profile::CallWaits& block : profile.waits) {
    for (std::size_t row = 0; row < block.rank.size(); ++row)
      rows.push_back({&block, row, sites[block.site]});
  }
  return rows;
}

void lay_out(const std::vector<PairWait>& rows, std::uint64_t all_ns, Section& section) {
  std::uint64_t ns = 0;
  std::map<std::string, std::uint64_t> by_kind;
  for (const PairWait& row : rows) {
    ns += row.ns();
    by_kind[row.block->kind] += row.ns();
  }
  section.figure("wait_seconds", base::seconds(ns));
  const auto start = by_kind.find(mpi::name_of(mpi::WaitKind::kInit));  // before the run's time
  const std::uint64_t counted = ns - (start == by_kind.end() ? 0 : start->second);
  section.figure("wait_share",
                 all_ns > 0 ? static_cast<double>(counted) / static_cast<double>(all_ns) : 0.0);
  for (const auto& [kind, kind_ns] : by_kind) {
    std::string name = kind;
    std::replace(name.begin(), name.end(), '-', '_');
    section.figure(name + "_seconds", base::seconds(kind_ns));
  }
  Table& table = section.table("waits");
  using Row = const PairWait&;
  add_column(table, "kind", rows, [](Row row) { return row.block->kind; });
  add_column(table, "rank", rows, [](Row row) { return row.rank(); });
  add_column(table, "culprit", rows, [](Row row) { return row.awaited(); });
  add_column(table, "function", rows, [](Row row) { return row.block->function; });
  add_column(table, "caller", rows, [](Row row) { return row.site->function; });
  add_column(table, "file", rows, [](Row row) { return trace::file_or_module(*row.site); });
  add_column(table, "line", rows, [](Row row) { return row.site->line; });
  add_column(table, "phase", rows, [](Row row) { return row.block->phase; });
  add_column(table, "communicator", rows, [](Row row) { return row.block->communicator; });
  add_column(table, "seconds", rows, [](Row row) { return base::seconds(row.ns()); });
  add_column(table, "count", rows, [](Row row) { return row.block->waits[row.row]; });
  add_column(table, "worst_seconds", rows,
             [](Row row) { return base::seconds(row.block->longest_ns[row.row]); });
}

// Seconds that each rank was outside MPI, as far as the profile knows.
std::map<std::int64_t, std::uint64_t> computing_ns(const profile::Profile& profile) {
  std::map<std::int64_t, std::uint64_t> mpi_ns, computing_ns;
  for (const profile::CallTimes& block : profile.calls) {
    for (std::size_t row = 0; row < block.rank.size(); ++row)
      mpi_ns[block.rank[row]] += block.total_ns[row];
  }
  for (const profile::Rank& rank : profile.ranks) {
    const auto ns = static_cast<std::uint64_t>(std::llround(rank.seconds * 1e9));
    const std::uint64_t in_mpi_ns = mpi_ns[rank.rank];
    if (in_mpi_ns > 0) computing_ns[rank.rank] = ns - std::min(ns, in_mpi_ns);
  }
  return computing_ns;
}

// The waits for each rank. Which of them it passed on to whom is not known, so each is the awaited
// rank's own. Ranks that cost less than a finding are one cause together.
class ProfileCauses {
 public:
  ProfileCauses(const Input& input, std::uint64_t all_ns, double confidence)
      : input_(input), all_ns_(all_ns), confidence_(confidence) {
    hub_ = hub_of(*input.profile, input.thresholds.few_ranks);
    // If only some ranks or phases are chosen, the profile lacks the time outside MPI of the others.
    if (!input.scope.ranks && !input.scope.phases) computing_ns_ = computing_ns(*input.profile);
  }

  std::vector<Finding> find(const std::vector<PairWait>& rows) const {
    std::map<std::int64_t, WaitCause> causes;
    for (const PairWait& row : rows) add(row, causes[row.awaited()]);
    WaitCause small;
    for (auto& [rank, cause] : causes) {
      if (!is_finding(cause.ns())) merge(cause, small);
    }
    std::vector<Finding> findings;
    for (auto& [rank, cause] : causes) {
      if (is_finding(cause.ns())) findings.push_back(finding(cause));
    }
    if (is_finding(small.ns())) findings.push_back(finding(small));
    return findings;
  }

 private:
  bool is_finding(std::uint64_t ns) const {
    return all_ns_ > 0 && ns > 0 &&
           static_cast<double>(ns) >= input_.thresholds.wait_share * static_cast<double>(all_ns_);
  }

  static void add(const PairWait& row, WaitCause& cause) {
    const auto kind = mpi::wait_kind_named(row.block->kind);
    if (!kind) return;  // of a later Fathom: in the table, but there is no sentence for it
    if (kind == mpi::WaitKind::kInit) return;
    const profile::CallSite& site = *row.site;
    const WaitPlace place{*kind,
                          row.block->function,
                          site.function,
                          trace::file_or_module(site),
                          static_cast<int>(site.line),
                          row.block->phase};
    const std::uint64_t count = row.block->waits[row.row];
    cause.direct.add(row.rank(), row.awaited(), row.ns(), count);
    cause.symptoms[{place, false}].add(row.rank(), row.awaited(), row.ns(), count);
    cause.culprits[row.awaited()] += row.ns();
  }

  static void merge(const WaitCause& cause, WaitCause& all) {
    all.direct.add(cause.direct);
    for (const auto& [place, group] : cause.symptoms) all.symptoms[place].add(group);
    for (const auto& [rank, ns] : cause.culprits) all.culprits[rank] += ns;
  }

  Finding finding(WaitCause& cause) const {
    cause.hub = hub_;
    cause.serves = hub_ && cause.culprits.size() == 1 && cause.culprits.contains(*hub_) &&
                   is_for_message(worst_kind(cause));
    cause.confidence = confidence_;
    cause.balance = balance_of(computing_ns_, cause, computing_ns_.size());
    return finding_of(cause, input_.thresholds.load_balance, all_ns_);
  }

  static mpi::WaitKind worst_kind(const WaitCause& cause) {
    return std::max_element(cause.symptoms.begin(), cause.symptoms.end(),
                            [](const auto& a, const auto& b) { return a.second.ns < b.second.ns; })
        ->first.first.kind;
  }

  const Input& input_;
  const std::uint64_t all_ns_;
  const double confidence_;
  std::optional<std::int64_t> hub_;
  std::map<std::int64_t, std::uint64_t> computing_ns_;  // by rank; empty: not known
};

std::string duration(std::uint64_t ns) { return base::duration_text(base::seconds(ns)); }

// Functions that the program calls and whose waits are not in a profile: "MPI_Win_start, MPI_Win_wait".
std::string functions_of_traces(const profile::Profile& profile) {
  std::set<std::string> names;
  for (const profile::CallTimes& block : profile.calls) {
    if (mpi::waits_only_in_traces(mpi::meaning_of(block.function))) names.insert(block.function);
  }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

void limits(const profile::Profile& profile, const profile::WaitCoverage& coverage,
            std::vector<std::string>& sentences) {
  sentences.push_back(
      "waits were found without a trace; only a trace (fathom run --trace) shows when they were, "
      "whether messages were received in the wrong order, what the late rank was doing and who "
      "delayed it in turn");
  const std::string functions = functions_of_traces(profile);
  if (!functions.empty())
    sentences.push_back("who waits in " + functions +
                        ", or for what they begin, needs a trace, too; here it is time in MPI");
  if (coverage.left_out > 0) {
    sentences.push_back(std::to_string(coverage.left_out) + " calls shorter than " +
                        duration(coverage.threshold_ns) + " are left out of the waits; they took " +
                        duration(coverage.left_out_ns) + " in total");
  }
  if (coverage.unresolved > 0) {
    sentences.push_back(std::to_string(coverage.unresolved) + " calls that may have waited, " +
                        duration(coverage.unresolved_ns) +
                        " in total, are left out of the waits, because the other ranks no longer "
                        "knew when they had sent");
  }
}

}  // namespace

base::Result<Outcome> wait_states_of_profile(const Input& input) {
  const profile::Profile& profile = *input.profile;
  const auto coverage = profile.coverage.waits.value_or(profile::WaitCoverage{});
  const std::vector<PairWait> rows = pair_waits(profile);
  const std::uint64_t all_ns = all_ranks_ns(profile, input.scope);
  std::uint64_t found_ns = 0;
  for (const PairWait& row : rows) found_ns += row.ns();
  // What could not be resolved may belong to any of them.
  const std::uint64_t both_ns = found_ns + coverage.unresolved_ns;
  const double confidence =
      both_ns > 0 ? static_cast<double>(found_ns) / static_cast<double>(both_ns) : 1;
  Outcome outcome;
  lay_out(rows, all_ns, outcome.section);
  outcome.findings = ProfileCauses(input, all_ns, confidence).find(rows);
  outcome.section.figure("seconds_in_findings", seconds_in(outcome.findings));
  limits(profile, coverage, outcome.limits);
  return outcome;
}

}  // namespace fathom::analysis
