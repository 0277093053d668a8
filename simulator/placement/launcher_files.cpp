// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/launcher_files.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <vector>

#include "base/named_rows.h"
#include "base/text_lines.h"
#include "simulator/network/host_names.h"

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
  std::uint32_t first_core = kNoId, last_core = kNoId;  // kNoId if the file does not say
  std::size_t line = 0;
};

bool parse_number(std::string_view text, std::size_t& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size();
}

// "3", "0-3" or "0,2" as the lowest and highest core. SOCKET:CORE says nothing: where sockets
// begin is not known here. False if it is neither.
bool parse_cores(std::string_view text, HostSlot& place) {
  if (text.find(':') != std::string_view::npos) return true;
  for (const std::string& part : base::split(text, ',')) {
    const std::size_t dash = part.find('-');
    std::size_t low = 0, high = 0;
    if (!parse_number(part.substr(0, dash), low)) return false;
    if (!parse_number(dash == std::string::npos ? part : part.substr(dash + 1), high)) return false;
    if (high < low || high >= kNoId) return false;
    place.first_core = std::min(place.first_core, static_cast<std::uint32_t>(low));
    place.last_core = place.last_core == kNoId
                          ? static_cast<std::uint32_t>(high)
                          : std::max(place.last_core, static_cast<std::uint32_t>(high));
  }
  return true;
}

class PlacementFile {
 public:
  PlacementFile(const Network& network, const std::string& path)
      : network_(network), path_(path), names_(network), used_(network.host_count(), 0) {}

  base::Result<Placement> read() {
    const auto text = base::read_text(path_);
    if (!text) return text.error();
    if (auto status = read_lines(*text); !status) return status.error();
    if (by_rank_.empty()) return placed(plain_);
    if (!plain_.empty())
      return error(plain_.front(), "'" + plain_.front().host + "' is not a line of a rankfile");
    std::vector<HostSlot> places;
    for (const auto& [rank, place] : by_rank_) {
      if (rank != places.size())
        return base::Error{path_ + ": rank " + std::to_string(places.size()) + " is missing"};
      places.push_back(place);
    }
    return placed(places);
  }

 private:
  base::Error error(const HostSlot& place, const std::string& what) const {
    return base::line_error(path_, place.line, what);
  }

  base::Status read_lines(const std::string& text) {
    std::size_t number = 0;
    for (const std::string& line : base::split(text, '\n')) {
      ++number;
      if (line.empty() || line.starts_with('#')) continue;
      if (line.starts_with("rank ") && line.find('=') != std::string::npos) {
        if (auto status = read_rank(line, number); !status) return status;
        continue;
      }
      for (const std::string& name : base::split(line, ','))
        plain_.push_back({name, kNoId, kNoId, number});
    }
    return base::Done{};
  }

  // "rank N=HOST slot=CORES"
  base::Status read_rank(std::string_view line, std::size_t number) {
    const std::size_t equals = line.find('=');
    const std::string_view rest = base::trimmed(line.substr(equals + 1));
    HostSlot place{std::string(rest.substr(0, rest.find(' '))), kNoId, kNoId, number};
    std::size_t rank = 0;
    if (!parse_number(base::trimmed(line.substr(5, equals - 5)), rank) || place.host.empty())
      return error(place, "expected rank N=HOST slot=CORES");
    const std::size_t slot = rest.find(" slot=");
    if (slot != std::string_view::npos) {
      const std::string_view cores = base::trimmed(rest.substr(slot + 6));
      if (!parse_cores(cores, place))
        return error(place, "'" + std::string(cores) +
                                "' is not a core, a range or list of cores, or SOCKET:CORE");
    }
    if (!by_rank_.emplace(rank, place).second)
      return error(place, "rank " + std::to_string(rank) + " is given twice");
    return base::Done{};
  }

  base::Result<Placement> placed(const std::vector<HostSlot>& places) {
    Placement placement;
    for (const HostSlot& place : places) {
      const auto host = host_of(place);
      if (!host) return host.error();
      placement.push_back(*host);
    }
    return placement;
  }

  base::Result<HostId> host_of(const HostSlot& place) {
    const std::span<const HostId> parts = names_.of(place.host);
    if (parts.empty()) {
      const char* advice = place.host.starts_with('+')
                               ? "; hosts must be named, not numbered within an allocation"
                               : "";
      return error(place,
                   "cluster '" + network_.name() + "' has no host '" + place.host + "'" + advice);
    }
    std::uint32_t cores = 0;
    for (const HostId part : parts)
      cores = std::max(cores, network_.first_core(part) + network_.slots(part));
    if (place.last_core != kNoId && place.last_core >= cores) {
      return error(place, "core " + std::to_string(place.last_core) + " is beyond the " +
                              std::to_string(cores) + " slots of host '" + place.host +
                              "', which are numbered from 0; " + kMoreSlots);
    }
    const HostId host = part_for(parts, place.first_core);
    if (host == kNoId) {
      return error(place,
                   "host '" + place.host + "' has " + std::to_string(cores) +
                       " slots, but more ranks are placed on it" +
                       (parts.size() > 1 ? ", or more on the cores of one of its parts" : ""));
    }
    ++used_[host];
    return host;
  }

  // The part of the machine that has this core and room for it, or, without a core, the first part
  // with room; kNoId if there is none.
  HostId part_for(std::span<const HostId> parts, std::uint32_t core) const {
    for (const HostId part : parts) {
      const std::uint32_t first = network_.first_core(part);
      const bool has_core = core == kNoId || (core >= first && core - first < network_.slots(part));
      if (has_core && used_[part] < network_.slots(part)) return part;
    }
    return kNoId;
  }

  const Network& network_;
  const std::string& path_;
  const HostNames names_;
  std::vector<std::uint32_t> used_;  // by host
  std::map<std::size_t, HostSlot> by_rank_;
  std::vector<HostSlot> plain_;
};

}  // namespace

base::Result<Placement> read_placement(const Network& network, const std::string& path) {
  return PlacementFile(network, path).read();
}

std::string usage_of(const PlacementFormat& format, const std::string& path) {
  constexpr std::string_view kPlace = "FILE";
  std::string text = format.help;
  for (std::size_t at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace, at)) {
    const bool is_end_of_name = at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) ||
                                           text[at - 1] == '_');  // SLURM_HOSTFILE
    if (!is_end_of_name) text.replace(at, kPlace.size(), path);
    at += is_end_of_name ? kPlace.size() : path.size();
  }
  return text;
}

std::span<const PlacementFormat> placement_formats() { return kFormats; }

base::Result<const PlacementFormat*> find_placement_format(std::string_view name) {
  return base::find_row(placement_formats(), "format", name);
}

}  // namespace fathom::simulator
