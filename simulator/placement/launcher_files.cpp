// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/launcher_files.h"

#include <charconv>
#include <map>
#include <vector>

#include "base/named_rows.h"
#include "base/text_lines.h"

namespace fathom::simulator {
namespace {

base::Result<std::string> rankfile(const Network& network, const Placement& placement,
                                   const Placement&) {
  std::map<HostId, std::uint32_t> next_slot;
  std::string text;
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    const HostId host = placement[rank];
    text += "rank " + std::to_string(rank) + '=' + network.machine(host) +
            " slot=" + std::to_string(network.first_core(host) + next_slot[host]++) + '\n';
  }
  return text;
}

std::string listed(const Network& network, const Placement& placement, char between) {
  std::string text;
  for (const HostId host : placement)
    text += (text.empty() ? "" : std::string(1, between)) + network.machine(host);
  return text + '\n';
}

base::Result<std::string> host_list(const Network& network, const Placement& placement,
                                    const Placement&) {
  return listed(network, placement, ',');
}

base::Result<std::string> slurm(const Network& network, const Placement& placement,
                                const Placement&) {
  return listed(network, placement, '\n');
}

// Ranks that stay on their host keep their place.
base::Result<std::string> permutation(const Network& network, const Placement& placement,
                                      const Placement& present) {
  std::map<HostId, std::vector<std::size_t>> places;  // of ranks that leave, last first
  for (std::size_t rank = present.size(); rank-- > 0;) {
    if (placement[rank] != present[rank]) places[present[rank]].push_back(rank);
  }
  std::string text;
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    std::size_t place = rank;
    if (placement[rank] != present[rank]) {
      std::vector<std::size_t>& left = places[placement[rank]];
      if (left.empty()) {
        return base::Error{
            "the placement needs more places on '" + network.node_name(placement[rank]) +
            "' than the job has there now, so it is not a permutation; choose another format"};
      }
      place = left.back();
      left.pop_back();
    }
    text += std::to_string(place) + '\n';
  }
  return text;
}

constexpr PlacementFormat kFormats[] = {
    {"rankfile", "start the job with mpirun --rankfile FILE", rankfile},
    {"host", "start the job with mpirun --map-by seq --host \"$(cat FILE)\"", host_list},
    {"slurm", "start the job with SLURM_HOSTFILE=FILE srun --distribution=arbitrary", slurm},
    {"permutation", "line r holds the rank whose present place rank r should take", permutation},
};

struct HostSlot {
  std::string host;
  std::uint32_t slot = kNoId;  // kNoId if the file does not say
};

bool parse_number(std::string_view text, std::size_t& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size();
}

// Splits "rank N=HOST slot=K" into N and the place; false for any other line. A slot that is not a
// plain number, such as SOCKET:CORE, is ignored.
bool rank_line(std::string_view line, std::size_t& rank, HostSlot& place) {
  const std::size_t equals = line.find('=');
  if (!line.starts_with("rank ") || equals == std::string_view::npos) return false;
  const std::string_view rest = base::trimmed(line.substr(equals + 1));
  place = {std::string(rest.substr(0, rest.find(' '))), kNoId};
  const std::size_t slot = rest.find(" slot=");
  std::size_t number = 0;
  if (slot != std::string_view::npos && parse_number(base::trimmed(rest.substr(slot + 6)), number))
    place.slot = static_cast<std::uint32_t>(number);
  return parse_number(base::trimmed(line.substr(5, equals - 5)), rank) && !place.host.empty();
}

base::Result<std::vector<HostSlot>> places_by_rank(const std::string& path) {
  auto text = base::read_text(path);
  if (!text) return text.error();
  std::map<std::size_t, HostSlot> by_rank;
  std::vector<HostSlot> plain;
  for (const std::string& line : base::split(*text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    std::size_t rank = 0;
    HostSlot place;
    if (rank_line(line, rank, place)) {
      if (!by_rank.emplace(rank, place).second)
        return base::Error{path + ": rank " + std::to_string(rank) + " is given twice"};
      continue;
    }
    for (const std::string& name : base::split(line, ',')) plain.push_back({name, kNoId});
  }
  if (by_rank.empty()) return plain;
  if (!plain.empty())
    return base::Error{path + ": '" + plain.front().host + "' is not a line of a rankfile"};
  for (const auto& [rank, place] : by_rank) {
    if (rank != plain.size())
      return base::Error{path + ": rank " + std::to_string(plain.size()) + " is missing"};
    plain.push_back(place);
  }
  return plain;
}

// The part of the machine that has this core and room for it, or, without a slot, the first part
// with room; kNoId if there is none.
HostId part_for(const Network& network, const std::vector<HostId>& parts, std::uint32_t slot,
                const std::vector<std::uint32_t>& used) {
  for (const HostId part : parts) {
    const std::uint32_t first = network.first_core(part);
    const bool has_core =
        parts.size() == 1 || slot == kNoId || (slot >= first && slot - first < network.slots(part));
    if (has_core && used[part] < network.slots(part)) return part;
  }
  return kNoId;
}

}  // namespace

base::Result<Placement> read_placement(const Network& network, const std::string& path) {
  const auto places = places_by_rank(path);
  if (!places) return places.error();
  Placement placement;
  std::vector<std::uint32_t> used(network.host_count(), 0);
  for (const HostSlot& place : *places) {
    const std::vector<HostId> parts = network.hosts_named(place.host);
    if (parts.empty()) {
      const char* advice = place.host.starts_with('+')
                               ? "; hosts must be named, not numbered within an allocation"
                               : "";
      return base::Error{path + ": cluster '" + network.name() + "' has no host '" + place.host +
                         "'" + advice};
    }
    const HostId host = part_for(network, parts, place.slot, used);
    if (host == kNoId) {
      return base::Error{
          path + ": host '" + place.host + "' has " + std::to_string(network.slots(parts.front())) +
          " slots, and more ranks" +
          (parts.size() > 1 ? ", or a rank on a core that none of its parts has" : "")};
    }
    ++used[host];
    placement.push_back(host);
  }
  return placement;
}

std::span<const PlacementFormat> placement_formats() { return kFormats; }

base::Result<const PlacementFormat*> find_placement_format(std::string_view name) {
  return base::find_row(placement_formats(), "format", name);
}

}  // namespace fathom::simulator
