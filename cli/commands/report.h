// SPDX-License-Identifier: BSD-3-Clause
// `fathom report`: one run on one screen, or the same figures as JSON.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kReportExamples[] =
    "  fathom report r1\n"
    "  fathom report r1 --all\n"
    "  fathom report r1 --classes MPI_Allreduce --top 10\n"
    "  fathom report r1 --json | jq .total\n"
    "RUN is a run directory or a profile.json. kB, MB, GB are powers of 1000; KiB, MiB of 1024.\n"
    "man fathom lists the keys that --json writes.\n";

// What `fathom report RUN --json` prints.
base::Result<std::string> report_document(const std::string& run);

Action declare_report(CLI::App& app);

}  // namespace fathom::cli
