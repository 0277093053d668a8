// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/wait_rows.h"

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "profiler/clocks/job_clocks.h"
#include "profiler/waits/path.h"
#include "profiler/waits/resolve.h"
#include "profiler/waits/wait_log.h"

namespace fathom::profiler {
namespace {

std::vector<profile::WaitRow> rows_of(const FoundWaits& found, std::uint32_t job) {
  std::map<std::tuple<const profile::CallRow*, mpi::WaitKind, std::uint32_t>, profile::WaitRow>
      rows;
  for (const FoundWait& wait : found.waits) {
    profile::WaitRow& row = rows[{wait.row, wait.kind, wait.peer_rank}];
    const auto ns = static_cast<std::uint64_t>(wait.ns());
    row.key = wait.row->key;
    row.place = wait.row->place;
    row.kind = static_cast<std::uint32_t>(wait.kind);
    row.peer_job = job;
    row.peer_rank = wait.peer_rank;
    row.waits += 1;
    row.total_ns += ns;
    row.longest_ns = std::max(row.longest_ns, ns);
  }
  std::vector<profile::WaitRow> all;
  all.reserve(rows.size());
  for (const auto& [key, row] : rows) all.push_back(row);
  return all;
}

void say_what_is_missing(ProfiledProcess& process, const FoundWaits& found, double ns_per_tick) {
  const auto ns = [ns_per_tick](std::uint64_t ticks) {
    return std::to_string(static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick));
  };
  process.text().add(
      "waits", ns(WaitLog::threshold_ticks()) + ' ' + std::to_string(WaitLog::left_out()) + ' ' +
                   ns(WaitLog::left_out_ticks()) + ' ' + std::to_string(found.unresolved.size()) +
                   ' ' + std::to_string(found.unresolved_ns));
}

std::vector<PathWindow> windows(const SharedClock& clock) {
  return {{0, clock.at(WaitLog::opened_at()), clock.at(WaitLog::closed_at())}};
}

// What follows the last call leads to MPI_Finalize, which is not timed and has no number yet.
void name_the_end(ProfiledProcess& process, std::vector<profile::PathRow>& rows) {
  bool is_named = false;
  for (profile::PathRow& row : rows) {
    if (row.place.function != kAtTheEnd) continue;
    row.place.function = WaitLog::function_count();
    if (!is_named)
      process.text().add("timed-function",
                         std::to_string(WaitLog::function_count()) + " MPI_Finalize");
    is_named = true;
  }
}

// What this process needs to take part; nothing if it cannot.
struct Means {
  SharedClock clock;
  std::vector<PathWindow> windows;
};
std::optional<Means> own_means() noexcept try {
  if (!WaitLog::opened() || !JobClocks::are_known()) return std::nullopt;
  Means means{JobClocks::shared(), {}};
  means.windows = windows(means.clock);
  return means;
} catch (...) {
  return std::nullopt;
}

}  // namespace

// Between all_want() and the end of find_path() nothing may throw: the others would wait.
WaitRows find_wait_rows(ProfiledProcess& process, Gather& gather) noexcept try {
  const std::optional<Means> means = own_means();
  const profile::RowsHeader header = process.header();
  if (!gather.all_want(means.has_value(), static_cast<int>(header.world_size))) {
    if (WaitLog::opened())
      process.text().add("waits-unknown", JobClocks::are_known()
                                              ? "some processes of this world did not look for them"
                                              : "the clocks of the hosts could not be compared");
    return {};
  }
  const SharedClock& clock = means->clock;
  const std::int64_t uncertainty = 2 * gather.largest({clock.uncertainty_ns(), 0}).value;
  const FoundWaits found = find_waits(process, gather, clock, uncertainty);
  FoundPath path = find_path(gather, header.rank, clock, found, means->windows);
  say_what_is_missing(process, found, clock.ns_per_tick());
  for (const PathFacts& facts : path.facts)
    process.text().add("path",
                       std::to_string(facts.window) + ' ' + std::to_string(facts.elapsed_ns) + ' ' +
                           std::to_string(facts.jumps) + ' ' + std::to_string(facts.error_ns));
  name_the_end(process, path.rows);
  return {rows_of(found, header.job), std::move(path.rows)};
} catch (...) {
  return {};
}

}  // namespace fathom::profiler
