// SPDX-License-Identifier: BSD-3-Clause
// Forwarding tables: what each switch must know for the ways that a router chose.
//
// Per flow: by switch, source and destination, as OpenFlow switches and the reference simulator
// have it. Per destination: by switch and destination alone, as InfiniBand and Ethernet switches
// have it; not every routing can be written so.
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

// A sink that collects the entries of all ways. Only for routers that do not split.
class ForwardingTable : public RouteSink {
 public:
  ForwardingTable(const Network& network, std::span<const Demand> demands)
      : network_(network), demands_(demands) {}

  void take(std::size_t index, std::span<const LinkId> links, double share) override;

  // One for each (switch, source, destination), ascending. An Error names the first flow that a
  // switch would have to forward in two ways (flows of one pair of hosts on different ways, or a
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

// The reference simulator's file for OpenFlow switches, YAML:
//   <dpid>:
//     blocked_ports: [port, …]          ports towards switches outside a spanning tree, where broadcasts
//                                       must not go
//     fdb: {<source mac>: {<destination mac>: port}}
// An Error names a host without mac, a switch without dpid or a link without port.
base::Status write_openflow(const Network& network, const std::vector<ForwardingEntry>& per_flow,
                            const std::string& path);

// CSV: switch,source,destination,next,port; source is * in a table by destination, port empty if
// unknown.
base::Status write_forwarding_csv(const Network& network,
                                  const std::vector<ForwardingEntry>& entries,
                                  const std::string& path);

}  // namespace fathom::simulator
