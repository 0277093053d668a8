// SPDX-License-Identifier: BSD-3-Clause
// Programs that have one problem each, named as fathom analyze names it:  findings KIND
//
// The examples of docs/findings.md are made with them (scripts/update_findings.py). Work is sleep,
// so that ranks do not take each other's processor.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kRounds = 20, kLong = 1 << 20, kTag = 1, kAnswer = 2 };

static int rank, size, value;
static char out[kLong], in[kLong];

static void work(int milliseconds) {
  struct timespec time = {0, 1000000L * milliseconds};
  nanosleep(&time, NULL);
}
static void send(int to, int bytes, int tag) {
  MPI_Send(out, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD);
}
static void receive(int from, int bytes, int tag) {
  MPI_Recv(in, bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// A step of a stencil: the border goes to both neighbours. Rank 3 has three times the work of the others.
static void load_imbalance(void) {
  for (int i = 0; i < kRounds; i++) {
    MPI_Request requests[4];
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL,
              right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    MPI_Irecv(in, 1000, MPI_CHAR, left, kTag, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + 1000, 1000, MPI_CHAR, right, kTag, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, 1000, MPI_CHAR, left, kTag, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out, 1000, MPI_CHAR, right, kTag, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    work(rank == 3 ? 15 : 5);
  }
}

// Each time another rank has more work; in the end all had as much.
static void delay(void) {
  for (int i = 0; i < kRounds; i++) {
    work(i % size == rank ? 10 : 2);
    MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

// Rank 0 adds up two long arrays in MPI.
static void slow_call(void) {
  const int count = 8 << 20;
  int* a = calloc((size_t)count, sizeof(int));
  int* b = calloc((size_t)count, sizeof(int));
  for (int i = 0; i < kRounds; i++) {
    if (rank == 0) MPI_Reduce_local(a, b, count, MPI_INT, MPI_SUM);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  free(a), free(b);
}

// Each worker asks rank 0 for tasks, one after the other: to answer and to work take so long.
static void tasks(int answer, int task) {
  if (rank > 0) {
    for (int i = 0; i < kRounds; i++) {
      send(0, 8, kTag);
      receive(0, 8, kAnswer);
      work(task);
    }
    return;
  }
  for (int i = 0; i < kRounds * (size - 1); i++) {
    MPI_Status asked;
    MPI_Recv(in, 8, MPI_CHAR, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &asked);
    work(answer);
    send(asked.MPI_SOURCE, 8, kAnswer);
  }
}
static void busy_master(void) { tasks(4, 2); }
static void idle_master(void) { tasks(0, 10); }

static void start_up(void) { MPI_Barrier(MPI_COMM_WORLD); }

// Rank 0 to rank 1: short messages and long ones.
static void messages(int count, int bytes, int long_count) {
  for (int i = 0; i < count + long_count; i++) {
    if (rank == 0) send(1, i < count ? bytes : kLong, kTag);
    if (rank == 1) receive(0, i < count ? bytes : kLong, kTag);
  }
}
static void small_message_pressure(void) { messages(3000, 8, 20); }
static void small_message_overhead(void) { messages(3000, 1000, 2); }

// Two of the ranks send and receive nearly everything.
static void rank_traffic_imbalance(void) {
  for (int i = 0; i < kRounds && rank < 2; i++)
    MPI_Sendrecv(out, kLong, MPI_CHAR, 1 - rank, kTag, in, kLong, MPI_CHAR, 1 - rank, kTag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void communication_imbalance(void) {
  for (int i = 0; i < kRounds * (rank == 0 ? size - 1 : 1); i++) {
    if (rank > 0) send(0, kLong, kTag);
    if (rank == 0) receive(MPI_ANY_SOURCE, kLong, kTag);
  }
}
static void collective_root_bottleneck(void) {
  char* all = malloc((size_t)size * kLong);
  for (int i = 0; i < kRounds; i++)
    MPI_Gather(out, kLong, MPI_CHAR, all, kLong, MPI_CHAR, 0, MPI_COMM_WORLD);
  free(all);
}
// A ring in which one link carries most.
static void link_hotspot(void) {
  for (int i = 0; i < kRounds; i++) {
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Sendrecv(out, rank == 2 ? kLong : kLong / 8, MPI_CHAR, right, kTag, in, kLong, MPI_CHAR,
                 left, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
static void synchronization_heavy(void) {
  for (int i = 0; i < 50 * kRounds; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (i % 10 == 0) MPI_Bcast(out, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
  }
}
static void global_collective_heavy(void) {
  for (int i = 0; i < kRounds; i++)
    MPI_Alltoall(out, kLong / 16, MPI_CHAR, in, kLong / 16, MPI_CHAR, MPI_COMM_WORLD);
}

static void late_sender(void) {
  for (int i = 0; i < kRounds; i++) {
    if (rank == 1) work(5), send(0, 8, kTag);
    if (rank == 0) receive(1, 8, kTag);
  }
}
static void late_receiver(void) {
  for (int i = 0; i < kRounds; i++) {
    if (rank == 1) send(0, kLong, kTag);
    if (rank == 0) work(5), receive(1, kLong, kTag);
  }
}
static void late_broadcaster(void) {
  for (int i = 0; i < kRounds; i++) {
    if (rank == 0) work(5);
    MPI_Bcast(out, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
  }
}
static void early_reduce_arrival(void) {
  for (int i = 0; i < kRounds; i++) {
    if (rank == 0) work(5);
    MPI_Reduce(&rank, &value, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
static void last_at_barriers(void) {
  for (int i = 0; i < kRounds; i++) {
    if (rank == 2) work(5);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
static void completion_overhead(void) {
  for (int i = 0; i < 100 * kRounds && rank < 2; i++) {
    MPI_Request requests[2];
    MPI_Irecv(in, 8, MPI_CHAR, 1 - rank, kTag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 8, MPI_CHAR, 1 - rank, kTag, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"load-imbalance", load_imbalance},
             {"delay", delay},
             {"slow-call", slow_call},
             {"busy-master", busy_master},
             {"idle-master", idle_master},
             {"start-up", start_up},
             {"small-message-pressure", small_message_pressure},
             {"small-message-overhead", small_message_overhead},
             {"rank-traffic-imbalance", rank_traffic_imbalance},
             {"communication-imbalance", communication_imbalance},
             {"collective-root-bottleneck", collective_root_bottleneck},
             {"link-hotspot", link_hotspot},
             {"synchronization-heavy", synchronization_heavy},
             {"global-collective-heavy", global_collective_heavy},
             {"late-sender", late_sender},
             {"late-receiver", late_receiver},
             {"late-broadcaster", late_broadcaster},
             {"early-reduce-arrival", early_reduce_arrival},
             {"barrier-arrival-skew", last_at_barriers},
             {"barrier-imbalance", last_at_barriers},
             {"completion-overhead", completion_overhead}};

int main(int argc, char** argv) {
  int found = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (unsigned i = 0; argc == 2 && i < sizeof cases / sizeof cases[0]; i++) {
    if (strcmp(cases[i].name, argv[1]) != 0) continue;
    found = 1;
    if (strcmp(argv[1], "start-up") != 0) MPI_Barrier(MPI_COMM_WORLD);
    cases[i].run();
  }
  MPI_Finalize();
  return found ? 0 : 2;
}
