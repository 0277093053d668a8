// SPDX-License-Identifier: BSD-3-Clause
// Two communicators of this process alone, and its place in the job, for a process that has opened a
// session (MPI 4.0, section 11.3) and so has no MPI_COMM_WORLD and MPI_COMM_SELF.
//
// They are made as the program makes its own, with MPI_Comm_create_from_group, from the group
// mpi://SELF: no other process takes part, and none has to run with Fathom. Open MPI asks its
// launcher's server for a number (PMIx_Group_construct), which takes a millisecond or two. Where it
// could not, the call would print an error; so it is only made when the program is about to make
// the same call, and not where that is known to fail.
//
// A session of Fathom's own would not do: in Open MPI 5.0, MPI_Session_init sets how the whole
// process treats threads (ompi_mpi_instance_init in ompi/instance/instance.c).
#pragma once

#include "profiler/openmpi/mpi.h"

namespace fathom::profiler {

class PrivateCommunicators {
 public:
  // `session`: an open one of the program, which stays open meanwhile.
  explicit PrivateCommunicators(MPI_Session session) noexcept;
  ~PrivateCommunicators();  // frees them
  PrivateCommunicators(const PrivateCommunicators&) = delete;

  // False if they could not be made; then the program cannot make any either.
  bool are_made() const { return second_ != nullptr; }

  static constexpr char kFirstName[] = "fathom first", kSecondName[] = "fathom second";
  MPI_Comm first() const { return first_; }
  MPI_Comm second() const { return second_; }
  int world_rank() const { return world_rank_; }
  int world_size() const { return world_size_; }

 private:
  bool find_place(MPI_Session session);
  bool make(MPI_Session session);

  MPI_Comm first_ = nullptr, second_ = nullptr;
  int world_rank_ = -1, world_size_ = 0;
};

}  // namespace fathom::profiler
