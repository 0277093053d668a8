// SPDX-License-Identifier: BSD-3-Clause
// Translates the definitions of an OTF2 archive to a trace's: processes, functions, communicators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "importers/otf2_definitions.h"
#include "trace/definitions.h"
#include "trace/event.h"
#include "trace/join/clock_comparison.h"
#include "trace/otf2/names.h"

namespace fathom::importers::otf2 {

struct CommPlace {
  std::int32_t communicator = trace::kNobody;
  std::uint32_t message_class = 0;
  // For archives with FATHOM::COMMUNICATORS: the world rank at each position; kNobody: not known.
  std::shared_ptr<const std::vector<std::int32_t>> peers;
};

// Where the events of a location go.
struct Place {
  std::size_t process = 0;
  std::uint32_t thread = 0;
  std::int32_t rank = 0;
};

struct Plan {
  bool own = false;  // Fathom wrote the archive, so attributes hold everything
  trace::Definitions definitions;
  std::map<std::uint64_t, Place> places;                       // by location
  std::unordered_map<std::uint32_t, std::uint32_t> functions;  // by region; the rest is left out
  std::unordered_map<std::uint32_t, CommPlace> comms;
  std::unordered_map<std::uint32_t, trace::Attribute> attributes;
  std::unordered_map<std::uint32_t, trace::Otf2Attribute> own_attributes;
  std::unordered_map<std::uint32_t, trace::Otf2Parameter> parameters;
  std::unordered_map<std::string, std::uint32_t> phases;
  std::size_t other_regions = 0;
  std::uint64_t lead_ns = 0;  // from time 0 of the trace to the beginning that the archive states
  std::vector<trace::ClockOffset> clocks;  // by process; empty: times stay as they are
};

// `properties`: those of the archive. An Error if it has no processes.
base::Result<Plan> plan_import(const Archive& archive,
                               const std::map<std::string, std::string>& properties);

}  // namespace fathom::importers::otf2
