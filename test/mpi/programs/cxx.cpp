// SPDX-License-Identifier: BSD-3-Clause
// C++: the C functions called from C++ objects, and the MPI:: bindings that Open MPI 4.1 still has.
#include <string>
#include <vector>

#include "../expect.h"

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  expect_start();
  expect_may("library");
  const int next = (world_rank + 1) % world_size,
            previous = (world_rank + world_size - 1) % world_size;

  std::vector<double> out(500, world_rank), in(500);
  MPI_Sendrecv(out.data(), 500, MPI_DOUBLE, next, 0, in.data(), 500, MPI_DOUBLE, previous, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect_message(MPI_COMM_WORLD, next, 4000, 1);
  require(in[499] == previous);

  std::string text(77, 'x');
  MPI::Request request = MPI::COMM_WORLD.Isend(text.data(), 77, MPI::CHAR, next, 1);
  std::string heard(1000, ' ');
  MPI::Status status;
  MPI::COMM_WORLD.Recv(heard.data(), 1000, MPI::CHAR, MPI::ANY_SOURCE, MPI::ANY_TAG, status);
  require(status.Get_source() == previous && status.Get_count(MPI::CHAR) == 77);
  request.Wait();
  expect_message(MPI_COMM_WORLD, next, 77, 1);

  MPI::Intracomm dup = MPI::COMM_WORLD.Dup();
  expect_label(dup, "MPI_Comm_dup");
  dup.Send(text.data(), 5, MPI::CHAR, next, 2);
  dup.Recv(heard.data(), 5, MPI::CHAR, previous, 2);
  expect_message(dup, next, 5, 1);
  MPI::Intracomm split = MPI::COMM_WORLD.Split(world_rank % 2, -world_rank);
  expect_label(split, "MPI_Comm_split");
  int rank = split.Get_rank(), size = split.Get_size(), sum = 0;
  MPI::Prequest persistent = split.Send_init(text.data(), 50, MPI::CHAR, (rank + 1) % size, 3);
  for (int i = 0; i < 3; i++) {
    persistent.Start();
    split.Recv(heard.data(), 50, MPI::CHAR, (rank + size - 1) % size, 3);
    persistent.Wait();
  }
  persistent.Free();
  expect_message(split, (rank + 1) % size, 50, 3);
  dup.Allreduce(&rank, &sum, 1, MPI::INT, MPI::SUM);
  expect_collective("MPI_Allreduce", dup, kAllreduce, 0, sizeof(int), 1);
  dup.Barrier();
  expect_collective("MPI_Barrier", dup, kBarrier, 0, 0, 1);
  split.Free();
  dup.Free();
  report_ok("cxx");
  MPI::Finalize();
  return 0;
}
