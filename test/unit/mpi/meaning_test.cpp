// SPDX-License-Identifier: BSD-3-Clause
// mpi/meaning.h: the row of each MPI function, and names that are not MPI functions.
#include <doctest/doctest.h>

#include <string>

#include "mpi/function_rows.h"
#include "mpi/meaning.h"
#include "mpi/traced_waits.h"

namespace fathom::mpi {
namespace {

TEST_CASE("every row is found by its name, in any case") {
  for (std::size_t i = 0; i < kFunctionRowCount; ++i) {
    const FunctionRow& row = kFunctionRows[i];
    CAPTURE(row.name);
    CHECK(static_cast<std::size_t>(row.id) == i);
    CHECK(find(row.name) == row.id);
    CHECK(name_of(row.id) == row.name);
    std::string upper(row.name);
    for (char& letter : upper)
      letter = static_cast<char>(letter & ~(letter >= 'a' && letter <= 'z' ? 0x20 : 0));
    CHECK(find(upper) == row.id);
  }
}

TEST_CASE("names that are not MPI functions have no meaning") {
  for (const char* name :
       {"", "main", "Bcast", "MPI_", "MPI_Bcastle", "PMPI_Bcast", "MPI_COMM_WORLD"}) {
    CAPTURE(name);
    CHECK_FALSE(find(name));
    CHECK(meaning_of(name).group == Group::kOther);
    CHECK_FALSE(meaning_of(name).in_sequence());
  }
  CHECK_FALSE(find(std::string(1000, 'x')));
}

TEST_CASE("the three forms of a collective share one operation") {
  for (const char* name : {"MPI_Reduce_scatter_block", "MPI_Ireduce_scatter_block",
                           "MPI_Reduce_scatter_block_init", "MPIX_Reduce_scatter_block_init"}) {
    CHECK(meaning_of(name).collective == Collective::kReduceScatterBlock);
    CHECK(meaning_of(name).group == Group::kCollective);
  }
  CHECK(meaning_of("MPI_Bcast").requests == Requests::kNone);
  CHECK(meaning_of("MPI_Ibcast").nonblocking());
  CHECK(meaning_of("MPI_Bcast_init").persistent());
  CHECK(meaning_of("MPI_Bcast").in_sequence());
  CHECK(meaning_of("MPI_Ibcast").in_sequence());
  CHECK_FALSE(meaning_of("MPI_Bcast_init").in_sequence());
}

TEST_CASE("the form for large counts means what the other form means") {
  CHECK(name_of(find("MPI_Send_c").value()) == "MPI_Send_c");
  CHECK(meaning_of("MPI_Isend_c").nonblocking());
  CHECK(meaning_of("MPI_Ialltoallv_c").collective == Collective::kAlltoallv);
  CHECK(meaning_of("MPI_Bcast_init_c").persistent());
  CHECK(meaning_of("MPI_File_read_c").file == FileAccess::kRead);
  CHECK(name_of(Collective::kAllreduce) == "MPI_Allreduce");
}

TEST_CASE("the operation determines who waits for whom") {
  CHECK(meaning_of("MPI_Iscatterv").flow == Flow::kFromRoot);
  CHECK(meaning_of("MPI_Gather").flow == Flow::kToRoot);
  CHECK(meaning_of("MPI_Exscan").flow == Flow::kPrefix);
  CHECK(meaning_of("MPI_Ibarrier").flow == Flow::kBarrier);
  CHECK(meaning_of("MPI_Comm_split").flow == Flow::kAllToAll);
  CHECK(meaning_of("MPI_Neighbor_alltoall").flow == Flow::kNone);
  CHECK(is_neighborhood(meaning_of("MPI_Ineighbor_alltoallw").collective));
  CHECK_FALSE(is_neighborhood(Collective::kScatterv));
}

TEST_CASE("a collective call has its place in the sequence of what brings its callers together") {
  CHECK(meaning_of("MPI_Ialltoall").sequence == Sequence::kCommunicator);
  CHECK(meaning_of("MPI_Win_allocate").sequence == Sequence::kCommunicator);
  CHECK(meaning_of("MPI_File_open").sequence == Sequence::kCommunicator);
  CHECK(meaning_of("MPI_Intercomm_merge").sequence == Sequence::kCommunicator);
  CHECK(meaning_of("MPI_Win_fence").sequence == Sequence::kWindow);
  CHECK(meaning_of("MPI_File_write_at_all_c").sequence == Sequence::kFile);
  CHECK(meaning_of("MPI_File_write_at").sequence == Sequence::kNone);
  CHECK(meaning_of("MPI_Comm_create_group").sequence == Sequence::kNewCommunicator);
  CHECK(meaning_of("MPI_Finalize").sequence == Sequence::kJob);
  CHECK(meaning_of("MPI_Allreduce_init").sequence == Sequence::kNone);
  CHECK(meaning_of("MPI_Win_fence").flow == Flow::kAllToAll);
  CHECK(meaning_of("MPI_File_close").frees_object);
  CHECK(meaning_of("MPI_Improbe").takes_message);
  CHECK_FALSE(meaning_of("MPI_Iprobe").takes_message);
}

TEST_CASE("each call's effect on requests is known") {
  CHECK(meaning_of("MPI_Isend").requests == Requests::kMakesAndStarts);
  CHECK(meaning_of("MPI_Ssend_init").requests == Requests::kMakes);
  CHECK(meaning_of("MPI_Startall").requests == Requests::kStarts);
  CHECK(meaning_of("MPI_Request_free").requests == Requests::kFrees);
  CHECK(meaning_of("MPI_Rget").requests == Requests::kMakesAndStarts);
  CHECK(meaning_of("MPI_Send").requests == Requests::kNone);
  CHECK(meaning_of("MPI_Waitall").completes == Completes::kAll);
  CHECK(meaning_of("MPI_Waitsome").completes == Completes::kSome);
  CHECK(meaning_of("MPI_Testany").completes == Completes::kSome);
  CHECK(meaning_of("MPI_Testany").tests());
  CHECK(meaning_of("MPI_Iprobe").polls);
  CHECK_FALSE(meaning_of("MPI_Iprobe").tests());
  CHECK(meaning_of("MPI_Test_cancelled").completes == Completes::kNothing);
}

TEST_CASE("what only a trace shows is known by function") {
  for (const char* name :
       {"MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait", "MPI_Win_test", "MPI_Win_lock",
        "MPI_Win_lock_all", "MPI_Win_unlock", "MPI_Win_unlock_all", "MPI_Psend_init",
        "MPI_Precv_init", "MPI_Parrived", "MPI_File_iwrite_all", "MPI_File_iread_at_all"})
    CHECK_MESSAGE(waits_only_in_traces(meaning_of(name)), name);
  for (const char* name :
       {"MPI_Recv", "MPI_Wait", "MPI_Testsome", "MPI_Iprobe", "MPI_Improbe", "MPI_Barrier",
        "MPI_Neighbor_alltoall", "MPI_Ineighbor_allgather", "MPI_Neighbor_alltoallw_init",
        "MPI_Request_get_status", "MPI_Request_get_status_some", "MPI_Win_post", "MPI_Win_fence",
        "MPI_Allreduce_init", "MPI_Send_init", "MPI_File_write_all", "MPI_Comm_split",
        "MPI_Intercomm_create", "MPI_Comm_create_group"})
    CHECK_MESSAGE(!waits_only_in_traces(meaning_of(name)), name);
}

TEST_CASE("a call that makes, starts or frees a request waits for nobody") {
  for (const char* name : {"MPI_Irecv", "MPI_Isend", "MPI_Ibarrier", "MPI_Recv_init",
                           "MPI_Startall", "MPI_Request_free", "MPI_Rput"})
    CHECK(meaning_of(name).immediate);
  for (const char* name : {"MPI_Recv", "MPI_Wait", "MPI_Barrier", "MPI_Sendrecv"})
    CHECK(!meaning_of(name).immediate);
}

TEST_CASE("windows, topologies and the ends of the job are known") {
  CHECK(meaning_of("MPI_Rput").window == WindowAccess::kPut);
  CHECK(meaning_of("MPI_Fetch_and_op").window == WindowAccess::kAtomic);
  CHECK(meaning_of("MPI_Win_create_dynamic").window == WindowAccess::kCreate);
  CHECK(meaning_of("MPI_Cart_sub").cartesian);
  CHECK(meaning_of("MPI_Issend").synchronous);
  CHECK(meaning_of("MPI_Init_thread").begins_job);
  CHECK_FALSE(meaning_of("MPI_Initialized").begins_job);
  CHECK(meaning_of("MPI_Finalize").ends_job);
}

TEST_CASE("tags of blocking collectives are those of ompi/mca/coll/base/coll_tags.h") {
  CHECK(collective_of_tag(-10) == Collective::kAllgather);
  CHECK(collective_of_tag(-16) == Collective::kBarrier);
  CHECK(collective_of_tag(-17) == Collective::kBcast);
  CHECK(collective_of_tag(-26) == Collective::kScatterv);
  CHECK(collective_of_tag(-27) == Collective::kNone);
  CHECK(collective_of_tag(-9) == Collective::kNone);
  CHECK(collective_of_tag(5) == Collective::kNone);
  CHECK(name_of(collective_of_tag(-22)) == "MPI_Reduce_scatter");
  CHECK(name_of(Collective::kNone).empty());
}

}  // namespace
}  // namespace fathom::mpi
