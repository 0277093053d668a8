// SPDX-License-Identifier: BSD-3-Clause
// What the definitions of an OTF2 archive become in a trace: processes, functions, communicators.
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
#include "trace/otf2/names.h"

namespace fathom::importers::otf2 {

struct CommPlace {
  std::int32_t communicator = trace::kNobody;
  std::uint32_t message_class = 0;
  // Of an archive with FATHOM::COMMUNICATORS: the world rank of each position; kNobody: not known.
  std::shared_ptr<const std::vector<std::int32_t>> peers;
};

// Where events of a location go.
struct Place {
  std::size_t process = 0;
  std::uint32_t thread = 0;
  std::int32_t rank = 0;
};

struct Plan {
  bool own = false;  // Fathom wrote the archive: attributes say everything
  trace::Definitions definitions;
  std::map<std::uint64_t, Place> places;                       // by location
  std::unordered_map<std::uint32_t, std::uint32_t> functions;  // by region; others are left out
  std::unordered_map<std::uint32_t, CommPlace> comms;
  std::unordered_map<std::uint32_t, trace::Attribute> attributes;
  std::unordered_map<std::uint32_t, trace::Otf2Attribute> own_attributes;
  std::unordered_map<std::uint32_t, trace::Otf2Parameter> parameters;
  std::unordered_map<std::string, std::uint32_t> phases;
  std::size_t other_regions = 0;
};

// `properties` are those of the archive. An Error if it holds no processes.
base::Result<Plan> plan_import(const Archive& archive,
                               const std::map<std::string, std::string>& properties);

}  // namespace fathom::importers::otf2
