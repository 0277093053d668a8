// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/parallel.h"

#include <dlfcn.h>

#include <string>

#include "base/launcher.h"
#include "cli/launch/installation.h"

namespace fathom::cli {

bool is_first_process() {
  const auto launched = base::launched_job();
  return !launched || launched->rank == 0;
}

base::Result<std::unique_ptr<analysis::Transport>> start_transport() {
  const auto launched = base::launched_job();
  if (!launched) return std::unique_ptr<analysis::Transport>();
  const auto library = find_mpi_library();
  if (!library) return library.error();
  // RTLD_GLOBAL, because MPI's own plug-ins look for its symbols.
  void* loaded = dlopen(library->c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (loaded == nullptr)
    return base::Error{std::string("cannot load MPI: ") + dlerror() + "; run without mpirun"};
  using Make = analysis::Transport*();
  auto make = reinterpret_cast<Make*>(dlsym(loaded, "fathom_mpi_transport"));
  if (make == nullptr)
    return base::Error{*library +
                       " belongs to another build of Fathom; build or install both together"};
  std::unique_ptr<analysis::Transport> transport(make());
  if (transport->size() != launched->size) {
    return base::Error{"the launcher started " + std::to_string(launched->size) +
                       " processes, but Open MPI joins only " + std::to_string(transport->size()) +
                       " of them; start them with Open MPI's mpirun or with srun --mpi=pmix, or "
                       "run one alone"};
  }
  return transport;
}

}  // namespace fathom::cli
