// SPDX-License-Identifier: BSD-3-Clause
// What profiler/openmpi/proved_layout.h compares with, asked of the MPI library of this process.
#include <dlfcn.h>

#include <string_view>

#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/pml.h"
#include "profiler/openmpi/proved_layout.h"

namespace fathom::profiler {
namespace {

// Open MPI's PMLs are in libmpi or, since 6.0, in libopen_mpi; or in files of their own.
bool is_in_pml_library(const void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return false;
  const std::string_view path = info.dli_fname;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return file.starts_with("libmpi.so") || file.starts_with("libopen_mpi.so") ||
         file.starts_with("mca_pml_");
}

}  // namespace

bool find_known_facts(KnownFacts& facts) {
  facts.world = find_variable_in_mpi("ompi_mpi_comm_world");
  facts.self = find_variable_in_mpi("ompi_mpi_comm_self");
  facts.pml = find_variable_in_mpi("mca_pml");
  facts.has_ob1 = selected_pml() == "ob1";
  facts.is_pml_function = is_in_pml_library;
  using Query = int (*)(const void* comm, int* value);
  const auto rank = find_in_mpi_as<Query>("PMPI_Comm_rank");
  const auto size = find_in_mpi_as<Query>("PMPI_Comm_size");
  return facts.world != nullptr && facts.self != nullptr && facts.pml != nullptr &&
         rank != nullptr && size != nullptr && rank(facts.world, &facts.rank) == 0 &&
         size(facts.world, &facts.size) == 0;
}

}  // namespace fathom::profiler
