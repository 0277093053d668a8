// SPDX-License-Identifier: BSD-3-Clause
// Fills queues of known lengths, and stays so until FILE.empty exists; then empties them, and stays so until FILE.end.
//
// usage: queues FILE, with 4 ranks. At rank 0, 12 messages of rank 3 and 1 of rank 2 (a rendezvous) wait on
// MPI_COMM_WORLD, and 4 of rank 3 on a duplicate. Rank 1 has posted 5 receives from rank 2 and 3 from any rank on
// MPI_COMM_WORLD, and 2 from rank 0 on the duplicate. Nobody else has anything. Each rank writes to FILE.full-RANK, and
// later to FILE.empty-RANK, what MPI_T says: unexpected messages, and posted receives from one rank.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  kOnWorld = 12,
  kOnDuplicate = 4,
  kFromTwo = 5,
  kFromAny = 3,
  kFromZero = 2,
  kLarge = 1 << 20
};

static MPI_Comm communicators[2];
static int rank;

static void until(const char* file, const char* what) {
  char name[4096];
  snprintf(name, sizeof name, "%s.%s", file, what);
  while (access(name, F_OK) != 0) usleep(1000);
}

// Of all peers on both communicators; -1 if there is no such variable.
static long sum_of(const char* variable) {
  long sum = -1;
  int count = 0;
  MPI_T_pvar_get_num(&count);
  for (int i = 0; i < count; ++i) {
    char name[256];
    int length = sizeof name, verbosity, class_of, bind, readonly, continuous, atomic, values = 0;
    MPI_Datatype type;
    if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class_of, &type, NULL, NULL, NULL, &bind,
                            &readonly, &continuous, &atomic) != MPI_SUCCESS ||
        strcmp(name, variable) != 0)
      continue;
    sum = 0;
    for (int c = 0; c < 2; ++c) {
      MPI_T_pvar_session session;
      MPI_T_pvar_handle handle;
      unsigned long read[64] = {0};
      MPI_T_pvar_session_create(&session);
      if (MPI_T_pvar_handle_alloc(session, i, &communicators[c], &handle, &values) != MPI_SUCCESS)
        return -1;
      MPI_T_pvar_read(session, handle, read);
      for (int j = 0; j < values; ++j)
        sum += type == MPI_UNSIGNED ? (long)((unsigned*)read)[j] : (long)read[j];
      MPI_T_pvar_handle_free(session, &handle);
      MPI_T_pvar_session_free(&session);
    }
  }
  return sum;
}

static void say(const char* file, const char* state) {
  char name[4096], whole[4096];
  snprintf(name, sizeof name, "%s.new-%d", file, rank);
  FILE* out = fopen(name, "w");
  fprintf(out, "%ld %ld\n", sum_of("pml_ob1_unexpected_msgq_length"),
          sum_of("pml_ob1_posted_recvq_length"));
  fclose(out);
  snprintf(whole, sizeof whole, "%s.%s-%d", file, state, rank);
  rename(name, whole);
}

// Until this message has arrived, and with it all that its sender has sent before.
static void arrived(int source, int tag, MPI_Comm communicator) {
  for (int flag = 0; !flag;) MPI_Iprobe(source, tag, communicator, &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int level;
  static char large[kLarge];
  int numbers[kOnWorld] = {0}, posted[kFromTwo + kFromAny + kFromZero];
  MPI_Request requests[kFromTwo + kFromAny + kFromZero];
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  const MPI_Comm world = communicators[0] = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_dup(world, &communicators[1]);
  const MPI_Comm duplicate = communicators[1];
  MPI_Barrier(world);
  if (rank == 0) {
    arrived(3, kOnWorld - 1, world);
    arrived(2, 50, world);
    arrived(3, kOnDuplicate - 1, duplicate);
  } else if (rank == 1) {
    int next = 0;
    for (int i = 0; i < kFromTwo; ++i, ++next)
      MPI_Irecv(&posted[next], 1, MPI_INT, 2, i, world, &requests[next]);
    for (int i = 0; i < kFromAny; ++i, ++next)
      MPI_Irecv(&posted[next], 1, MPI_INT, MPI_ANY_SOURCE, 100, world, &requests[next]);
    for (int i = 0; i < kFromZero; ++i, ++next)
      MPI_Irecv(&posted[next], 1, MPI_INT, 0, i, duplicate, &requests[next]);
  } else if (rank == 2) {
    MPI_Isend(large, kLarge, MPI_CHAR, 0, 50, world, &requests[0]);
  } else {
    for (int i = 0; i < kOnWorld; ++i) MPI_Send(&numbers[i], 1, MPI_INT, 0, i, world);
    for (int i = 0; i < kOnDuplicate; ++i) MPI_Send(&numbers[i], 1, MPI_INT, 0, i, duplicate);
  }
  say(argv[1], "full");
  until(argv[1], "empty");
  if (rank == 0) {
    for (int i = 0; i < kFromZero; ++i) MPI_Send(&numbers[i], 1, MPI_INT, 1, i, duplicate);
    for (int i = 0; i < kOnWorld; ++i)
      MPI_Recv(&numbers[i], 1, MPI_INT, 3, i, world, MPI_STATUS_IGNORE);
    MPI_Recv(large, kLarge, MPI_CHAR, 2, 50, world, MPI_STATUS_IGNORE);
    for (int i = 0; i < kOnDuplicate; ++i)
      MPI_Recv(&numbers[i], 1, MPI_INT, 3, i, duplicate, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Waitall(kFromTwo + kFromAny + kFromZero, requests, MPI_STATUSES_IGNORE);
  } else if (rank == 2) {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < kFromTwo; ++i) MPI_Send(&numbers[i], 1, MPI_INT, 1, i, world);
    for (int i = 0; i < kFromAny; ++i) MPI_Send(&numbers[i], 1, MPI_INT, 1, 100, world);
  }
  say(argv[1], "empty");
  until(argv[1], "end");
  MPI_Comm_free(&communicators[1]);
  MPI_T_finalize();
  MPI_Finalize();
  if (rank == 0) puts("done");
  return 0;
}
