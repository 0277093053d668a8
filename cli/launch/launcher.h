// SPDX-License-Identifier: BSD-3-Clause
// How a job's command line is changed so that its ranks, and only they, load the library.
//
// Open MPI's mpirun hands nothing but OMPI_* on to other hosts, so every variable is named with -x.
// Measured on Open MPI 4.1.4, on one host and over a remote shell:
//   * -x holds for one application context: after a ':' it must be said again;
//   * of two -x for one variable the later one wins;
//   * what a context has, the processes that its ranks spawn (MPI_Comm_spawn) get too;
//   * -x together with the MCA parameter mca_base_env_list stops the job, wherever either comes from
//     (command line, environment, -tune file), so a list that is there is extended instead;
//   * with --app FILE, -x on the command line is lost without a word; mca_base_env_list works.
// Slurm's srun exports the caller's environment unless --export says otherwise, and would itself
// load a library named in LD_PRELOAD; --export=ALL,LD_PRELOAD=… reaches the ranks alone. MPICH's
// mpirun (and Intel's) has no -x and passes its own environment on. It is not known by its name,
// which it shares with Open MPI's, but by its file, which names hydra, its process manager. A
// program built with AddressSanitizer refuses to start unless its runtime comes first of what is
// preloaded, so a rank's program is looked at; where another program or a script starts it,
// ASAN_OPTIONS=verify_asan_link_order=0 makes it start. Any other command is one process that is
// its own rank: it gets the variables in its environment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

using Variables = std::vector<std::pair<std::string, std::string>>;
// Answers like getenv; nothing if the variable is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

enum class LauncherKind { kOpenMpi, kSlurm, kHydra, kNone };

struct Launcher {
  LauncherKind kind = LauncherKind::kNone;
  std::size_t position = 0;  // of the launcher's word in the command; 0 if there is none
};

// A launcher may stand behind env, nice, time, timeout and the like.
Launcher find_launcher(const std::vector<std::string>& command);

// The program that the ranks run, without its folder, for naming things. Best effort: never empty.
std::string application_name(const std::vector<std::string>& command);

struct Launch {
  std::vector<std::string> command;
  Variables environment;  // to be set for the process that runs `command`
};

// `library` is what LD_PRELOAD should name, after whatever the user already preloads and a
// sanitizer's runtime. An Error says why the job cannot be started like this and what to do.
base::Result<Launch> preload_ranks(const std::vector<std::string>& command,
                                   const std::string& library, const Variables& settings,
                                   const Environment& environment);

}  // namespace fathom::cli
