// SPDX-License-Identifier: BSD-3-Clause
// `fathom export`: a run's traffic in another program's format (exporters/).
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kExportExamples[] =
    "  fathom export --list\n"
    "  fathom export r1 --to csv -o traffic.csv\n"
    "  fathom export r1 --to metis --metric messages -o comm.graph\n"
    "  fathom export r1 --to npz --class MPI_Alltoall -o alltoall.npz\n";

Action declare_export(CLI::App& app);

}  // namespace fathom::cli
