// SPDX-License-Identifier: BSD-3-Clause
// Puts the waits that each process found, and each process's part of the critical paths (rows.h),
// together as those of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "profile/call_places.h"
#include "profile/communicator_merge.h"
#include "profile/profile.h"
#include "profile/rows_reader.h"

namespace fathom::profile {

class WaitTable {
 public:
  void add(const ProcessRows& rows, ProcessPlaces& places, ProcessNumbers& numbers);

  // Call once, after the last add(), with settled places. `final_rank` gives a process its final
  // number. Fills `waits`, `path`, and what `coverage` says about waits.
  void finish(Profile& profile, const RunPlaces& places,
              const std::function<std::int64_t(std::int64_t)>& final_rank);

 private:
  struct Wait {
    std::uint32_t kind;
    CallPlace place;
    std::int64_t rank, awaited;
    auto block() const { return std::tie(kind, place); }
    auto key() const { return std::tie(kind, place, rank, awaited); }

    std::uint64_t waits, total_ns, longest_ns;
  };
  struct Stretch {
    CallPlace place;
    bool program;
    std::int64_t rank;
    auto block() const { return std::tie(place, program); }
    auto key() const { return std::tie(place, program, rank); }

    std::uint64_t stretches, total_ns, calls, bytes;
  };
  struct Inside {
    std::uint32_t function;
    std::int64_t communicator, rank;
    std::uint64_t calls, total_ns, waiting_ns, bytes;
    auto block() const { return std::tie(function, communicator); }
    auto key() const { return std::tie(function, communicator, rank); }
  };
  struct Window {
    std::optional<CriticalPath> facts;  // left where the path begins
    std::vector<Stretch> parts;
    std::uint64_t openings = 1;
    std::map<std::int64_t, std::uint64_t> ranks;
    std::vector<Inside> calls;
  };

  void add_text(const ProcessRows& rows, std::map<std::uint32_t, std::string>& window_names);
  void add_window(const WindowRow& row, std::int64_t rank, Window& window, ProcessPlaces& places);
  void finish_waits(Profile& profile, const RunPlaces& places);
  static void finish_calls(CriticalPath& path, std::vector<Inside>& calls, const RunPlaces& places);
  static void finish_path(CriticalPath& path, std::vector<Stretch>& parts, const RunPlaces& places);

  std::vector<Wait> waits_;
  std::map<std::string, Window> windows_;
  std::optional<WaitCoverage> coverage_;
  std::set<std::string> why_unknown_;
};

}  // namespace fathom::profile
