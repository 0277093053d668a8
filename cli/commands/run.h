// SPDX-License-Identifier: BSD-3-Clause
// `fathom run`: starts an MPI job with the library loaded only in its ranks, then passes its run
// directory to later stages.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kRunExamples[] =
    "  fathom run -- mpirun -n 4 ./app input.dat\n"
    "  fathom run -o r1 --then report --then 'plot -o r1/plots' -- mpirun -n 4 ./app\n"
    "  fathom run --source peruse -- srun -n 64 ./app\n"
    "  fathom run --pvars pml_ob1_unexpected_msgq_length -- mpirun -n 4 ./app\n"
    "  fathom run --stuck-after 300s --kill -- mpirun -n 64 ./app\n"
    "The exit code is the job's own, 128 + N if signal N ended it; 2 if the job was never "
    "started;\n"
    "124 if --kill ended a stuck job;\n"
    "1 if the job succeeded and a --then stage did not.\n";

Action declare_run(CLI::App& app);

}  // namespace fathom::cli
