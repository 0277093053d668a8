// SPDX-License-Identifier: BSD-3-Clause
// Changes a job's command line so that its ranks, and only they, load the library.
//
// Open MPI's mpirun passes only OMPI_* to other hosts, so each variable is named with -x. Measured
// on Open MPI 4.1.4, on one host and over a remote shell:
//
// - -x applies to one application context and must be repeated after a ':'.
// - If -x names a variable twice, the later one wins.
// - Processes spawned by a context's ranks (MPI_Comm_spawn) get the context's variables too.
// - -x together with the MCA parameter mca_base_env_list stops the job, wherever either comes from
//   (command line, environment, -tune file), so an existing list is extended instead.
// - With --app FILE, -x on the command line is silently lost; mca_base_env_list works.
//
// Since Open MPI 5.0, mpirun is PRRTE's prterun. Measured on 5.0.7 and 6.0.0rc2, where it differs:
//
// - -x and mca_base_env_list may be used together, and -x wins.
// - With --app FILE, -x on the command line applies to every line of the file; -x in a line wins.
// - Spawned processes do not inherit the variables; the library hands them over itself
//   (profiler/session/spawn_info.h).
//
// Slurm's srun exports the caller's environment unless --export says otherwise, and would itself
// load a library named in LD_PRELOAD; --export=ALL,LD_PRELOAD=… reaches the ranks alone. MPICH's
// mpirun (and Intel's) has no -x and passes its own environment on. Its name is the same as Open
// MPI's, so it is recognised by its file, which mentions hydra, its process manager. A program
// built with AddressSanitizer refuses to start unless its runtime is the first preloaded library,
// so the rank's program is inspected; if another program or a script starts it,
// ASAN_OPTIONS=verify_asan_link_order=0 makes it start. Any other command is one process that is
// its own rank and gets the variables in its environment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

using Variables = std::vector<std::pair<std::string, std::string>>;
// Like getenv; nullopt if the variable is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

enum class LauncherKind { kOpenMpi, kSlurm, kHydra, kNone };

struct Launcher {
  LauncherKind kind = LauncherKind::kNone;
  std::size_t position = 0;  // index of the launcher's word in the command; 0 if none
};

// The launcher may follow env, nice, time, timeout and the like.
Launcher find_launcher(const std::vector<std::string>& command);

// The program that the ranks run, without its folder, for use in names. Best effort: never empty.
std::string application_name(const std::vector<std::string>& command);

// The command that each rank runs, without the launcher and its options; of several application
// contexts, the first.
std::vector<std::string> rank_command(const std::vector<std::string>& command);

struct Launch {
  std::vector<std::string> command;
  Variables environment;  // to set for the process that runs `command`
};

// `libraries` are what LD_PRELOAD should name, after the user's own libraries and a sanitizer's
// runtime. An Error says why the job cannot be started this way and what to do.
base::Result<Launch> preload_ranks(const std::vector<std::string>& command,
                                   const std::vector<std::string>& libraries,
                                   const Variables& settings, const Environment& environment);

}  // namespace fathom::cli
