// SPDX-License-Identifier: BSD-3-Clause
// The environment that a job hands over to the jobs that it spawns (session/spawn_info.h), where
// Open MPI does not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom::profiler {

// The values of two info keys of MPI_Comm_spawn: lines "NAME=VALUE", which Open MPI adds to the
// environment of the spawned processes. They mean the same; `env` is the deprecated name.
struct SpawnVariables {
  std::string env, pmix_envar;
};

// Their new values, in place of `given`, the program's: in addition, they hold the FATHOM_* of this
// process and in LD_PRELOAD what `fathom run` put there, which is this library, the one that uses
// overlays and a sanitizer's runtime. Variables that the program names keep its values, and
// libraries that it preloads into its children stay in front. `environment`: this process's, as
// such lines; `own_path`: of this library.
SpawnVariables spawn_variables(const SpawnVariables& given,
                               const std::vector<std::string_view>& environment,
                               const std::string& own_path);

}  // namespace fathom::profiler
