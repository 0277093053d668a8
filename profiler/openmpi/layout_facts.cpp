// SPDX-License-Identifier: BSD-3-Clause
// What profiler/openmpi/proved_layout.h compares with, asked of the MPI library of this process.
#include <string>
#include <string_view>

#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/pml.h"
#include "profiler/openmpi/private_communicators.h"
#include "profiler/openmpi/proved_layout.h"
#include "profiler/openmpi/standard_abi.h"

namespace fathom::profiler {
namespace {

// Open MPI's PMLs are in libmpi or, since 6.0, in libopen_mpi; or in files of their own.
bool is_in_pml_library(const void* address) {
  const std::string path = file_of(address);
  const std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
  return file.starts_with("libmpi.so") || file.starts_with("libopen_mpi.so") ||
         file.starts_with("mca_pml_");
}

bool find_facts_about_the_library(KnownFacts& facts) {
  facts.null = find_variable_in_mpi("ompi_mpi_comm_null");
  facts.pml = find_variable_in_mpi("mca_pml");
  facts.has_ob1 = selected_pml() == "ob1";
  facts.is_pml_function = is_in_pml_library;
  return facts.null != nullptr && facts.pml != nullptr;
}

}  // namespace

bool find_known_facts(KnownFacts& facts) {
  if (!find_facts_about_the_library(facts)) return false;
  facts.world = {find_variable_in_mpi("ompi_mpi_comm_world"), "MPI_COMM_WORLD", 0, 0, 0, true};
  facts.self = {find_variable_in_mpi("ompi_mpi_comm_self"), "MPI_COMM_SELF", 1, 0, 1, true};
  using Query = int (*)(const void* comm, int* value);
  const auto rank = find_in_mpi_as<Query>("PMPI_Comm_rank");
  const auto size = find_in_mpi_as<Query>("PMPI_Comm_size");
  const void* const world = predefined_handle("ompi_mpi_comm_world");
  if (facts.world.comm == nullptr || facts.self.comm == nullptr || rank == nullptr ||
      size == nullptr || rank(world, &facts.world.rank) != 0 ||
      size(world, &facts.world.size) != 0) {
    return false;
  }
  facts.world_rank = facts.world.rank;
  return true;
}

bool find_known_facts(const PrivateCommunicators& own, KnownFacts& facts) {
  // A communicator's number in Fortran is its index (ompi_comm_nextcid_ext_nb in
  // ompi/communicator/comm_cid.c).
  const auto number = find_in_mpi_as<int (*)(const void* comm)>(
      StandardAbi::in_use ? "PMPI_Comm_toint" : "PMPI_Comm_c2f");
  const int first = StandardAbi::in_use ? StandardAbi::kFirstOwnNumber : 0;
  if (number == nullptr || !find_facts_about_the_library(facts)) return false;
  const auto known = [number, first](MPI_Comm comm, const char* name) {
    const auto index = static_cast<std::uint32_t>(number(comm) - first);
    return KnownCommunicator{comm, name, index, 0, 1, false};
  };
  facts.world = known(own.first(), PrivateCommunicators::kFirstName);
  facts.self = known(own.second(), PrivateCommunicators::kSecondName);
  facts.world_rank = own.world_rank();
  return true;
}

}  // namespace fathom::profiler
