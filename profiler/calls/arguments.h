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
#include "rankmap/communicator_view.h"
#include "rankmap/layouts/all.h"

namespace fathom::profiler::calls {

// *pointer, or a null handle if the pointer is null.
inline MPI_Comm given(const MPI_Comm* comm) { return comm == nullptr ? nullptr : *comm; }
inline MPI_Win given(const MPI_Win* window) { return window == nullptr ? nullptr : *window; }
inline MPI_File given(const MPI_File* file) { return file == nullptr ? nullptr : *file; }
inline MPI_Request given(const MPI_Request* request) {
  return request == nullptr ? MPI_Request{} : *request;
}
inline MPI_Message given(const MPI_Message* message) {
  return message == nullptr ? MPI_Message{} : *message;
}
inline std::uint32_t given(const int* flag) {
  return flag == nullptr ? ~0u : static_cast<std::uint32_t>(*flag);
}

// The communicator's kind (profile/rows.h); ~0 if it is not known.
inline std::uint32_t communicator(MPI_Comm comm) {
  const Live* live = comm == nullptr ? nullptr : Communicators::find(comm);
  return live == nullptr ? ~0u : live->kind;
}

inline std::uint64_t bytes(std::int64_t count, MPI_Datatype datatype) {
  if (datatype == nullptr || count < 0) return 0;
  return static_cast<std::uint64_t>(count) *
         rankmap::field<std::size_t>(datatype, openmpi::kDatatypeSize);
}

// The kind of the communicator that a window spans; ~0 if it is not known.
std::uint32_t communicator_of(MPI_Win window);

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
using Counts = const int*;
using Types = const MPI_Datatype*;

std::uint64_t allgather(Buffer, int, Type, Buffer, int, Type, MPI_Comm);
std::uint64_t allgatherv(Buffer, int, Type, Buffer, Counts, Counts, Type, MPI_Comm);
std::uint64_t allreduce(Buffer, Buffer, int, Type, MPI_Op, MPI_Comm);
std::uint64_t alltoall(Buffer, int, Type, Buffer, int, Type, MPI_Comm);
std::uint64_t alltoallv(Buffer, Counts, Counts, Type, Buffer, Counts, Counts, Type, MPI_Comm);
std::uint64_t alltoallw(Buffer, Counts, Counts, Types, Buffer, Counts, Counts, Types, MPI_Comm);
std::uint64_t bcast(Buffer, int, Type, int root, MPI_Comm);
std::uint64_t exscan(Buffer, Buffer, int, Type, MPI_Op, MPI_Comm);
std::uint64_t gather(Buffer, int, Type, Buffer, int, Type, int root, MPI_Comm);
std::uint64_t gatherv(Buffer, int, Type, Buffer, Counts, Counts, Type, int root, MPI_Comm);
std::uint64_t reduce(Buffer, Buffer, int, Type, MPI_Op, int root, MPI_Comm);
std::uint64_t reduce_scatter(Buffer, Buffer, Counts, Type, MPI_Op, MPI_Comm);
std::uint64_t reduce_scatter_block(Buffer, Buffer, int, Type, MPI_Op, MPI_Comm);
std::uint64_t scan(Buffer, Buffer, int, Type, MPI_Op, MPI_Comm);
std::uint64_t scatter(Buffer, int, Type, Buffer, int, Type, int root, MPI_Comm);
std::uint64_t scatterv(Buffer, Counts, Counts, Type, Buffer, int, Type, int root, MPI_Comm);
std::uint64_t neighbor_allgather(Buffer, int, Type, Buffer, int, Type, MPI_Comm);
std::uint64_t neighbor_allgatherv(Buffer, int, Type, Buffer, Counts, Counts, Type, MPI_Comm);
std::uint64_t neighbor_alltoall(Buffer, int, Type, Buffer, int, Type, MPI_Comm);
std::uint64_t neighbor_alltoallv(Buffer, Counts, Counts, Type, Buffer, Counts, Counts, Type,
                                 MPI_Comm);
std::uint64_t neighbor_alltoallw(Buffer, Counts, const MPI_Aint*, Types, Buffer, Counts,
                                 const MPI_Aint*, Types, MPI_Comm);
}  // namespace sent

}  // namespace fathom::profiler::calls
