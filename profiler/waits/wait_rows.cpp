// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/wait_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "profiler/clocks/job_clocks.h"
#include "profiler/waits/agreed_windows.h"
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

// The whole run, and every opening of the windows. `parts` has room for them.
void name_windows(const AgreedWindows& agreed, const SharedClock& clock,
                  std::vector<PathWindow>& parts) noexcept {
  parts.push_back({0, clock.at(WaitLog::opened_at()), clock.at(WaitLog::closed_at())});
  std::uint32_t number = 0;
  for (const PathWindows::Window* window : agreed) {
    ++number;
    for (const PathWindows::Opening& opening : window->openings)
      parts.push_back({number, clock.at(opening.start), clock.at(opening.stop)});
  }
}

// How long the calls of the window that began inside it waited, by function and communicator.
std::map<PathWindows::SumKey, std::uint64_t> waits_in(const PathWindows::Window& window,
                                                      const FoundWaits& found) {
  std::map<PathWindows::SumKey, std::uint64_t> sums;
  for (const FoundWait& wait : found.waits) {
    if (!wait.of_main) continue;
    const std::uint64_t entered = wait.entered_ticks;
    const auto after = std::upper_bound(
        window.openings.begin(), window.openings.end(), entered,
        [](std::uint64_t ticks, const PathWindows::Opening& one) { return ticks < one.start; });
    if (after == window.openings.begin() || std::prev(after)->stop <= entered) continue;
    sums[{wait.row->place.function, wait.row->key.communicator}] +=
        static_cast<std::uint64_t>(wait.ns());
  }
  return sums;
}

// What this process's calls came to in each window.
std::vector<profile::WindowRow> rows_of(const AgreedWindows& agreed, const FoundWaits& found,
                                        double ns_per_tick) {
  const auto ns = [ns_per_tick](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick);
  };
  std::vector<profile::WindowRow> rows;
  std::uint32_t number = 0;
  for (const PathWindows::Window* window : agreed) {
    ++number;
    std::uint64_t inside = 0;
    for (const PathWindows::Opening& opening : window->openings)
      inside += opening.stop - opening.start;
    rows.push_back({number, profile::kNoFunction, profile::kNoCommunicator, 0,
                    window->openings.size(), ns(inside), 0, 0});
    const auto waits = waits_in(*window, found);
    for (const auto& [key, sum] : window->sums) {
      const auto waited = waits.find(key);
      rows.push_back({number, key.first, key.second, 0, sum.calls, ns(sum.ticks),
                      waited == waits.end() ? 0 : waited->second, sum.bytes});
    }
  }
  return rows;
}

void name_in_text(ProfiledProcess& process, const AgreedWindows& agreed) {
  std::uint32_t number = 0;
  for (const PathWindows::Window* window : agreed)
    process.text().add("path-window", std::to_string(++number) + ' ' + window->name);
  for (const std::string& note : PathWindows::notes()) process.text().add("note", note);
}

// The row of a wait in MPI_Init or MPI_Finalize, or of the path to it, gets the call's place.
template <typename Row>
void set_place(Row& row, const WaitLog::End& call) {
  row.key = {call.return_address, profile::kNoCommunicator, 0};
  row.place = call.place;
}

// How long this process waited in MPI_Init or MPI_Finalize until the last of all entered it.
struct JobWait {
  mpi::WaitKind kind;
  const WaitLog::End* call;
  std::int64_t ns;  // at most 0: it did not wait
  std::uint32_t peer_rank;
};
JobWait job_wait(mpi::WaitKind kind, const WaitLog::End& call, std::uint64_t left_ticks,
                 Gather::Place last, std::uint32_t rank, const SharedClock& clock,
                 std::int64_t uncertainty_ns) {
  const std::int64_t entered = clock.at(call.entered);
  const std::int64_t ns = last.where == rank ? 0 : last.value - entered;
  // A call that had been left before did not wait for the last.
  const bool waited =
      ns > uncertainty_ns && (left_ticks == 0 || last.value <= clock.at(left_ticks));
  return {kind, &call, waited ? ns : 0, static_cast<std::uint32_t>(last.where)};
}

