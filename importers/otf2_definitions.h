// SPDX-License-Identifier: BSD-3-Clause
// The global definitions of an OTF2 archive, as read. otf2_plan.h translates them for a trace.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fathom::importers::otf2 {

struct Archive {
  struct Location {
    std::uint64_t self = 0, events = 0;
    std::uint32_t group = 0;
    std::uint32_t name = 0;
  };
  struct Region {
    std::uint32_t name = 0, description = 0;
    OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
  };
  struct Group {
    OTF2_GroupType type = OTF2_GROUP_TYPE_UNKNOWN;
    OTF2_GroupFlag flags = OTF2_GROUP_FLAG_NONE;
    std::uint32_t name = 0;
    std::vector<std::uint64_t> members;
  };
  struct Comm {
    std::uint32_t name = 0, group = 0, remote_group = OTF2_UNDEFINED_GROUP,
                  parent = OTF2_UNDEFINED_COMM;
  };
  struct LocationGroup {
    std::uint32_t name = 0, node = 0;
    std::int64_t pid = 0;
    std::int32_t socket = -1, numa = -1;
    std::uint32_t affinity = OTF2_UNDEFINED_STRING;
    std::uint64_t lost_records = 0;
  };

  std::string_view text(std::uint32_t string) const {
    const auto found = strings.find(string);
    return found == strings.end() ? std::string_view() : std::string_view(found->second);
  }

  struct Source {
    std::uint32_t file = 0, line = 0;
  };

  std::unordered_map<std::uint32_t, std::string> strings;
  std::unordered_map<std::uint32_t, Source> sources;  // source code locations
  std::uint64_t resolution = 1'000'000'000, offset = 0, realtime = 0;
  std::map<std::uint32_t, std::uint32_t> nodes;  // name
  std::map<std::uint32_t, LocationGroup> location_groups;
  std::vector<Location> locations;
  std::map<std::uint32_t, Region> regions;
  std::map<std::uint32_t, Group> groups;
  std::vector<std::uint64_t> comm_locations;  // in the order of the ranks
  std::map<std::uint32_t, Comm> comms;
  std::map<std::uint32_t, std::uint32_t> attributes, parameters;  // name
};

// False if the archive's definitions cannot be read to their end; trace::Otf2Errors::last() says
// why.
bool read_definitions(OTF2_Reader* reader, Archive& archive);

}  // namespace fathom::importers::otf2
