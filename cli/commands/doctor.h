// SPDX-License-Identifier: BSD-3-Clause
// `fathom doctor`: what can be measured on this machine, and why the rest cannot.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kDoctorExamples[] =
    "  fathom doctor\n"
    "  fathom doctor /opt/openmpi-5/bin/mpirun\n"
    "Each line says ok, warn or no, and what to do. The exit code is 0 if something can be "
    "measured.\n";

Action declare_doctor(CLI::App& app);

}  // namespace fathom::cli
