#include "simulator/placement_formats.h"

#include <charconv>
#include <map>
#include <vector>

#include "simulator/rows.h"
#include "simulator/text_lines.h"

namespace fathom::simulator {
namespace {

base::Result<std::string> rankfile(const Network& network, const Placement& placement, const Placement&) {
  std::map<HostId, std::uint32_t> next_slot;
  std::string text;
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    text += "rank " + std::to_string(rank) + '=' + network.node_name(placement[rank]) +
            " slot=" + std::to_string(next_slot[placement[rank]]++) + '\n';
  }
  return text;
}

std::string listed(const Network& network, const Placement& placement, char between) {
  std::string text;
  for (const HostId host : placement) text += (text.empty() ? "" : std::string(1, between)) + network.node_name(host);
  return text + '\n';
}

base::Result<std::string> host_list(const Network& network, const Placement& placement, const Placement&) {
  return listed(network, placement, ',');
}

base::Result<std::string> slurm(const Network& network, const Placement& placement, const Placement&) {
  return listed(network, placement, '\n');
}

// Ranks that stay on their host keep their place.
base::Result<std::string> permutation(const Network& network, const Placement& placement, const Placement& present) {
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
        return base::Error{"the placement needs more places on '" + network.node_name(placement[rank]) +
                           "' than the job has there now, so it is no permutation; choose another format"};
      }
      place = left.back();
      left.pop_back();
    }
    text += std::to_string(place) + '\n';
  }
  return text;
}

constexpr PlacementFormat kFormats[] = {
    {"rankfile", "mpirun --rankfile FILE", rankfile},
    {"host", "mpirun --map-by seq --host \"$(cat FILE)\"", host_list},
    {"slurm", "SLURM_HOSTFILE=FILE srun --distribution=arbitrary", slurm},
    {"permutation", "line r: the rank whose present place rank r should take", permutation},
};

// "rank N=HOST slot=…" into (N, HOST); false if the line is none.
bool rank_line(std::string_view line, std::size_t& rank, std::string& host) {
  const std::size_t equals = line.find('=');
  if (!line.starts_with("rank ") || equals == std::string_view::npos) return false;
  const std::string_view number = trimmed(line.substr(5, equals - 5));
  const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), rank);
  const std::string_view rest = trimmed(line.substr(equals + 1));
  host = rest.substr(0, rest.find(' '));
  return failed == std::errc() && end == number.data() + number.size() && !host.empty();
}

base::Result<std::vector<std::string>> names_by_rank(const std::string& path) {
  auto text = read_text(path);
  if (!text) return text.error();
  std::map<std::size_t, std::string> by_rank;
  std::vector<std::string> plain;
  for (const std::string& line : split(*text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    std::size_t rank = 0;
    std::string host;
    if (rank_line(line, rank, host)) {
      if (!by_rank.emplace(rank, host).second) return base::Error{path + ": rank " + std::to_string(rank) + " stands there twice"};
      continue;
    }
    for (const std::string& name : split(line, ',')) plain.push_back(name);
  }
  if (by_rank.empty()) return plain;
  if (!plain.empty()) return base::Error{path + ": '" + plain.front() + "' is no line of a rankfile"};
  for (const auto& [rank, host] : by_rank) {
    if (rank != plain.size()) return base::Error{path + ": rank " + std::to_string(plain.size()) + " is missing"};
    plain.push_back(host);
  }
  return plain;
}

}  // namespace

base::Result<Placement> read_placement(const Network& network, const std::string& path) {
  const auto names = names_by_rank(path);
  if (!names) return names.error();
  Placement placement;
  std::vector<std::uint32_t> used(network.host_count(), 0);
  for (const std::string& name : *names) {
    const NodeId host = network.find_node(name);
    if (host == kNoId || !network.is_host(host)) {
      return base::Error{path + ": cluster '" + network.name() + "' has no host '" + name + "'"};
    }
    if (++used[host] > network.slots(host)) {
      return base::Error{path + ": host '" + name + "' has " + std::to_string(network.slots(host)) + " slots, and more ranks"};
    }
    placement.push_back(host);
  }
  return placement;
}

std::span<const PlacementFormat> placement_formats() { return kFormats; }

base::Result<const PlacementFormat*> find_placement_format(std::string_view name) {
  return find_row(placement_formats(), "format", name);
}

}  // namespace fathom::simulator
