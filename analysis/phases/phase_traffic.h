// SPDX-License-Identifier: BSD-3-Clause
// The traffic of each phase (phases.h), and of each phase that the program names.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/engine/step.h"
#include "analysis/phases/phases.h"
#include "analysis/scope/input.h"
#include "profile/profile.h"

namespace fathom::analysis {

// Messages that one process received during one of its loops.
struct PhasePair {
  std::uint32_t process = 0;
  std::uint32_t loop = kNobody;  // kNobody: outside all loops
  std::uint32_t message_class = 0;
  std::int32_t communicator = -1;
  std::int64_t source = 0, destination = 0;
  std::uint64_t bytes = 0, messages = 0;
};

// What one process did in a named phase, without nested phases.
struct NamedPhasePart {
  std::uint32_t process = 0, phase = 0;
  std::uint64_t visits = 0, ns = 0, bytes = 0, messages = 0;  // received
};

struct PhaseTraffic {  // at analysis process 0
  std::vector<PhasePair> pairs;
  std::vector<NamedPhasePart> named;
};

// `own`: loops of own processes. One pass over the events; collective over the job's transport.
base::Result<PhaseTraffic> count_phase_traffic(const Input& input,
                                               const std::vector<PhasePart>& own);

// One profile of traffic per phase; phase 0, everything outside, is first. `numbers`: by (process,
// loop).
std::vector<profile::Profile> profiles_of_phases(
    const PhaseTraffic& traffic,
    const std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& numbers,
    std::size_t phases, const trace::Definitions& definitions);

void lay_out_named_phases(const PhaseTraffic& traffic, const trace::Definitions& definitions,
                          Section& section);
void lay_out_phase_matrices(const std::vector<profile::Profile>& profiles, Section& section);
void lay_out_phase_patterns(const std::vector<profile::Profile>& profiles,
                            const Thresholds& thresholds, Section& section);

}  // namespace fathom::analysis
