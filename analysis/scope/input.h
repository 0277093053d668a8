// SPDX-License-Identifier: BSD-3-Clause
// The input of an analysis: a run's profile, its trace, and the part of them to analyse.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/scope/supposed_change.h"
#include "analysis/scope/thresholds.h"
#include "profile/profile.h"
#include "trace/reader.h"

namespace fathom::analysis {

class LazyJob;
class CallRowsKept;

// Empty members: everything.
struct Scope {
  std::optional<std::set<std::int64_t>>
      ranks;  // traffic with a listed rank at either end, and calls of these ranks
  std::uint64_t from_ns = 0, to_ns = ~std::uint64_t{0};  // to_ns is exclusive
  std::optional<std::vector<std::string>> phases;        // patterns: base/name_patterns.h

  // Traffic only, as in profile/selection.h: a trace's calls have no class, and many have no
  // communicator.
  std::vector<std::string> classes, communicators;

  bool whole() const { return whole_time() && !ranks && !phases && !chooses_traffic(); }
  bool chooses_traffic() const { return !classes.empty() || !communicators.empty(); }
  bool whole_time() const { return from_ns == 0 && to_ns == ~std::uint64_t{0}; }
};

// The caller owns both and keeps them alive during the analysis. `profile` is already restricted to
// the scope (profile_scope.h). A trace is complete; analyses skip what is outside the scope.
struct Input {
  const profile::Profile* profile = nullptr;  // nullptr: none
  const trace::Trace* trace = nullptr;        // nullptr: the run was not traced
  LazyJob* job = nullptr;  // the joined trace, shared by analyses; set if `trace` is
  Scope scope;
  Thresholds thresholds;
  CallRowsKept* calls =
      nullptr;  // of the scope, shared by analyses; nullptr: each counts for itself
  std::vector<SupposedChange> changes = {};  // of the run, for what-if
  // wait-states: also who caused the waits in the end, and findings. Needs the whole run, whatever the window.
  bool causes = true;
};

}  // namespace fathom::analysis
