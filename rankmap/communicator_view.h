// SPDX-License-Identifier: BSD-3-Clause
// Reads Open MPI's communicators, groups and requests in place, at the offsets of its release.
//
// Nothing here allocates, locks or calls into MPI, so all of it may run inside a callback of the
// library. Every function expects a live object of a library with the layout in use
// (rankmap/layouts/all.h), or with the one that it is given.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rankmap/layouts/all.h"

namespace fathom::rankmap {

template <typename T>
inline T field(const void* object, std::ptrdiff_t offset) {
  return *reinterpret_cast<const T*>(static_cast<const char*>(object) + offset);
}

template <typename T>
inline T& field_ref(void* object, std::ptrdiff_t offset) {
  return *reinterpret_cast<T*>(static_cast<char*>(object) + offset);
}

// One MPI process of any world: Open MPI's process name (ompi/proc/proc.h). `rank` is its rank in
// the MPI_COMM_WORLD of the world with number `job`.
struct Identity {
  std::uint32_t job = 0;
  std::uint32_t rank = 0;
  bool operator==(const Identity&) const = default;
};

// Whether a request is complete (REQUEST_COMPLETED, ompi/request/request.h). Another thread may be
// completing it.
inline bool is_complete(const void* request) {
  return __atomic_load_n(
             &field_ref<std::uintptr_t>(const_cast<void*>(request), openmpi::kRequestComplete),
             __ATOMIC_ACQUIRE) == openmpi::kRequestCompleted;
}

// The communicator's place in the process's list of them: its context id in Open MPI 4. All members
// have the same one, except of a communicator made from a group (MPI_Comm_create_from_group).
inline std::uint32_t index(const void* comm, const openmpi::Layout& layout = openmpi::layout()) {
  return field<std::uint32_t>(comm, layout.comm_index);
}
inline int my_rank(const void* comm) { return field<int>(comm, openmpi::layout().comm_my_rank); }
inline bool is_intercommunicator(const void* comm) {
  return field<std::uint32_t>(comm, openmpi::layout().comm_flags) & openmpi::kCommFlagInter;
}
inline std::int32_t next_nonblocking_tag(const void* comm) {
  return __atomic_load_n(
      &field_ref<std::int32_t>(const_cast<void*>(comm), openmpi::layout().comm_nonblocking_tag),
      __ATOMIC_RELAXED);
}
inline const void* local_group(const void* comm) {
  return field<const void*>(comm, openmpi::layout().comm_local_group);
}
// The group that ranks in sends and receives on this communicator refer to.
inline const void* remote_group(const void* comm) {
  return field<const void*>(comm, openmpi::layout().comm_remote_group);
}
inline int group_size(const void* group) { return field<int>(group, openmpi::kGroupSize); }

// The name given with MPI_Comm_set_name; empty if there is none.
std::string_view given_name(const void* comm);

// The index of the communicator that this one duplicates, if the library reveals it: it names each
// duplicate "MPI COMMUNICATOR 5 DUP FROM 3" (since 5.0 "MPI COMM 5 …") before announcing it
// (ompi_comm_dup_with_info, ompi_comm_idup_with_info_activate in ompi/communicator/comm.c). Other
// constructors leave no such name. Call it before the name changes.
std::optional<std::uint32_t> duplicate_of(const void* comm);

// The local group's communicator inside an intercommunicator; nullptr for any other communicator.
inline const void* local_communicator(const void* comm) {
  return is_intercommunicator(comm) ? field<const void*>(comm, openmpi::layout().comm_local_comm)
                                    : nullptr;
}

// The process at a position in a group, 0 <= position < group_size.
Identity member(const void* group, int position);

// Resolves groups stored in one of Open MPI's sparse forms, for member(): the library's own
// ompi_group_translate_ranks (ompi/group/group.h), which gives positions in another group. Set once,
// before the first look-up; without it, the members of such groups are unknown processes.
using TranslateRanks = int (*)(const void* group, int count, const int* positions,
                               const void* other_group, int* other_positions);
void set_sparse_lookup(TranslateRanks translate);

}  // namespace fathom::rankmap
