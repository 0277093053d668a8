// SPDX-License-Identifier: BSD-3-Clause
// What a report says in sentences: how far its counts can be trusted, and what deserves attention.
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

// Sources that were given up, and traffic that nothing could see.
std::vector<Remark> limits(const RunSummary& summary);

// Things to look into, each with what to do about it. Those about the run come first.
std::vector<Remark> warnings(const RunSummary& summary);

}  // namespace fathom::cli
