// SPDX-License-Identifier: BSD-3-Clause
// The networks that Slurm's topology plugins describe, whichever file says so.
//
// topology/tree: switches with hosts or other switches below them; one cable joins a switch to each
// of its children.
//
// topology/block: blocks of hosts that are near to each other. A block becomes a switch with its
// name. The block sizes (hosts) say how many blocks follow each other in the next larger block: with
// sizes b, c, … every c/b blocks share a switch named FIRST-LAST, and so on; the switch "blocks" is
// above all that remain. Slurm's plugin groups the same way (src/plugins/topology/block of Slurm
// 24.11), but does not know cables.
//
// Neither says slots or speeds; those come from ClusterDefaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "simulator/network/cluster_defaults.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

class SlurmTree {
 public:
  struct Switch {
    std::size_t line = 0;  // of the file, for errors
    std::string name;
    std::string switches, nodes;  // host lists, or empty
  };

  SlurmTree(std::string path, const ClusterDefaults& defaults)
      : path_(std::move(path)), defaults_(defaults), builder_(path_) {}

  // Children may be added later than the switch that names them.
  base::Status add_switch(const Switch& added);
  // All nodes of the switch are hosts. A tree has either switches or blocks.
  base::Status add_block(const Switch& block);

  // `block_sizes` in hosts; empty where there are no blocks, or no larger ones. An Error names the
  // file and the line.
  base::Result<Network> build(const std::vector<std::uint32_t>& block_sizes, std::size_t line);

  base::Error error(std::size_t line, const std::string& what) const;

 private:
  struct Child {
    std::size_t line;
    std::string parent;
    std::vector<std::string> switches, nodes;
  };

  base::Status add_named(const Switch& added);
  base::Status add_children(const Child& line);
  base::Status check_tree() const;
  base::Status join_blocks(const std::vector<std::uint32_t>& sizes, std::size_t line);

  const std::string path_;
  const ClusterDefaults defaults_;
  NetworkBuilder builder_;
  std::vector<Child> lines_;
  std::size_t named_ = 0;                                   // children, over all lines
  std::vector<std::string> blocks_;                         // in the order of the file
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of switches
  std::unordered_map<std::string, std::uint32_t> hosts_;
};

// The names in a host list such as "rack[1-3,07],login" (slurm.conf(5)), in order. An Error says
// what is wrong with it.
base::Result<std::vector<std::string>> expand_host_list(std::string_view list);

}  // namespace fathom::simulator
