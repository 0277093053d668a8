// SPDX-License-Identifier: BSD-3-Clause
// What an analysis works on: a run's profile, its trace, and the part of them that is meant.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "analysis/scope/thresholds.h"
#include "profile/profile.h"
#include "trace/reader.h"

namespace fathom::analysis {

class LazyJob;
class CallRowsKept;

// Empty: all of it.
struct Scope {
  std::optional<std::set<std::int64_t>>
      ranks;  // traffic with a listed rank at either end; its calls
  std::uint64_t from_ns = 0, to_ns = ~std::uint64_t{0};  // to_ns is outside
  std::optional<std::string> phase;

  bool whole() const { return whole_time() && !ranks && !phase; }
  bool whole_time() const { return from_ns == 0 && to_ns == ~std::uint64_t{0}; }
};

// Both belong to the caller, who has them outlive the analysis. `profile` is of the scope alone
// already (profile_scope.h); a trace is whole, its analyses leave out what lies outside the scope.
struct Input {
  const profile::Profile* profile = nullptr;  // nullptr: there is none
  const trace::Trace* trace = nullptr;        // nullptr: the run was not traced
  LazyJob* job = nullptr;  // the trace joined, for all analyses that need it; with `trace`
  Scope scope;
  Thresholds thresholds;
  CallRowsKept* calls =
      nullptr;  // of the scope, for all analyses that need them; nullptr: each counts
};

}  // namespace fathom::analysis
