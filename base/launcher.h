// SPDX-License-Identifier: BSD-3-Clause
// The processes of a job as their launcher numbers them, from the variables it sets: Open MPI and
// PRRTE, PMIx, PMI (MPICH, Intel MPI, Cray), MVAPICH2, Cray's PALS, Slurm. Fathom's only such list.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace fathom::base {

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// getenv(); an empty variable counts as not set.
std::optional<std::string> process_environment(const std::string& name);

// This process's rank in the job, if a launcher started it.
std::optional<std::size_t> launched_rank(const Environment& environment = process_environment);

struct LaunchedJob {
  std::size_t rank = 0, size = 1;
  std::string job;  // the launcher's name for it; may be empty
};

// Nothing unless the launcher also gives the number of processes, and it is more than one.
std::optional<LaunchedJob> launched_job(const Environment& environment = process_environment);

}  // namespace fathom::base
