// SPDX-License-Identifier: BSD-3-Clause
// Prints, for each layout that Fathom knows, what in this process's Open MPI contradicts it, one line
// each: "5.0.7|the index of MPI_COMM_WORLD", or "4.1.0|" for the right one. Linked with no MPI, so
// that it runs on every release.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/proved_layout.h"
#include "rankmap/releases.h"

using fathom::openmpi::Layout;
using fathom::openmpi::Layouts;

int main(int count, char** words) {
  if (dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto init = reinterpret_cast<int (*)(int*, char***)>(dlsym(RTLD_DEFAULT, "PMPI_Init"));
  const auto finalize = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PMPI_Finalize"));
  if (init == nullptr || finalize == nullptr || init(&count, &words) != 0) return 1;
  fathom::profiler::KnownFacts facts;
  if (!fathom::profiler::find_known_facts(facts)) return 1;
  std::string lines = "proved for " + fathom::profiler::mpi_library_name() + ": ";
  std::string reason;
  const Layout* proved = fathom::profiler::prove_layout(
      fathom::openmpi::version_of(fathom::profiler::mpi_library_name()), facts, reason);
  const auto name = [](const Layout& layout) {
    return std::to_string(layout.first.major) + "." + std::to_string(layout.first.minor) + "." +
           std::to_string(layout.first.patch);
  };
  lines += (proved == nullptr ? reason : name(*proved)) + "\n";
  Layouts::for_each([&]<const Layout & layout> {
    lines += name(layout) + "|" + fathom::profiler::contradiction(layout, facts) + "\n";
  });
  if (facts.world.rank == facts.world.size - 1) std::fputs(lines.c_str(), stdout);
  return finalize();
}
