// SPDX-License-Identifier: BSD-3-Clause
// A placement in the formats that launchers and programs read.
//
//   rankfile     Open MPI: rank N=HOST slot=K. K counts the ranks of the host in order, starting at
//                the first core if the host is part of a machine (mpirun --rankfile)
//   host         Open MPI: HOST,HOST,… one per rank, in order
//                (mpirun --map-by seq --host "$(cat FILE)")
//   slurm        one host per line, one line per rank
//                (SLURM_HOSTFILE=FILE srun --distribution=arbitrary)
//   permutation  one number per line, one line per rank: the rank whose present place it should
//                take. A program passes it as key to MPI_Comm_split;
//                MPI_Dist_graph_create_adjacent would reorder to it
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/network/network.h"
#include "simulator/placement/placement.h"

namespace fathom::simulator {

struct PlacementFormat {
  const char* name;
  const char* help;  // one line: how to use the file
  // An Error if the format cannot express the placement.
  base::Result<std::string> (*text)(const Network& network, const Placement& placement,
                                    const Placement& present);
};

std::span<const PlacementFormat> placement_formats();
// An Error lists the known names.
base::Result<const PlacementFormat*> find_placement_format(std::string_view name);
// The format's help with the file's path in the place of FILE.
std::string usage_of(const PlacementFormat& format, const std::string& path);

// Hosts that are parts of a machine go by the machine's name.
//
// Reads a rankfile (of the cores after slot=, the lowest selects the part of a machine; with
// SOCKET:CORE, the first part with room is taken) or a list of hosts, one per rank, separated by
// commas or newlines. An Error names line and host: unknown, a core that it does not have, more
// processes than slots, a duplicate or missing rank.
base::Result<Placement> read_placement(const Network& network, const std::string& path);

}  // namespace fathom::simulator
