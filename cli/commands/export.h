// SPDX-License-Identifier: BSD-3-Clause
// `fathom export`: a run's traffic in another program's format (exporters/).
#pragma once

#include <string>
#include <vector>

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kExportExamples[] =
    "  fathom export --list\n"
    "  fathom export r1 -o traffic.csv\n"
    "  fathom export r1 --format metis --metric messages -o comm.graph\n"
    "  fathom export r1 --classes MPI_Alltoall -o alltoall.npz\n";

Action declare_export(CLI::App& app);

std::vector<std::string> export_formats();  // their names

}  // namespace fathom::cli