void add_job_wait(const JobWait& wait, std::uint32_t job, std::vector<profile::WaitRow>& rows) {
  if (wait.ns <= 0 || wait.call->entered == 0) return;
  profile::WaitRow row{};
  set_place(row, *wait.call);
  row.kind = static_cast<std::uint32_t>(wait.kind);
  row.peer_job = job;
  row.peer_rank = wait.peer_rank;
  row.waits = 1;
  row.total_ns = row.longest_ns = static_cast<std::uint64_t>(wait.ns);
  rows.push_back(row);
}

// What this process needs to take part; nothing if it cannot.
struct Means {
  SharedClock clock;
  std::vector<PathWindow> parts;  // empty, with room for all
};
std::optional<Means> own_means() noexcept try {
  if (!WaitLog::opened() || !JobClocks::are_known()) return std::nullopt;
  Means means{JobClocks::shared(), {}};
  means.parts.reserve(1 + PathWindows::openings());
  return means;
} catch (...) {
  return std::nullopt;
}

// Whether all time lines together may take more than the setting allows, if all take as much as this one.
bool remembers_much(const ProfiledProcess& process) {
  const std::size_t bytes = WaitLog::record_bytes() + PathWindows::openings() * sizeof(PathWindow);
  return bytes > process.settings().path_bytes / process.header().world_size;
}

Gather::Places to_tell(const Means& means, const ProfiledProcess& process) {
  const std::uint32_t rank = process.header().rank;
  Gather::Places told{};
  told[kRemembersMuch] = {remembers_much(process) ? 1 : 0, rank};
  told[kUncertainty] = {means.clock.uncertainty_ns(), rank};
  told[kWindowCount] = {static_cast<std::int64_t>(PathWindows::all().size()), rank};
  told[kEndOfRun] = {means.clock.at(WaitLog::closed_at()), rank};
  told[kEnteredInit] = {means.clock.at(WaitLog::init().entered), rank};
  told[kEnteredFinalize] = {means.clock.at(WaitLog::finalize().entered), rank};
  return told;
}

WaitRows no_waits(ProfiledProcess& process) {
  if (WaitLog::opened())
    process.text().add("waits-unknown", JobClocks::are_known()
                                            ? "some processes of this world did not look for them"
                                            : "the clocks of the hosts could not be compared");
  return {};
}

}  // namespace

// Once the search for the path has begun, what throws here must not keep this process from it: the
// others would wait.
WaitRows find_wait_rows(ProfiledProcess& process, Gather& gather, PathSearch& search) noexcept try {
  const profile::RowsHeader header = process.header();
  if (!gather.all_take_part()) return no_waits(process);
  std::optional<Means> means = own_means();
  Gather::Places told{};
  if (means) told = to_tell(*means, process);
  if (!means) told[kIsUnable].value = 1;
  search.found = find_waits(process, gather, means ? &means->clock : nullptr, told);
  if (told[kIsUnable].value != 0) return no_waits(process);
  search.clock = std::move(means->clock);
  search.parts = std::move(means->parts);
  search.last = told[kEndOfRun];
  search.begins = true;
  search.is_at_0 = told[kRemembersMuch].value == 0;
  const FoundWaits& found = search.found;
  const SharedClock& clock = search.clock;
  const std::int64_t uncertainty = uncertainty_ns(told);
  AgreedWindows agreed;
  if (told[kWindowCount].value > 0) agreed = agree_on_windows(gather, header.rank);
  name_windows(agreed, clock, search.parts);
  const JobWait at_init = job_wait(mpi::WaitKind::kInit, WaitLog::init(), WaitLog::opened_at(),
                                   told[kEnteredInit], header.rank, clock, uncertainty);
  const JobWait at_finalize = job_wait(mpi::WaitKind::kFinalize, WaitLog::finalize(), 0,
                                       told[kEnteredFinalize], header.rank, clock, uncertainty);
  say_what_is_missing(process, found, clock.ns_per_tick());
  name_in_text(process, agreed);
  std::vector<profile::WaitRow> waits = rows_of(found, header.job);
  add_job_wait(at_init, header.job, waits);
  add_job_wait(at_finalize, header.job, waits);
  return {std::move(waits), rows_of(agreed, found, clock.ns_per_tick())};
} catch (...) {
  return {};
}

}  // namespace fathom::profiler
