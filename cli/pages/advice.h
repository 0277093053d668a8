// SPDX-License-Identifier: BSD-3-Clause
// The sentences of a report: how reliable its counts are, and what deserves attention.
#pragma once

#include <string>
#include <vector>

#include "cli/pages/run_summary.h"

namespace fathom::cli {

enum class Trust { kExact, kLimited, kBroken };

struct Exactness {
  Trust trust = Trust::kLimited;
  std::string sentence;
};

Exactness exactness(const RunSummary& summary);

struct Remark {
  std::string kind;  // stable, for programs: "cut-short", "imbalance", "tiny-messages", …
  std::string text;
};

// With it begins the kind of each remark that belongs to the waits: what they leave out, and why.
inline constexpr char kAboutWaits[] = "waits-";

// The kind of the remarks on how the run was measured that ask for nothing.
inline constexpr char kNote[] = "note";

// The kind of the remark that calls were not timed.
inline constexpr char kNotTimed[] = "not-timed";

// Sources that were disabled, and traffic that no source could see.
std::vector<Remark> limits(const RunSummary& summary);

// Things to look into, each with what to do about it. Those about the run come first.
std::vector<Remark> warnings(const RunSummary& summary);

}  // namespace fathom::cli
