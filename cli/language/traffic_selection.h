// SPDX-License-Identifier: BSD-3-Clause
// Which traffic of a profile a subcommand is about: --classes, --communicators and --phases, the
// same in report, plot, export and analyze.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"
#include "profile/selection.h"

namespace fathom::cli {

// `note` is added to each help text.
void add_traffic_options(CLI::App& app, profile::SelectedNames& names,
                         const std::string& note = "");

// The names in terms of a profile, which is read once if anything is chosen. An Error names what
// the run does not hold.
base::Result<profile::Selection> selection_in(const std::string& profile_path,
                                              const profile::SelectedNames& names);

// "class MPI_Bcast, phase solve*"; empty if everything is chosen.
std::string described(const profile::SelectedNames& names);

}  // namespace fathom::cli
