// SPDX-License-Identifier: BSD-3-Clause
// What the libraries read from the arguments of a call, beyond single parameters.
//
// Nothing here reads what MPI itself would not: arrays and datatypes that are significant only at
// the root, or that MPI_IN_PLACE or MPI_NO_OP makes meaningless. Null pointers and unknown
// communicators give zero or nothing. Cost: v-variants read their own counts once; neighbourhood
// collectives ask the library for the number of neighbours.
#pragma once

#include <cstdint>

#include "profiler/counting/communicators.h"
#include "profiler/openmpi/mpi.h"
#include "profiler/openmpi/standard_abi.h"
#include "rankmap/communicator_view.h"
#include "rankmap/layouts/all.h"

namespace fathom::profiler::calls {

// The handle that a pointer points to, as Open MPI's own; null if the pointer is null.
template <typename Handle>
Handle given(const Handle* handle) {
  return handle == nullptr ? nullptr : native(*handle);
}
inline std::uint32_t given(const int* flag) {
  return flag == nullptr ? ~0u : static_cast<std::uint32_t>(*flag);
}

// The communicator's kind (profile/rows.h); ~0 if it is not known.
inline std::uint32_t communicator(MPI_Comm comm) {
  comm = native(comm);
  const Live* live = comm == nullptr ? nullptr : Communicators::find(comm);
  return live == nullptr ? ~0u : live->kind;
}

inline std::uint64_t bytes(std::int64_t count, MPI_Datatype datatype) {
  datatype = native(datatype);
  if (datatype == nullptr || count < 0) return 0;
  return static_cast<std::uint64_t>(count) *
         rankmap::field<std::size_t>(datatype, openmpi::kDatatypeSize);
}

// The kind of the communicator that a window spans; ~0 if it is not known.
std::uint32_t communicator_of(MPI_Win window);

// That of the messages of the non-blocking or persistent collective that begins now
// (ompi_coll_base_nbc_reserve_tags), which all members number alike; 0 if it is not known.
int tag_of_next_collective(MPI_Comm comm);

// The kind of the communicator that a matched message came on; ~0 if there is none
// (MPI_MESSAGE_NO_PROC).
std::uint32_t communicator_of(MPI_Message message);

// With MPI_NO_OP nothing travels to the target (MPI 4.0, 12.3.4).
std::uint64_t bytes_unless_no_op(MPI_Op op, std::int64_t count, MPI_Datatype datatype);

// The bytes that this process contributes to a collective; one function for each, with the
// parameters of the blocking form:
//   Allgather(v), Gather(v), Neighbor_allgather(v)   its block, once
//   Alltoall(v, w), Neighbor_alltoall(v, w)          the sum of what it sends to all, itself too
//   Allreduce, Reduce, Scan, Exscan                  its vector
//   Reduce_scatter, Reduce_scatter_block             its vector: all blocks
//   Bcast, Scatter, Scatterv                         at the root, all that it sends; elsewhere 0
// With MPI_IN_PLACE the receiving arguments describe the block or vector. On an intercommunicator
// the root's own group contributes nothing to what it receives.
namespace sent {
using Buffer = const void*;
using Type = MPI_Datatype;
using Count = MPI_Count;
using Types = const MPI_Datatype*;
using Displacements = const void*;  // int or MPI_Aint; never read

// A communicator as Open MPI's own.
class Comm {
 public:
  Comm(MPI_Comm of_the_program) : own_(native(of_the_program)) {}
  operator MPI_Comm() const { return own_; }

 private:
  MPI_Comm own_;
};

// An array of counts: of int, or of MPI_Count in the forms for large counts.
class Counts {
 public:
  Counts(const int* counts) : small_(counts) {}
  Counts(const MPI_Count* counts) : large_(counts) {}
  bool is_null() const { return small_ == nullptr && large_ == nullptr; }
  Count operator[](std::int64_t i) const { return small_ != nullptr ? small_[i] : large_[i]; }

 private:
  const int* small_ = nullptr;
  const MPI_Count* large_ = nullptr;
};

std::uint64_t allgather(Buffer, Count, Type, Buffer, Count, Type, Comm);
std::uint64_t allgatherv(Buffer, Count, Type, Buffer, Counts, Displacements, Type, Comm);
std::uint64_t allreduce(Buffer, Buffer, Count, Type, MPI_Op, Comm);
std::uint64_t alltoall(Buffer, Count, Type, Buffer, Count, Type, Comm);
std::uint64_t alltoallv(Buffer, Counts, Displacements, Type, Buffer, Counts, Displacements, Type,
                        Comm);
std::uint64_t alltoallw(Buffer, Counts, Displacements, Types, Buffer, Counts, Displacements, Types,
                        Comm);
std::uint64_t bcast(Buffer, Count, Type, int root, Comm);
std::uint64_t exscan(Buffer, Buffer, Count, Type, MPI_Op, Comm);
std::uint64_t gather(Buffer, Count, Type, Buffer, Count, Type, int root, Comm);
std::uint64_t gatherv(Buffer, Count, Type, Buffer, Counts, Displacements, Type, int root, Comm);
std::uint64_t reduce(Buffer, Buffer, Count, Type, MPI_Op, int root, Comm);
std::uint64_t reduce_scatter(Buffer, Buffer, Counts, Type, MPI_Op, Comm);
std::uint64_t reduce_scatter_block(Buffer, Buffer, Count, Type, MPI_Op, Comm);
std::uint64_t scan(Buffer, Buffer, Count, Type, MPI_Op, Comm);
std::uint64_t scatter(Buffer, Count, Type, Buffer, Count, Type, int root, Comm);
std::uint64_t scatterv(Buffer, Counts, Displacements, Type, Buffer, Count, Type, int root, Comm);
std::uint64_t neighbor_allgather(Buffer, Count, Type, Buffer, Count, Type, Comm);
std::uint64_t neighbor_allgatherv(Buffer, Count, Type, Buffer, Counts, Displacements, Type, Comm);
std::uint64_t neighbor_alltoall(Buffer, Count, Type, Buffer, Count, Type, Comm);
std::uint64_t neighbor_alltoallv(Buffer, Counts, Displacements, Type, Buffer, Counts, Displacements,
                                 Type, Comm);
std::uint64_t neighbor_alltoallw(Buffer, Counts, Displacements, Types, Buffer, Counts,
                                 Displacements, Types, Comm);
}  // namespace sent

}  // namespace fathom::profiler::calls
