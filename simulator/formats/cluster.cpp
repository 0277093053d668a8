// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/cluster.h"

#include <filesystem>
#include <new>

#include "base/text_lines.h"
#include "base/xml_file.h"
#include "simulator/formats/graphml.h"
#include "simulator/formats/ibnetdiscover.h"
#include "simulator/formats/node_topology.h"
#include "simulator/formats/simgrid_platform.h"
#include "simulator/formats/slurm_topology.h"
#include "simulator/topology/registry.h"

namespace fathom::simulator {
namespace {

base::Result<Network> make_topology(const std::string& specification, std::size_t colon,
                                    const ClusterDefaults& defaults) {
  const auto row = find_topology(specification.substr(0, colon));
  if (!row)
    return base::Error{"there is no file '" + specification + "', and " + row.error().message};
  auto parameters =
      TopologyParameters::parse(specification, std::string_view(specification).substr(colon + 1),
                                defaults.slots, defaults.capacity_Bps);
  if (!parameters) return parameters.error();
  return (*row)->make(*parameters);
}

base::Error nothing_known(const std::string& path, const std::string& why = "") {
  return {
      path + ": is not a description of a cluster" + why +
      "; GraphML, SimGrid platforms, Slurm's topology.conf and topology.yaml, and the output of "
      "ibnetdiscover can be read"};
}

// An XML file by its root element.
base::Result<Network> read_xml(const std::string& path, const ClusterDefaults& defaults) {
  const auto file = base::XmlFile::read(path);
  if (!file) return file.error();
  const std::string root = file->root().name();
  if (root == "platform") return read_simgrid_platform(path, defaults);
  if (root == "graphml") return read_graphml(path);
  if (root == "topology")
    return nothing_known(path, ", but hwloc's description of one machine, which --node takes");
  return nothing_known(path, " (XML that begins with '" + root + "')");
}

// Detects the format from the first line that is neither empty nor a comment.
base::Result<Network> read_file(const std::string& path, const ClusterDefaults& defaults) {
  const auto text = base::read_text(path);
  if (!text) return text.error();
  for (const std::string& line : base::split(*text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('<') || line.starts_with("\xef\xbb\xbf<")) return read_xml(path, defaults);
    if (is_slurm_conf_line(line)) return read_slurm_conf(path, defaults);
    if (is_ibnetdiscover_line(line)) return read_ibnetdiscover(path, defaults);
    if (is_slurm_yaml_line(line)) return read_slurm_yaml(path, defaults);
    break;
  }
  return nothing_known(path);
}

base::Result<Network> load_undivided(const std::string& cluster, const ClusterDefaults& defaults) {
  return is_specification(cluster) ? make_topology(cluster, cluster.find(':'), defaults)
                                   : read_file(cluster, defaults);
}

}  // namespace

bool is_specification(const std::string& cluster) {
  std::error_code ignored;
  return cluster.find(':') != std::string::npos && !std::filesystem::exists(cluster, ignored);
}

base::Result<Network> load_cluster(const std::string& cluster, const ClusterDefaults& defaults) {
  try {
    auto network = load_undivided(cluster, defaults);
    if (!network || defaults.node.empty()) return network;
    const auto node = read_hwloc(defaults.node);
    if (!node) return node.error();
    return with_nodes(*network, *node, defaults.node_capacity_Bps, 0);
    // A few numbers can ask for any amount of memory, and no exception may leave this folder.
  } catch (const std::bad_alloc&) {
    return base::Error{"'" + cluster + "' does not fit into memory"};
  }
}

}  // namespace fathom::simulator
