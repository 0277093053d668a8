// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 waits, and then tests in vain, until rank 1 sends a message that is too long, and the error handler throws
// an exception out of the call: for timed_calls.py, which looks for the calls that come after it.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

struct Error {};

void throw_error(MPI_Comm*, int*, ...) { throw Error{}; }

bool throws(int rank, bool tests) {
  char in = 0;
  const char out[4] = {};
  if (rank == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    MPI_Send(out, 4, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  }
  if (rank != 0) return true;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
  try {
    int found = 0, index;
    if (!tests) MPI_Wait(&request, MPI_STATUS_IGNORE);
    while (found == 0) MPI_Testany(1, &request, &index, &found, MPI_STATUS_IGNORE);
  } catch (const Error&) {
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(throw_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  for (const bool tests : {false, true}) {
    const bool has_thrown = throws(rank, tests);
    if (rank == 0) std::printf("%s\n", has_thrown ? "thrown" : "no error");
  }
  for (int i = 0; i < 5; i++) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return 0;
}
