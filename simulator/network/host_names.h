// SPDX-License-Identifier: BSD-3-Clause
// Finds the hosts of a network by name, many times: one hash table, made once.
//
// A name is a host's own, or its machine's; the machine's names all parts of it. The network must
// outlive this object. Threading: read-only, any number of threads.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulator/network/network.h"

namespace fathom::simulator {

class HostNames {
 public:
  explicit HostNames(const Network& network);

  // The host of this name, or all hosts that are parts of this machine, ascending; empty if there
  // is none.
  std::span<const HostId> of(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, std::vector<HostId>> hosts_;
};

}  // namespace fathom::simulator
