// SPDX-License-Identifier: BSD-3-Clause
// Hands the library and its settings over to the jobs that a job spawns.
//
// Up to Open MPI 4.1 spawned processes inherit the environment that mpirun gave to their parents'
// context. Since 5.0 they inherit OMPI_MCA_* alone; other variables travel in the info key
// PMIX_ENVAR, or in `env`, for which Open MPI prints a warning (ompi_dpm_spawn in ompi/dpm/dpm.c).
// So there the root of a spawn passes on a copy of the program's info that holds what the spawned
// processes need (process/spawn_variables.h).
#pragma once

#include <vector>

#include "profiler/openmpi/mpi.h"

namespace fathom::profiler::session {

class SpawnInfo {
 public:
  // `given`: the infos of the call, `count` of them. MPI reads them on the root alone.
  SpawnInfo(MPI_Comm comm, int root, int count, const MPI_Info* given) noexcept;
  ~SpawnInfo();
  SpawnInfo(const SpawnInfo&) = delete;

  // Those to make the call with: copies, or the given ones where there is nothing to hand over.
  const MPI_Info* infos() const { return copies_.empty() ? given_ : copies_.data(); }

 private:
  const MPI_Info* given_;
  std::vector<MPI_Info> copies_;
};

}  // namespace fathom::profiler::session
