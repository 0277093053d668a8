// SPDX-License-Identifier: BSD-3-Clause
// Programs that hang, each for one reason, and programs that are only slow. usage: hangs MODE, on 4 ranks.
// Each ends by itself after two minutes.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kLarge = 1 << 22 };  // bytes: far above any eager limit

static int rank, size;
static char buffer[kLarge], other[kLarge];

static double now(void) { return MPI_Wtime(); }

static void compute(double seconds) {
  volatile double sum = 0;
  for (double until = now() + seconds; now() < until;) {
    for (int i = 0; i < 1000000; ++i) sum = sum + i;
  }
}

static void receive(int from, int tag) {
  MPI_Recv(buffer, 8, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void sends(int to, int tag) { MPI_Send(buffer, 8, MPI_CHAR, to, tag, MPI_COMM_WORLD); }

static void sends_much(int to, int tag) {
  MPI_Send(buffer, kLarge, MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

// ---- programs that hang

static void cycle_of_receives(void) {
  if (rank < 2) receive(1 - rank, 5);
  barrier();
}

static void ring_of_receives(void) {
  receive((rank + size - 1) % size, 5);
  sends((rank + 1) % size, 5);
}

static void ring_of_sends(void) {
  sends_much((rank + 1) % size, 5);
  MPI_Recv(other, kLarge, MPI_CHAR, (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void synchronous_sends(void) {
  if (rank < 2) MPI_Ssend(buffer, 1, MPI_CHAR, 1 - rank, 5, MPI_COMM_WORLD);
  barrier();
}

static void send_and_receives(void) {
  if (rank == 0) sends_much(1, 8);
  if (rank == 1) receive(2, 7);
  if (rank == 2) receive(0, 9);
  barrier();
}

static void receive_in_place_of_barrier(void) {
  if (rank == 3) receive(0, 7);
  barrier();
}

static void finalize_in_place_of_barrier(void) {
  if (rank != 3) barrier();
}

static void wait_in_place_of_allreduce(void) {
  int one = 1, sum;
  if (rank == 2) {
    MPI_Request request;
    MPI_Irecv(buffer, 8, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void gather_without_one(void) {
  int one = rank, all[64];
  if (rank == 1) receive(0, 7);
  MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  barrier();
}

static void barrier_or_allreduce(void) {
  int one = 1, sum;
  if (rank == 3)
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  else
    barrier();
  barrier();
}

static void bcast_or_reduce(void) {
  if (rank == 3)
    MPI_Reduce(buffer, other, kLarge, MPI_CHAR, MPI_SUM, 0, MPI_COMM_WORLD);
  else
    MPI_Bcast(buffer, kLarge, MPI_CHAR, 3, MPI_COMM_WORLD);
}

static void different_roots(void) {
  MPI_Reduce(buffer, other, kLarge, MPI_CHAR, MPI_MAX, rank == 2, MPI_COMM_WORLD);
}

static void wrong_tag(void) {
  if (rank == 0) sends(1, 8);
  if (rank == 1) receive(0, 7);
  barrier();
}

static void wrong_tag_rendezvous(void) {
  if (rank == 0) sends_much(1, 8);
  if (rank == 1) receive(0, 7);
}

static void wrong_communicator(void) {
  MPI_Comm solver;
  MPI_Comm_dup(MPI_COMM_WORLD, &solver);
  MPI_Comm_set_name(solver, "solver");
  if (rank == 0) MPI_Send(buffer, 8, MPI_CHAR, 1, 7, solver);
  if (rank == 1) receive(0, 7);
  barrier();
}

static void wrong_rank(void) {
  if (rank == 0) sends(2, 7);
  if (rank == 1) receive(0, 7);
  barrier();
}

static void stopped(void) {
  if (rank == 3) raise(SIGSTOP);
  barrier();
}

static void gone(void) {
  sleep(3);  // so that those that watch have seen it
  if (rank == 3) raise(SIGKILL);
  barrier();
}

static void order_of_communicators(void) {
  MPI_Comm one, two;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(MPI_COMM_WORLD, &two);
  MPI_Barrier(rank == 0 ? two : one);
  MPI_Barrier(rank == 0 ? one : two);
}

static void part_and_whole(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
  if (rank != 3) MPI_Barrier(half);
  barrier();
}

static void any_source(void) {
  if (rank == 0) receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
  barrier();
}

static void waitall(void) {
  MPI_Request requests[2];
  if (rank == 0) {
    MPI_Irecv(buffer, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(other, 8, MPI_CHAR, 2, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  if (rank == 1) sends(0, 1);
  barrier();
}

static void waitany(void) {
  MPI_Request requests[2];
  int which;
  if (rank == 0) {
    MPI_Irecv(buffer, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(other, 8, MPI_CHAR, 2, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
  } else {
    receive(0, 4);
  }
}

static void probe(void) {
  if (rank == 3) MPI_Probe(2, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  barrier();
}

static void polling(void) {
  if (rank == 3) {
    MPI_Request request;
    MPI_Irecv(buffer, 8, MPI_CHAR, 2, 6, MPI_COMM_WORLD, &request);
    for (int done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  barrier();
}

static void asking_for_status(void) {
  if (rank == 3) {
    MPI_Request request;
    MPI_Irecv(buffer, 8, MPI_CHAR, 2, 6, MPI_COMM_WORLD, &request);
    for (int done = 0; !done;) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
  }
  barrier();
}

static void probing(void) {
  for (int found = 0; rank == 3 && !found;)
    MPI_Iprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  barrier();
}

static void testing_all(void) {
  if (rank >= 2) {
    MPI_Request requests[2];
    for (int i = 0; i < 2; ++i)
      MPI_Irecv(buffer, 8, MPI_CHAR, 5 - rank, i, MPI_COMM_WORLD, &requests[i]);
    for (int done = 0; !done;) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
  }
  barrier();
}

static void polling_for_two(void) {  // one of them will come
  if (rank == 2) compute(60);
  if (rank == 3) {
    MPI_Request requests[2];
    MPI_Irecv(buffer, 8, MPI_CHAR, 0, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(buffer, 8, MPI_CHAR, 2, 6, MPI_COMM_WORLD, &requests[1]);
    for (int done = 0; !done;)
      for (int i = 0; i < 2 && !done; ++i) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
  }
  barrier();
}

static void polling_with_sleeps(void) {  // it may wait for something else
  for (int found = 0; rank == 3 && !found; usleep(10000))
    MPI_Iprobe(0, 6, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  barrier();
}

static void ibarrier(void) {
  MPI_Request request;
  if (rank == 3) receive(0, 7);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void sendrecv(void) {  // each waits for its left neighbour and sends to it, too
  const int left = (rank + size - 1) % size;
  MPI_Sendrecv(buffer, 8, MPI_CHAR, left, 5, other, 8, MPI_CHAR, left, 5, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void oneself(void) {
  if (rank == 2) receive(2, 7);
  barrier();
}

static void send_to_one_that_finalizes(void) {
  if (rank == 0) MPI_Ssend(buffer, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
}

// Each member chooses the algorithm by its own size: rank 3 exchanges, the others pass blocks around a ring.
static void sizes_of_allreduce(void) {
  MPI_Allreduce(buffer, other, rank == 3 ? 8 : 4, MPI_SHORT, MPI_SUM, MPI_COMM_WORLD);
}

// The root sends in another pattern than that by which the others receive, and waits for one of them.
static void sizes_of_bcast(void) {
  MPI_Bcast(buffer, rank == 0 ? 100000 : kLarge, MPI_CHAR, 0, MPI_COMM_WORLD);
  barrier();
}

// Rank 3 expects something from rank 0, which sends it nothing.
static void counts_of_alltoallv(void) {
  int sent[4] = {8, 8, 8, 8}, received[4] = {8, 8, 8, 8}, places[4] = {0, 8, 16, 24};
  if (rank == 0) sent[3] = 0;
  MPI_Alltoallv(buffer, sent, places, MPI_CHAR, other, received, places, MPI_CHAR, MPI_COMM_WORLD);
  barrier();
}

// The root expects two pieces of each, and rank 3 sends its block in one.
static void sizes_of_gather(void) {
  const int bytes = rank == 3 ? 20000 : 200000;
  MPI_Gather(buffer, bytes, MPI_CHAR, other, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  barrier();
}

// Rank 3 sends one piece of the segments for which rank 2 waits.
static void sizes_of_reduce(void) {
  MPI_Reduce(buffer, other, rank == 3 ? 1000 : 1000000, MPI_CHAR, MPI_MAX, 0, MPI_COMM_WORLD);
  barrier();
}

// The same algorithm everywhere: Open MPI notices.
static void truncated(void) {
  double in[4] = {1, 2, 3, 4}, out[4];
  MPI_Allreduce(in, out, rank == 3 ? 4 : 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

// ---- programs that are slow

static void slow_rank(void) {
  if (rank == 3) compute(20);
  barrier();
}

static void sleeping_rank(void) {
  if (rank == 3) sleep(20);
  barrier();
}

static void pipeline(void) {
  for (int i = 0; i < 20; ++i) {
    if (rank > 0) receive(rank - 1, 1);
    compute(rank == 0 ? 1.5 : 0.1);
    if (rank < size - 1) sends(rank + 1, 1);
  }
}

static void workers(void) {
  for (int i = 0; i < 10; ++i) {
    if (rank > 0) {
      compute(2 + rank * 0.3);
      sends(0, i);
      continue;
    }
    for (int worker = 1; worker < size; ++worker) receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
  }
}

static void large_message_while_computing(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(buffer, kLarge, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &request);
    compute(20);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 1) MPI_Recv(buffer, kLarge, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  barrier();
}

static void ibarrier_while_computing(void) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  if (rank == 1) compute(20);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void tests_between_work(void) {
  MPI_Request request;
  if (rank == 1) {
    MPI_Irecv(buffer, 8, MPI_CHAR, 0, 5, MPI_COMM_WORLD, &request);
    for (int i = 0, done = 0; i < 400; ++i) {
      compute(0.05);
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    sends(0, 6);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 0) receive(1, 6);
  barrier();
}

static void many_allreduces(void) {
  int one = 1, sum;
  for (double until = now() + 20, go = 1; go;) {
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int more = now() < until;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    go = more;
  }
}

static void ping_pong(void) {
  for (int i = 0; i < 40000000 && rank < 2; ++i) {
    static double until;
    if (i == 0) until = now() + 20;
    int go = now() < until;
    if (rank == 0) {
      MPI_Send(&go, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
      receive(1, 2);
    } else {
      MPI_Recv(&go, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sends(0, 2);
    }
    if (!go) break;
  }
  barrier();
}

static void early_finalizers(void) {
  if (rank == 0) compute(20);
}

static const struct Mode {
  const char* name;
  void (*run)(void);
} kModes[] = {
    {"cycle-of-receives", cycle_of_receives},
    {"ring-of-receives", ring_of_receives},
    {"ring-of-sends", ring_of_sends},
    {"synchronous-sends", synchronous_sends},
    {"send-and-receives", send_and_receives},
    {"receive-in-place-of-barrier", receive_in_place_of_barrier},
    {"finalize-in-place-of-barrier", finalize_in_place_of_barrier},
    {"wait-in-place-of-allreduce", wait_in_place_of_allreduce},
    {"gather-without-one", gather_without_one},
    {"barrier-or-allreduce", barrier_or_allreduce},
    {"bcast-or-reduce", bcast_or_reduce},
    {"different-roots", different_roots},
    {"wrong-tag", wrong_tag},
    {"wrong-tag-rendezvous", wrong_tag_rendezvous},
    {"wrong-communicator", wrong_communicator},
    {"wrong-rank", wrong_rank},
    {"stopped", stopped},
    {"gone", gone},
    {"order-of-communicators", order_of_communicators},
    {"part-and-whole", part_and_whole},
    {"any-source", any_source},
    {"waitall", waitall},
    {"waitany", waitany},
    {"probe", probe},
    {"polling", polling},
    {"asking-for-status", asking_for_status},
    {"probing", probing},
    {"testing-all", testing_all},
    {"polling-for-two", polling_for_two},
    {"polling-with-sleeps", polling_with_sleeps},
    {"ibarrier", ibarrier},
    {"sendrecv", sendrecv},
    {"oneself", oneself},
    {"send-to-one-that-finalizes", send_to_one_that_finalizes},
    {"sizes-of-allreduce", sizes_of_allreduce},
    {"sizes-of-bcast", sizes_of_bcast},
    {"counts-of-alltoallv", counts_of_alltoallv},
    {"sizes-of-gather", sizes_of_gather},
    {"sizes-of-reduce", sizes_of_reduce},
    {"truncated", truncated},
    {"slow-rank", slow_rank},
    {"sleeping-rank", sleeping_rank},
    {"pipeline", pipeline},
    {"workers", workers},
    {"large-message-while-computing", large_message_while_computing},
    {"ibarrier-while-computing", ibarrier_while_computing},
    {"tests-between-work", tests_between_work},
    {"many-allreduces", many_allreduces},
    {"ping-pong", ping_pong},
    {"early-finalizers", early_finalizers},
};

int main(int argc, char** argv) {
  alarm(120);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof kModes / sizeof *kModes; ++i) {
    if (argc == 2 && strcmp(argv[1], kModes[i].name) == 0) {
      barrier();
      kModes[i].run();
      MPI_Finalize();
      return 0;
    }
  }
  if (rank == 0) fprintf(stderr, "usage: hangs MODE\n");
  MPI_Finalize();
  return 2;
}
