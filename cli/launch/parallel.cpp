// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/parallel.h"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <string>

#include "cli/launch/installation.h"

namespace fathom::cli {
namespace {

std::size_t number_in(const char* variable, std::size_t otherwise) {
  const char* value = std::getenv(variable);
  std::size_t number = otherwise;
  if (value != nullptr) std::from_chars(value, value + std::string_view(value).size(), number);
  return number;
}

}  // namespace

Launch launch() {
  Launch launch;
  launch.size = number_in("OMPI_COMM_WORLD_SIZE", 1);
  if (launch.size > 1) launch.rank = number_in("OMPI_COMM_WORLD_RANK", 0);
  return launch;
}

base::Result<std::unique_ptr<analysis::Transport>> start_transport() {
  if (launch().size < 2) return std::unique_ptr<analysis::Transport>();
  const auto library = find_mpi_library();
  if (!library) return library.error();
  // Global: MPI's own plug-ins look for its symbols.
  void* loaded = dlopen(library->c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (loaded == nullptr)
    return base::Error{std::string("cannot load MPI: ") + dlerror() + "; run without mpirun"};
  using Make = analysis::Transport*();
  auto make = reinterpret_cast<Make*>(dlsym(loaded, "fathom_mpi_transport"));
  if (make == nullptr)
    return base::Error{*library + " is not Fathom's; run scripts/setup.sh again"};
  return std::unique_ptr<analysis::Transport>(make());
}

}  // namespace fathom::cli
