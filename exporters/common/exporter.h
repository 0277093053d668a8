// SPDX-License-Identifier: BSD-3-Clause
// What all export formats have in common. How to add one: docs/adding-an-exporter.md.
//
// Exporters only format; profile/pair_sums.h decides what is summed and how. Output appears
// complete or not at all, and text is the same in every locale.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/selection.h"
#include "profile/summary.h"

namespace fathom::exporters {

using profile::Metric;

struct Options {
  profile::Selection selection;
  Metric metric = Metric::kBytes;  // for formats that hold one number per pair
  bool force = false;              // replace existing output; otherwise that is an Error
};

// Sentences for the user about what the format cannot hold and what was done instead.
using Notes = std::vector<std::string>;

// An Error if the profile has more ranks than `most`. For formats whose size grows with the ranks
// or their square: a damaged profile may claim any number of ranks.
base::Status check_rank_count(const profile::Profile& profile, std::int64_t most,
                              const std::string& format);
base::Status check_rank_count(std::int64_t ranks, std::int64_t most, const std::string& format);

// For formats whose size grows with the ranks.
inline constexpr std::int64_t kMostListedRanks = 1 << 24;

struct Exporter {
  const char* name;       // as in `fathom export --to NAME`
  const char* help;       // one line
  const char* extension;  // of the usual output, with the dot; empty for a folder
  base::Status (*write)(const profile::Profile& profile, const Options& options,
                        const std::string& path, Notes& notes);
};

}  // namespace fathom::exporters
