// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/forwarding.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/atomic_file.h"
#include "base/disjoint_sets.h"
#include "base/text.h"

namespace fathom::simulator {
namespace {

// Cables between switches that form a spanning tree (Kruskal, in the order of links). All other
// ports between switches are blocked for broadcasts.
class SpanningTree {
 public:
  explicit SpanningTree(const Network& network) {
    base::DisjointSets joined(network.node_count());
    for (LinkId id = 0; id < network.link_count(); ++id) {
      if (!network.joins_switches(id)) continue;
      const NodeId one = network.link(id).source, other = network.link(id).target;
      if (joined.find(one) == joined.find(other)) continue;
      joined.join(one, other);
      links_.insert(std::minmax(one, other));
    }
  }
  bool holds(const Link& link) const {
    return links_.contains(std::minmax(link.source, link.target));
  }

 private:
  std::set<std::pair<NodeId, NodeId>> links_;
};

base::Status check_names(const Network& network) {
  for (HostId host = 0; host < network.host_count(); ++host) {
    if (network.mac(host).empty()) {
      return base::Error{"host '" + network.node_name(host) +
                         "' has no mac; OpenFlow tables need one"};
    }
  }
  for (NodeId node = network.host_count(); node < network.node_count(); ++node) {
    if (network.datapath(node) == kNoDatapath) {
      return base::Error{"switch '" + network.node_name(node) +
                         "' has no dpid; OpenFlow tables need one"};
    }
    for (const LinkId link : network.links_from(node)) {
      if (network.link(link).port != kNoPort) continue;
      return base::Error{"the link from '" + network.node_name(node) + "' to '" +
                         network.node_name(network.link(link).target) +
                         "' has no port; OpenFlow tables need one"};
    }
  }
  return base::Done{};
}

std::string quoted(const std::string& text) {
  std::string made = "'";
  for (const char character : text) {
    if (character == '\'') made += '\'';
    made += character;
  }
  return made + "'";
}

std::string blocked_ports(const Network& network, NodeId node, const SpanningTree& tree) {
  std::string ports;
  for (const LinkId id : network.links_from(node)) {
    if (!network.joins_switches(id) || tree.holds(network.link(id))) continue;
    base::add_to_list(ports, std::to_string(network.link(id).port));
  }
  return "[" + ports + "]";
}

}  // namespace

void ForwardingTable::take(std::size_t index, std::span<const LinkId> links, double) {
  for (const LinkId link : links) {
    const NodeId at = network_.link(link).source;
    if (network_.is_host(at)) continue;
    entries_.push_back({at, demands_[index].source, demands_[index].destination, link});
  }
}

base::Result<std::vector<ForwardingEntry>> ForwardingTable::merged(bool by_source) const {
  std::vector<ForwardingEntry> sorted = entries_;
  if (!by_source) {
    for (ForwardingEntry& entry : sorted) entry.source = kNoId;
  }
  const auto key = [](const ForwardingEntry& entry) {
    return std::tuple(entry.at, entry.source, entry.destination);
  };
  // Sorted, so that two conflicting entries are next to each other.
  std::sort(sorted.begin(), sorted.end(), [&](const auto& left, const auto& right) {
    return std::pair(key(left), left.next) < std::pair(key(right), right.next);
  });
  std::vector<ForwardingEntry> made;
  for (const ForwardingEntry& entry : sorted) {
    if (made.empty() || key(made.back()) != key(entry)) {
      made.push_back(entry);
    } else if (made.back().next != entry.next) {
      return base::Error{
          "switch '" + network_.node_name(entry.at) + "' would have to forward " +
          (by_source ? "from '" + network_.node_name(entry.source) + "' " : std::string()) +
          "to '" + network_.node_name(entry.destination) +
          "' over two different links; this kind of table cannot hold the routing"};
    }
  }
  return made;
}

base::Result<std::vector<ForwardingEntry>> ForwardingTable::per_flow() const {
  return merged(true);
}
base::Result<std::vector<ForwardingEntry>> ForwardingTable::per_destination() const {
  return merged(false);
}

base::Status write_openflow(const Network& network, const std::vector<ForwardingEntry>& per_flow,
                            const std::string& path) {
  if (base::Status status = check_names(network); !status) return status;
  base::AtomicFile file;
  if (auto status = file.open(path, base::AtomicFile::Existing::kReplace); !status) return status;
  const SpanningTree tree(network);
  file.append("---\n");
  auto entry = per_flow.begin();
  for (NodeId node = network.host_count(); node < network.node_count(); ++node) {
    const bool is_used = entry != per_flow.end() && entry->at == node;
    file.append(std::to_string(network.datapath(node)) + ":\n  blocked_ports: " +
                blocked_ports(network, node, tree) + "\n  fdb:" + (is_used ? "\n" : " {}\n"));
    HostId source = kNoId;
    for (; entry != per_flow.end() && entry->at == node; ++entry) {
      if (entry->source != source) file.append("    " + quoted(network.mac(entry->source)) + ":\n");
      source = entry->source;
      file.append("      " + quoted(network.mac(entry->destination)) + ": " +
                  std::to_string(network.link(entry->next).port) + "\n");
    }
  }
  return file.commit();
}

base::Status write_forwarding_csv(const Network& network,
                                  const std::vector<ForwardingEntry>& entries,
                                  const std::string& path) {
  base::AtomicFile file;
  if (auto status = file.open(path, base::AtomicFile::Existing::kReplace); !status) return status;
  file.append("switch,source,destination,next,port\n");
  for (const ForwardingEntry& entry : entries) {
    const Link& link = network.link(entry.next);
    const std::string source =
        entry.source == kNoId ? "*" : base::csv_field(network.node_name(entry.source));
    file.append(base::csv_field(network.node_name(entry.at)) + "," + source + "," +
                base::csv_field(network.node_name(entry.destination)) + "," +
                base::csv_field(network.node_name(link.target)) + "," +
                (link.port == kNoPort ? std::string() : std::to_string(link.port)) + "\n");
  }
  return file.commit();
}

}  // namespace fathom::simulator
