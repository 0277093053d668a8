// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/network/host_names.h"

namespace fathom::simulator {

HostNames::HostNames(const Network& network) {
  for (HostId host = 0; host < network.host_count(); ++host) {
    const std::string& own = network.node_name(host);
    const std::string& machine = network.machine(host);
    hosts_[own].push_back(host);
    if (machine != own) hosts_[machine].push_back(host);
  }
}

std::span<const HostId> HostNames::of(std::string_view name) const {
  const auto found = hosts_.find(name);
  return found == hosts_.end() ? std::span<const HostId>() : found->second;
}

}  // namespace fathom::simulator
