// SPDX-License-Identifier: BSD-3-Clause
// MPI_Probe, MPI_Iprobe, MPI_Mprobe, MPI_Improbe with MPI_Recv, MPI_Irecv, MPI_Mrecv and
// MPI_Imrecv: a probe counts nothing, a matched receive counts once, whatever its length.
#include "../expect.h"

static const int sizes[] = {0, 8, 257, 5000, 100000};
enum { kForms = 6 };

static void receive(int form, char* buffer, int size, int source, int any) {
  MPI_Status status;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Request request;
  int from = any ? MPI_ANY_SOURCE : source, tag = any ? MPI_ANY_TAG : form, flag = 0, count;
  switch (form) {
    case 0:
      MPI_Probe(from, tag, MPI_COMM_WORLD, &status);
      MPI_Probe(from, tag, MPI_COMM_WORLD, &status);  // probing twice changes nothing
      break;
    case 1:
      while (!flag) MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, &status);
      break;
    case 2:
    case 3: MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, &status); break;
    default:
      while (!flag) MPI_Improbe(from, tag, MPI_COMM_WORLD, &flag, &message, &status);
      break;
  }
  MPI_Get_count(&status, MPI_BYTE, &count);
  require(count == size && status.MPI_SOURCE == source && status.MPI_TAG == form);
  switch (form) {
    case 0:
      MPI_Recv(buffer, size, MPI_BYTE, status.MPI_SOURCE, form, MPI_COMM_WORLD, &status);
      break;
    case 1:
      MPI_Irecv(buffer, size, MPI_BYTE, status.MPI_SOURCE, form, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, &status);
      break;
    case 2:
    case 4: MPI_Mrecv(buffer, size, MPI_BYTE, &message, &status); break;
    default:
      MPI_Imrecv(buffer, size + 1000, MPI_BYTE, &message, &request);  // posted larger than sent
      MPI_Wait(&request, &status);
      break;
  }
  MPI_Get_count(&status, MPI_BYTE, &count);
  require(count == size && status.MPI_SOURCE == source);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  static char out[101000], in[101000];
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int form = 0; form < kForms; form++)
      for (int any = 0; any < 2; any++)
        for (int repeat = 0; repeat < 3; repeat++) {
          unsigned key = s * 10u + (unsigned)form;
          MPI_Request request;
          fill(out, (size_t)sizes[s], key);
          MPI_Isend(out, sizes[s], MPI_BYTE, next, form, MPI_COMM_WORLD, &request);
          receive(form, in, sizes[s], previous, any);
          verify(in, (size_t)sizes[s], key);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
          expect_message(MPI_COMM_WORLD, next, sizes[s], 1);
        }
  // A probe that finds nothing.
  int flag;
  MPI_Message message;
  MPI_Iprobe(previous, 777, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  require(!flag);
  MPI_Improbe(previous, 777, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  require(!flag);
  report_ok("probe");
  MPI_Finalize();
  return 0;
}
