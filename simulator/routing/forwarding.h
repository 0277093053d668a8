// SPDX-License-Identifier: BSD-3-Clause
// Forwarding tables: what each switch must know so that traffic takes the paths a router chose.
//
// Per flow: by switch, source and destination, as in OpenFlow switches and the reference simulator.
// Per destination: by switch and destination only, as in InfiniBand and Ethernet switches; not
// every routing can be expressed this way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

struct ForwardingEntry {
  NodeId at = kNoId;  // the switch
  HostId source = kNoId;
  HostId destination = kNoId;
  LinkId next = kNoId;
};

// A sink that collects the entries of all paths. Only for routers that do not split.
class ForwardingTable : public RouteSink {
 public:
  ForwardingTable(const Network& network, std::span<const Demand> demands)
      : network_(network), demands_(demands) {}

  void take(std::size_t index, std::span<const LinkId> links, double share) override;

  // One entry per (switch, source, destination), ascending. An Error names the first flow that a
  // switch would have to forward over two links (flows of one pair of hosts on different paths, or a
  // loop).
  base::Result<std::vector<ForwardingEntry>> per_flow() const;

  // The same by (switch, destination); source is kNoId.
  base::Result<std::vector<ForwardingEntry>> per_destination() const;

 private:
  base::Result<std::vector<ForwardingEntry>> merged(bool by_source) const;

  const Network& network_;
  std::span<const Demand> demands_;
  std::vector<ForwardingEntry> entries_;
};

// The reference simulator's YAML file for OpenFlow switches:
//
//   <dpid>:
//     blocked_ports: [port, …]     ports towards switches outside a spanning tree; no broadcasts
//     fdb: {<source mac>: {<destination mac>: port}}
//
// An Error names a host without mac, a switch without dpid or a link without port.
base::Status write_openflow(const Network& network, const std::vector<ForwardingEntry>& per_flow,
                            const std::string& path);

// CSV: switch,source,destination,next,port. In a table by destination, source is *; an unknown port
// is empty.
base::Status write_forwarding_csv(const Network& network,
                                  const std::vector<ForwardingEntry>& entries,
                                  const std::string& path);

}  // namespace fathom::simulator
