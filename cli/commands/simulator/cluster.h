// SPDX-License-Identifier: BSD-3-Clause
// `fathom cluster`: what Fathom reads from a cluster's description, and the same in another format.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kClusterExamples[] =
    "  fathom cluster topology.conf\n"
    "  ibnetdiscover > fabric; fathom cluster fabric --format graphml -o fabric.graphml\n"
    "  fathom cluster 'dragonfly:switches=4;globals=2;hosts=2' --format simgrid -o platform.xml\n"
    "  fathom cluster fabric --routing dmodk --format simgrid -o platform.xml\n";

Action declare_cluster(CLI::App& app);

}  // namespace fathom::cli
