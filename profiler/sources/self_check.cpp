// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/sources/self_check.h"

#include <iterator>
#include <vector>

#include "mpi_functions.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/mpi.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/standard_abi.h"
#include "profiler/sources/chosen_source.h"
#include "profiler/sources/receive_requests.h"
#include "profiler/sources/unexpected_queue.h"

namespace fathom::profiler {
namespace {

constexpr int kTag = 7;
constexpr int kLargest = 70'000;
constexpr int kSizes[] = {0, 3, kLargest};  // empty, inline, beyond the eager limit
constexpr int kStarts = 2;                  // of the persistent pair, kSizes[1] bytes each

// Plus two of kSizes[1] bytes: one for a receive that is freed before it completes, and one for a
// receive that is waited for long after it has completed.
constexpr std::uint64_t kExpectedMessages = 3 + kStarts + 2;
constexpr std::uint64_t kExpectedBytes = 0 + 3 + kLargest + (kStarts + 2) * 3;

bool exchange(ProfiledProcess& process, MPI_Comm comm) {
  const auto byte = static_cast<MPI_Datatype>(predefined_handle("ompi_mpi_byte"));
  const auto isend = FATHOM_PMPI(MPI_Isend);
  const auto irecv = FATHOM_PMPI(MPI_Irecv);
  const auto waitall = FATHOM_PMPI(MPI_Waitall);
  const auto send_init = FATHOM_PMPI(MPI_Send_init);
  const auto recv_init = FATHOM_PMPI(MPI_Recv_init);
  const auto start = FATHOM_PMPI(MPI_Start);
  const auto free_request = FATHOM_PMPI(MPI_Request_free);
  if (byte == nullptr || !isend || !irecv || !waitall || !send_init || !recv_init || !start ||
      !free_request) {
    return false;
  }
  const int any_tag = FATHOM_OF_PROGRAM(MPI_ANY_TAG);
  std::vector<char> out(kLargest), in(kLargest);
  MPI_Request requests[2];
  int errors = 0;
  for (const int size : kSizes) {
    errors += irecv(in.data(), kLargest, byte, MPI_ANY_SOURCE, any_tag, comm, &requests[0]);
    errors += isend(out.data(), size, byte, 0, kTag, comm, &requests[1]);
    errors += waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  errors += recv_init(in.data(), kLargest, byte, 0, kTag, comm, &requests[0]);
  errors += send_init(out.data(), kSizes[1], byte, 0, kTag, comm, &requests[1]);
  for (int i = 0; i < kStarts; ++i) {
    errors += start(&requests[0]);
    errors += start(&requests[1]);
    errors += waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  errors += free_request(&requests[0]);
  errors += free_request(&requests[1]);
  errors += irecv(in.data(), kLargest, byte, MPI_ANY_SOURCE, kTag, comm, &requests[0]);
  request_freed(process, requests[0]);  // as the wrapper of MPI_Request_free does for the program
  errors += free_request(&requests[0]);
  errors += isend(out.data(), kSizes[1], byte, 0, kTag, comm, &requests[1]);
  errors += waitall(1, &requests[1], MPI_STATUSES_IGNORE);
  errors += irecv(in.data(), kLargest, byte, 0, kTag, comm, &requests[0]);
  errors += isend(out.data(), kSizes[1], byte, 0, kTag, comm, &requests[1]);
  errors += waitall(1, &requests[1], MPI_STATUSES_IGNORE);
  receive_requests::count_left();
  errors += waitall(1, &requests[0], MPI_STATUSES_IGNORE);
  return errors == 0;
}

// Whether the unexpected queue shows messages until they are received, and not after.
bool sees_waiting(MPI_Comm comm) {
  std::vector<WaitingMessage> found;
  if (!find_waiting_messages(comm, found) || !found.empty()) return false;
  const auto byte = static_cast<MPI_Datatype>(predefined_handle("ompi_mpi_byte"));
  const auto isend = FATHOM_PMPI(MPI_Isend);
  const auto irecv = FATHOM_PMPI(MPI_Irecv);
  const auto waitall = FATHOM_PMPI(MPI_Waitall);
  constexpr int kCount = std::size(kSizes);
  std::vector<char> out(kLargest), in(kLargest);
  MPI_Request requests[2 * kCount];
  int errors = 0;
  for (int i = 0; i < kCount; ++i) {
    errors += isend(out.data(), kSizes[i], byte, 0, kTag + i, comm, &requests[i]);
  }
  bool right = errors == 0 && find_waiting_messages(comm, found) && found.size() == kCount;
  for (int i = 0; right && i < kCount; ++i) {
    right = found[i].source == 0 && found[i].tag == kTag + i &&
            found[i].bytes == static_cast<std::uint64_t>(kSizes[i]);
  }
  for (int i = 0; errors == 0 && i < kCount; ++i) {
    errors += irecv(in.data(), kLargest, byte, 0, kTag + i, comm, &requests[kCount + i]);
  }
  if (errors != 0 || waitall(2 * kCount, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
    return false;
  }
  found.clear();
  return right && find_waiting_messages(comm, found) && found.empty();
}

struct Counted {
  std::uint64_t bytes = 0, messages = 0;
  std::uint32_t peer_job = 0, peer_rank = 0;

  bool right(const profile::RowsHeader& own) const {
    return peer_job == own.job && peer_rank == own.rank && bytes == kExpectedBytes &&
           messages == kExpectedMessages;
  }
};

Counted counted(const Counter& counter, profile::Direction direction) {
  Counted sum;
  counter.for_each_lane([&](const auto& cells, const auto&) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const profile::CellKey key = profile::unpack_cell_key(cells[i].key);
      if (key.direction != direction || key.class_id != kPointToPoint) continue;
      sum.bytes += cells[i].bytes;
      sum.messages += cells[i].messages;
      sum.peer_job = cells[i].peer_job;
      sum.peer_rank = cells[i].peer_rank;
    }
  });
  return sum;
}

std::string describe(const char* side, const Counted& sum) {
  return std::string(side) + " " + std::to_string(sum.messages) + " messages, " +
         std::to_string(sum.bytes) + " bytes";
}

}  // namespace

SelfCheck check_counting(ProfiledProcess& process, MPI_Comm self) {
  const auto duplicate = FATHOM_PMPI(MPI_Comm_dup);
  const auto free_comm = FATHOM_PMPI(MPI_Comm_free);
  SelfCheck result;
  MPI_Comm comm = nullptr;
  if (!duplicate || !free_comm || self == nullptr || duplicate(self, &comm) != MPI_SUCCESS) {
    result.detail = "a private communicator could not be made";
    return result;
  }
  const bool exchanged = exchange(process, comm);
  const auto sent = counted(process.counter(), profile::Direction::kSent);
  const auto received = counted(process.counter(), profile::Direction::kReceived);
  result.waiting = exchanged && sees_waiting(comm);
  const profile::RowsHeader& own = process.header();
  free_comm(&comm);
  process.counter().clear();
  process.registry().clear();
  if (!exchanged) {
    result.detail = "the process could not send messages to itself";
    return result;
  }
  result.sent = sent.right(own);
  result.received = received.right(own);
  if (!result.sent || !result.received) {
    result.detail = "of " + std::to_string(kExpectedMessages) + " known messages of " +
                    std::to_string(kExpectedBytes) + " bytes to the process itself, it counted " +
                    describe("sent", sent) + "; " + describe("received", received);
  }
  return result;
}

}  // namespace fathom::profiler
