// SPDX-License-Identifier: BSD-3-Clause
// The traffic matrices, sparse: one row per communicating pair.
//
//   pairs         by class, communicator and phase
//   all_pairs     summed over these; user_pairs and hidden_pairs are its two parts
//   symmetric     both directions of all_pairs, source < destination
//   ranks         sent and received
//   hosts         between hosts, if the profile names them
#pragma once

#include <string>
#include <vector>

#include "analysis/results/analysis.h"
#include "profile/profile.h"
#include "profile/selection.h"

namespace fathom::analysis {

struct HostPair {
  std::string source, destination;
  std::uint64_t bytes = 0, messages = 0;
};

// By (source, destination). Ranks with an unknown host are left out.
std::vector<HostPair> between_hosts(const profile::Profile& profile,
                                    const std::vector<profile::PairCount>& pairs);

base::Result<Outcome> matrices(const Input& input);

}  // namespace fathom::analysis
