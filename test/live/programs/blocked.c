// SPDX-License-Identifier: BSD-3-Clause
// Blocks in a way that FILE ends: usage: blocked WAY FILE
// Rank 3 does what the others wait for when FILE exists.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;

static void until(const char* file) {
  while (access(file, F_OK) != 0) usleep(1000);
}

static void receive(const char* file) {
  int number = 7;
  if (rank == 3) {
    until(file);
    MPI_Send(&number, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  } else if (rank == 0) {
    MPI_Recv(&number, 1, MPI_INT, 3, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // line: receive
  }
}

static void any(const char* file) {
  int number = 7;
  if (rank == 3) {
    until(file);
    MPI_Send(&number, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  } else if (rank == 0) {
    MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,  // line: any
             MPI_STATUS_IGNORE);
  }
}

static void synchronous(const char* file) {
  int number = 7;
  if (rank == 3) {
    until(file);
    MPI_Recv(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 0) {
    MPI_Ssend(&number, 1, MPI_INT, 3, 5, MPI_COMM_WORLD);  // line: synchronous
  }
}

static void waitall(const char* file) {
  int numbers[3] = {0};
  MPI_Request requests[3];
  if (rank == 3) {
    MPI_Send(numbers, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    until(file);
    MPI_Send(numbers, 2, MPI_INT, 0, 2, MPI_COMM_WORLD);
    MPI_Recv(numbers, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 0) {
    MPI_Irecv(&numbers[0], 1, MPI_INT, 3, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Irecv(&numbers[0], 2, MPI_INT, 3, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Issend(&numbers[2], 1, MPI_INT, 3, 3, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);  // line: waitall
  }
}

static void collective(const char* file) {
  int number = rank, sum;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_set_name(half, "half");
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, half);
  MPI_Bcast(&number, 1, MPI_INT, 0, half);
  if (rank == 3) until(file);
  MPI_Reduce(&number, &sum, 1, MPI_INT, MPI_SUM, 1, half);  // line: collective
  MPI_Barrier(half);
  MPI_Comm_free(&half);
}

// A child made by fork communicates as if it were the rank: its counts must not reach the rank's.
static void forked(const char* file) {
  int number = 7;
  const int peer = rank ^ 1;
  for (int i = 0; i < 3; ++i) {
    MPI_Sendrecv_replace(&number, 1, MPI_INT, peer, 1, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 1000; ++i) {  // to itself, which needs no other process
      MPI_Sendrecv_replace(&number, 1, MPI_INT, 0, 1, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    _exit(0);
  }
  waitpid(child, NULL, 0);
  if (rank == 3) until(file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[1], "receive") == 0) receive(argv[2]);
  if (strcmp(argv[1], "any") == 0) any(argv[2]);
  if (strcmp(argv[1], "synchronous") == 0) synchronous(argv[2]);
  if (strcmp(argv[1], "waitall") == 0) waitall(argv[2]);
  if (strcmp(argv[1], "collective") == 0) collective(argv[2]);
  if (strcmp(argv[1], "forked") == 0) forked(argv[2]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) puts("done");
  return 0;
}
