// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/private_communicators.h"

#include <string>

#include "mpi_functions.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/pml.h"
#include "profiler/openmpi/standard_abi.h"
#include "profiler/process/settings.h"
#include "rankmap/releases.h"

namespace fathom::profiler {
namespace {

// A process without a launcher has no server to ask, and pml/ucx of 5.0 cannot tell such
// communicators apart (ompi_comm_nextcid_nb in ompi/communicator/comm_cid.c).
bool can_make_from_groups() {
  if (environment_value("PMIX_RANK").empty()) return false;
  return selected_pml() != "ucx" || openmpi::version_of(mpi_library_name()).major > 5;
}

// A group that this object frees.
class Group {
 public:
  Group(MPI_Session session, const char* set) {
    const auto from_set = FATHOM_PMPI(MPI_Group_from_session_pset);
    if (from_set != nullptr && from_set(session, set, &group_) != MPI_SUCCESS) group_ = nullptr;
  }
  ~Group() {
    const auto free_group = FATHOM_PMPI(MPI_Group_free);
    if (group_ != nullptr && free_group != nullptr) free_group(&group_);
  }
  Group(const Group&) = delete;
  MPI_Group get() const { return group_; }

 private:
  MPI_Group group_ = nullptr;
};

void name(MPI_Comm comm, const char* text) {
  if (const auto set_name = FATHOM_PMPI(MPI_Comm_set_name)) set_name(comm, text);
}

void free_comm(MPI_Comm comm) {
  const auto free_function = FATHOM_PMPI(MPI_Comm_free);
  if (comm != nullptr && free_function != nullptr) free_function(&comm);
}

}  // namespace

PrivateCommunicators::PrivateCommunicators(MPI_Session session) noexcept try {
  if (can_make_from_groups() && find_place(session)) make(session);
} catch (...) {
}

PrivateCommunicators::~PrivateCommunicators() {
  free_comm(second_);
  free_comm(first_);
}

bool PrivateCommunicators::find_place(MPI_Session session) {
  const auto rank = FATHOM_PMPI(MPI_Group_rank);
  const auto size = FATHOM_PMPI(MPI_Group_size);
  const Group world(session, "mpi://WORLD");
  return world.get() != nullptr && rank != nullptr && size != nullptr &&
         rank(world.get(), &world_rank_) == MPI_SUCCESS &&
         size(world.get(), &world_size_) == MPI_SUCCESS && world_rank_ >= 0;
}

bool PrivateCommunicators::make(MPI_Session session) {
  const auto from_group = FATHOM_PMPI(MPI_Comm_create_from_group);
  const auto duplicate = FATHOM_PMPI(MPI_Comm_dup);
  const auto no_info = static_cast<MPI_Info>(predefined_handle("ompi_mpi_info_null"));
  const auto handler = static_cast<MPI_Errhandler>(predefined_handle("ompi_mpi_errors_return"));
  const Group self(session, "mpi://SELF");
  if (self.get() == nullptr || from_group == nullptr || duplicate == nullptr ||
      no_info == nullptr || handler == nullptr) {
    return false;
  }
  // The server, which may serve several jobs, knows the calls of all processes by this text.
  const std::string tag =
      "fathom " + environment_value("PMIX_NAMESPACE") + " " + std::to_string(world_rank_);
  if (from_group(self.get(), tag.c_str(), no_info, handler, &first_) != MPI_SUCCESS) {
    first_ = nullptr;
    return false;
  }
  if (duplicate(first_, &second_) != MPI_SUCCESS) {
    second_ = nullptr;
    return false;
  }
  name(first_, kFirstName);
  name(second_, kSecondName);
  return true;
}

}  // namespace fathom::profiler
