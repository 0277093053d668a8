// SPDX-License-Identifier: BSD-3-Clause
// Every way to complete requests: Wait, Waitany, Waitsome, Waitall, Test, Testany, Testsome,
// Testall, Request_get_status; each message counts once however it is completed, and statuses are
// the truth.
#include "../expect.h"

enum { kRequests = 12, kForms = 9 };

static int size_of(int i) { return i % 4 == 0 ? 0 : i * 900; }  // 0 to 9,900 bytes

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  static char out[kRequests][10000], in[kRequests][10000];
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  for (int form = 0; form < kForms; form++) {
    MPI_Request requests[2 * kRequests];
    int done = 0, indices[2 * kRequests], count, index, flag;
    for (int i = 0; i < kRequests; i++)
      MPI_Irecv(in[i], 10000, MPI_BYTE, form % 2 ? MPI_ANY_SOURCE : previous, i, MPI_COMM_WORLD,
                &requests[i]);
    for (int i = 0; i < kRequests; i++) {
      fill(out[i], (size_t)size_of(i), (unsigned)i);
      MPI_Isend(out[i], size_of(i), MPI_BYTE, next, i, MPI_COMM_WORLD, &requests[kRequests + i]);
      expect_message(MPI_COMM_WORLD, next, size_of(i), 1);
    }
    switch (form) {
      case 0:
        for (int i = 0; i < 2 * kRequests; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        break;
      case 1:
        for (; done < 2 * kRequests; done++)
          MPI_Waitany(2 * kRequests, requests, &index, MPI_STATUS_IGNORE);
        break;
      case 2:
        while (done < 2 * kRequests) {
          MPI_Waitsome(2 * kRequests, requests, &count, indices, MPI_STATUSES_IGNORE);
          done += count;
        }
        break;
      case 3: MPI_Waitall(2 * kRequests, requests, MPI_STATUSES_IGNORE); break;
      case 4:
        for (int i = 0; i < 2 * kRequests; i++)
          for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        break;
      case 5:
        while (done < 2 * kRequests) {
          MPI_Testany(2 * kRequests, requests, &index, &flag, MPI_STATUS_IGNORE);
          done += flag && index != MPI_UNDEFINED;
        }
        break;
      case 6:
        while (done < 2 * kRequests) {
          MPI_Testsome(2 * kRequests, requests, &count, indices, MPI_STATUSES_IGNORE);
          done += count;
        }
        break;
      case 7:
        for (flag = 0; !flag;) MPI_Testall(2 * kRequests, requests, &flag, MPI_STATUSES_IGNORE);
        break;
      default:
        for (int i = 0; i < 2 * kRequests; i++) {
          for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
          MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
          MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
        break;
    }
    for (int i = 0; i < kRequests; i++) verify(in[i], (size_t)size_of(i), (unsigned)i);
  }
  report_ok("completion");
  MPI_Finalize();
  return 0;
}
