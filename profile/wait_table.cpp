// SPDX-License-Identifier: BSD-3-Clause
#include "profile/wait_table.h"

#include <algorithm>
#include <utility>

#include "base/words.h"
#include "mpi/wait_kind.h"
#include "profile/place_blocks.h"

namespace fathom::profile {
namespace {

std::string kind_name(std::uint32_t kind) {
  return kind < mpi::kWaitKinds ? mpi::kWaitKindNames[kind] : "kind " + std::to_string(kind);
}

using WindowNames = std::map<std::uint32_t, std::string>;

std::string window_name(const WindowNames& names, std::uint32_t number) {
  if (number == 0) return "";
  const auto found = names.find(number);
  return found == names.end() ? "window " + std::to_string(number) : found->second;
}

}  // namespace

void WaitTable::add_text(const ProcessRows& rows,
                         std::map<std::uint32_t, std::string>& window_names) {
  std::vector<std::pair<std::uint32_t, CriticalPath>> paths;
  for (const auto& [key, value] : rows.text) {
    base::Words words(value);
    std::uint32_t number = 0;
    if (key == "waits") {
      WaitCoverage own;
      for (std::uint64_t* fact : {&own.threshold_ns, &own.left_out, &own.left_out_ns,
                                  &own.unresolved, &own.unresolved_ns})
        words.next(*fact);
      if (!coverage_) coverage_.emplace();
      coverage_->threshold_ns = std::max(coverage_->threshold_ns, own.threshold_ns);
      coverage_->left_out += own.left_out;
      coverage_->left_out_ns += own.left_out_ns;
      coverage_->unresolved += own.unresolved;
      coverage_->unresolved_ns += own.unresolved_ns;
    } else if (key == "waits-unknown") {
      why_unknown_.insert(value);
    } else if (key == "path-window") {
      if (words.next(number)) window_names[number] = words.rest();
    } else if (key == "path") {
      CriticalPath path;
      if (words.next(number) && words.next(path.elapsed_ns) && words.next(path.jumps) &&
          words.next(path.error_ns))
        paths.emplace_back(number, std::move(path));
    }
  }
  for (auto& [number, path] : paths) {
    path.window = window_name(window_names, number);
    std::optional<CriticalPath>& facts = windows_[path.window].facts;
    if (!facts) {
      facts = std::move(path);
      continue;
    }
    facts->elapsed_ns += path.elapsed_ns;
    facts->jumps += path.jumps;
    facts->error_ns += path.error_ns;
  }
}

void WaitTable::add(const ProcessRows& rows, ProcessPlaces& places, ProcessNumbers& numbers) {
  WindowNames window_names;
  add_text(rows, window_names);
  for (const WaitRow& row : rows.waits) {
    if (row.waits == 0) continue;
    waits_.push_back({row.kind, places.place(row.key, row.place), rows.header.rank,
                      numbers.number({row.peer_job, row.peer_rank}), row.waits, row.total_ns,
                      row.longest_ns});
  }
  for (const PathRow& row : rows.path) {
    windows_[window_name(window_names, row.window)].parts.push_back(
        {places.place(row.key, row.place), row.is_program != 0, rows.header.rank, row.stretches,
         row.total_ns, row.calls, row.bytes});
  }
  for (const WindowRow& row : rows.windows)
    add_window(row, rows.header.rank, windows_[window_name(window_names, row.window)], places);
}

void WaitTable::add_window(const WindowRow& row, std::int64_t rank, Window& window,
                           ProcessPlaces& places) {
  if (row.function == kNoFunction) {
    window.openings = row.calls;
    window.ranks[rank] = row.total_ns;
    return;
  }
  window.calls.push_back({places.function({0, 0, row.function}),
                          places.communicator(row.communicator), rank, row.calls, row.total_ns,
                          row.waiting_ns, row.bytes});
}

void WaitTable::finish(Profile& profile, const RunPlaces& places,
                       const std::function<std::int64_t(std::int64_t)>& final_rank) {
  for (Wait& wait : waits_) {
    places.settle_place(wait.place);
    wait.awaited = final_rank(wait.awaited);
  }
  finish_waits(profile, places);
  for (auto& [name, window] : windows_) {
    if (!window.facts) continue;  // the job did not come to its end
    for (Stretch& part : window.parts) places.settle_place(part.place);
    for (Inside& inside : window.calls) {
      inside.function = places.settled_function(inside.function);
      inside.communicator = places.settled_communicator(inside.communicator);
    }
    finish_path(*window.facts, window.parts, places);
    finish_calls(*window.facts, window.calls, places);
    window.facts->openings = window.openings;
    for (const auto& [rank, total_ns] : window.ranks) {
      window.facts->ranks.rank.push_back(rank);
      window.facts->ranks.total_ns.push_back(total_ns);
    }
    profile.path.push_back(std::move(*window.facts));
  }
  profile.coverage.waits = coverage_;
  for (const std::string& reason : why_unknown_)
    profile.coverage.waits_unknown += (profile.coverage.waits_unknown.empty() ? "" : "; ") + reason;
}

void WaitTable::finish_waits(Profile& profile, const RunPlaces& places) {
  put_into_blocks(
      waits_,
      [&](const Wait& wait) {
        profile.waits.push_back(block_at<CallWaits>(wait.place, places));
        profile.waits.back().kind = kind_name(wait.kind);
      },
      [&](const Wait& wait) {
        CallWaits& block = profile.waits.back();
        block.rank.push_back(wait.rank);
        block.awaited.push_back(wait.awaited);
        block.waits.push_back(wait.waits);
        block.total_ns.push_back(wait.total_ns);
        block.longest_ns.push_back(wait.longest_ns);
      },
      [&](const Wait& wait) {
        CallWaits& block = profile.waits.back();
        block.waits.back() += wait.waits;
        block.total_ns.back() += wait.total_ns;
        block.longest_ns.back() = std::max(block.longest_ns.back(), wait.longest_ns);
      });
}

void WaitTable::finish_path(CriticalPath& path, std::vector<Stretch>& parts,
                            const RunPlaces& places) {
  put_into_blocks(
      parts,
      [&](const Stretch& part) {
        path.parts.push_back(block_at<PathPart>(part.place, places));
        path.parts.back().program = part.program;
      },
      [&](const Stretch& part) {
        PathPart& block = path.parts.back();
        block.rank.push_back(part.rank);
        block.stretches.push_back(part.stretches);
        block.total_ns.push_back(part.total_ns);
        block.calls.push_back(part.calls);
        block.bytes.push_back(part.bytes);
      },
      [&](const Stretch& part) {
        PathPart& block = path.parts.back();
        block.stretches.back() += part.stretches;
        block.total_ns.back() += part.total_ns;
        block.calls.back() += part.calls;
        block.bytes.back() += part.bytes;
      });
}

void WaitTable::finish_calls(CriticalPath& path, std::vector<Inside>& calls,
                             const RunPlaces& places) {
  put_into_blocks(
      calls,
      [&](const Inside& inside) {
        WindowCalls& block = path.calls.emplace_back();
        block.function = places.function_name(inside.function);
        block.communicator = inside.communicator;
      },
      [&](const Inside& inside) {
        WindowCalls& block = path.calls.back();
        block.rank.push_back(inside.rank);
        block.calls.push_back(inside.calls);
        block.total_ns.push_back(inside.total_ns);
        block.waiting_ns.push_back(inside.waiting_ns);
        block.bytes.push_back(inside.bytes);
      },
      [&](const Inside& inside) {
        WindowCalls& block = path.calls.back();
        block.calls.back() += inside.calls;
        block.total_ns.back() += inside.total_ns;
        block.waiting_ns.back() += inside.waiting_ns;
        block.bytes.back() += inside.bytes;
      });
}

}  // namespace fathom::profile
