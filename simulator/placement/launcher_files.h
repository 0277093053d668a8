// SPDX-License-Identifier: BSD-3-Clause
// A placement as launchers and programs take it.
//
//   rankfile     Open MPI: rank N=HOST slot=K, K counting the ranks of the host in order, from its first
//                core on if it is part of a machine (mpirun --rankfile)
//   host         Open MPI: HOST,HOST,… one for each rank in order (mpirun --map-by seq --host "$(cat FILE)")
//   slurm        one host a line for each rank (SLURM_HOSTFILE=FILE srun --distribution=arbitrary)
//   permutation  one number a line for each rank: the rank whose present place it should take, which is what
//                a program gives MPI_Comm_split as key, or MPI_Dist_graph_create_adjacent would reorder to
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
  // An Error if the placement cannot be said so.
  base::Result<std::string> (*text)(const Network& network, const Placement& placement,
                                    const Placement& present);
};

std::span<const PlacementFormat> placement_formats();
// An Error lists the known names.
base::Result<const PlacementFormat*> find_placement_format(std::string_view name);

// Hosts that are parts of a machine go by the machine's name.
//
// Reads a rankfile (slots tell the part of a machine, and nothing else) or a list of hosts, one for
// each rank, separated by commas, blanks or lines. An Error names line or host: unknown, more
// processes than slots, a rank twice or missing.
base::Result<Placement> read_placement(const Network& network, const std::string& path);

}  // namespace fathom::simulator
