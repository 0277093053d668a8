// SPDX-License-Identifier: BSD-3-Clause
// The tables of where the time went, from a trace or from a profile: written once for a result.
#include <algorithm>

#include "analysis/time/time_breakdown.h"
#include "base/seconds.h"

namespace fathom::analysis {

void TimeBreakdown::add(const std::string& kind, std::uint64_t ns) {
  if (ns > 0) rows.push_back({kind, ns});
}

void TimeBreakdown::add_unexplained(const std::string& function, std::uint64_t ns) {
  if (ns == 0) return;
  const auto known = std::find_if(unexplained.begin(), unexplained.end(),
                                  [&](const Function& other) { return other.name == function; });
  if (known == unexplained.end()) return unexplained.push_back({function, ns});
  known->ns += ns;
}

void lay_out(TimeBreakdown breakdown, Section& section) {
  std::sort(
      breakdown.unexplained.begin(), breakdown.unexplained.end(),
      [](const auto& a, const auto& b) { return a.ns != b.ns ? a.ns > b.ns : a.name < b.name; });
  std::uint64_t all_ns = 0, unexplained_ns = 0;
  for (const TimeBreakdown::Row& row : breakdown.rows) {
    all_ns += row.ns;
    if (row.kind == kUnexplained) unexplained_ns += row.ns;
  }
  const auto share = [&](std::uint64_t ns) {
    return all_ns > 0 ? static_cast<double>(ns) / static_cast<double>(all_ns) : 0.0;
  };
  section.figure("span_seconds", base::seconds(breakdown.span_ns));
  section.figure("all_ranks_seconds", base::seconds(all_ns));
  // Calls that are missing are not explained either, and nobody knows how long they took.
  if (breakdown.computing_known) section.figure("unexplained_share", share(unexplained_ns));
  Table& time = section.table("time");
  add_column(time, "kind", breakdown.rows, [](const auto& row) { return row.kind; });
  add_column(time, "ns", breakdown.rows, [](const auto& row) { return row.ns; });
  add_column(time, "seconds", breakdown.rows,
             [](const auto& row) { return base::seconds(row.ns); });
  add_column(time, "share", breakdown.rows, [&](const auto& row) { return share(row.ns); });
  Table& functions = section.table("unexplained");
  add_column(functions, "name", breakdown.unexplained, [](const auto& row) { return row.name; });
  add_column(functions, "ns", breakdown.unexplained, [](const auto& row) { return row.ns; });
  add_column(functions, "seconds", breakdown.unexplained,
             [](const auto& row) { return base::seconds(row.ns); });
  add_column(functions, "share", breakdown.unexplained,
             [&](const auto& row) { return share(row.ns); });
  using Rank = TimeBreakdown::Rank;
  Table& ranks = section.table("time_by_rank");
  add_column(ranks, "rank", breakdown.ranks, [](const Rank& rank) { return rank.rank; });
  const auto column = [&](const char* name, std::uint64_t Rank::*ns) {
    add_column(ranks, name, breakdown.ranks,
               [&](const Rank& rank) { return base::seconds(rank.*ns); });
  };
  column("computing_seconds", &Rank::computing_ns);
  column("waiting_seconds", &Rank::waiting_ns);
  column("transferring_seconds", &Rank::transferring_ns);
  column("unexplained_seconds", &Rank::unexplained_ns);
  column("outside_seconds", &Rank::outside_ns);
}

}  // namespace fathom::analysis
