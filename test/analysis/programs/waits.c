// SPDX-License-Identifier: BSD-3-Clause
// Makes one kind of wait state, a known number of times, each as long as a sleep:
//   waits CASE [FILE]
//
// Four ranks. In phase "truth" rank 1 (in "ring" rank 0) comes DELAY late to what the others, or
// one of them, wait for in it; between rounds all meet outside of the phase. In "init" and
// "finalize", it comes as late as all rounds together.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/analysis/programs/truth_rounds.h"

enum { kRounds = 5, kDelay_ms = 20, kLong = 1 << 20 };

static int rank, value[4];
static char longer[kLong];

static void late(void) {
  struct timespec time = {0, kDelay_ms * 1000000L};
  nanosleep(&time, NULL);
}

static void blocking(MPI_Comm comm, int source, int tag) {
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, comm);
  if (rank == 0) MPI_Recv(value, 1, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE);
}

static void late_sender(void) { blocking(MPI_COMM_WORLD, 1, 3); }
static void any_source(void) { blocking(MPI_COMM_WORLD, MPI_ANY_SOURCE, 3); }
static void any_tag(void) { blocking(MPI_COMM_WORLD, 1, MPI_ANY_TAG); }

static MPI_Comm other;
static void on_other(void) { blocking(other, 1, 3); }

static void irecv_wait(void) {
  MPI_Request request;
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Irecv(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void persistent(void) {
  static MPI_Request request = MPI_REQUEST_NULL;
  if (request == MPI_REQUEST_NULL && rank == 1)
    MPI_Send_init(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
  if (request == MPI_REQUEST_NULL && rank == 0)
    MPI_Recv_init(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
  if (rank == 1) late();
  if (rank < 2) MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void sendrecv(void) {
  if (rank == 1) late();
  if (rank < 2)
    MPI_Sendrecv(value, 1, MPI_INT, 1 - rank, 3, &value[1], 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

// Rank 0 needs the first of two messages. Rank 2's comes much later.
static void waitany(void) {
  MPI_Request requests[2];
  int index;
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 2) late(), late(), MPI_Send(value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < 2; i++)
      MPI_Irecv(&value[i], 1, MPI_INT, 1 + i, 3 + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    late(), late();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

static void matched_probe(void) {
  MPI_Message message;
  MPI_Request request;
  if (rank == 1) late(), MPI_Send(longer, kLong, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(value, 1, MPI_INT, 2, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(longer, kLong, MPI_CHAR, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 2) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
}

// Rank 0 waits for each of the others, one after the other.
static void for_every_other(void) {
  for (int i = 0; i < rank; i++) late();
  if (rank > 0) MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  for (int from = 1; rank == 0 && from < 4; from++)
    MPI_Recv(value, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Each message has a tag of its own, and each receive waits, some longer than others.
static void many_tags(void) {
  static int tag = 0;
  if (rank == 1) late();
  for (int i = 0; i < 400; i++, tag++) {
    for (const double begin = MPI_Wtime();
         rank == 1 && MPI_Wtime() < begin + 20e-6 * (1 + i % 64);) {
    }
    if (rank == 1) MPI_Send(value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 1) late();  // all meet it last, not rank 0, which would be as late
}

// Nobody is in a call that waits.
static void probe_loop(void) {
  int there = 0;
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    while (!there) MPI_Iprobe(1, 3, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Recv(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// Only the library knows what was found.
static void improbe_loop(void) {
  int there = 0;
  MPI_Message message;
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    while (!there)
      MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
}

static void probe(void) {
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Probe(1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
static void mprobe(void) {
  MPI_Message message;
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
}

// A loop of `test`, which returns whether it has completed the request, until it has.
static void polling(int (*test)(MPI_Request*)) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Irecv(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[1]);
    while (!test(requests)) continue;
  }
}
static int test_one(MPI_Request* requests) {
  int done;
  MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
  return done;
}
static int test_all(MPI_Request* requests) {
  int done;
  MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
  return done;
}
static int test_any(MPI_Request* requests) {
  int done, index;
  MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
  return done;
}
static int test_some(MPI_Request* requests) {
  int done, indices[2];
  MPI_Testsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
  return done > 0;
}
static int test_and_probe(MPI_Request* requests) {
  int there;
  MPI_Iprobe(2, 3, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  return test_one(requests);
}
static void test_loop(void) { polling(test_one); }
static void testall_loop(void) { polling(test_all); }
static void testany_loop(void) { polling(test_any); }
static void testsome_loop(void) { polling(test_some); }
static void test_and_probe_loop(void) { polling(test_and_probe); }

static int get_status(MPI_Request* requests) {
  int done;
  MPI_Request_get_status(requests[1], &done, MPI_STATUS_IGNORE);
  if (done) MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  return done;
}
static void get_status_loop(void) { polling(get_status); }

// Between two tests the program works for longer than any polling loop.
static void test_after_work(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Irecv(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[1]);
    while (!test_one(requests)) late();
  }
}

// Several receives of one channel wait at once, and are completed in another order.
static void crossed(void) {
  MPI_Request requests[3];
  if (rank == 1)
    for (int i = 0; i < 3; i++) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < 3; i++)
      MPI_Irecv(&value[i], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[i]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
}

static void late_receiver_in_wait(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(longer, kLong, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 1) late(), MPI_Recv(longer, kLong, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Rank 0's long message to rank 2 is complete while it waits for rank 1's.
static void send_that_ends_inside_a_receive(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(longer, kLong, MPI_CHAR, 2, 3, MPI_COMM_WORLD, &request);
    MPI_Recv(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 1) late(), MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 2) MPI_Recv(longer, kLong, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Messages of 2 and 3 are there at once.
static void waitall(void) {
  MPI_Request requests[3];
  if (rank == 1) late();
  if (rank != 0) MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 1; i < 4; i++)
      MPI_Irecv(&value[i], 1, MPI_INT, i, 3, MPI_COMM_WORLD, &requests[i - 1]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  }
}

static void late_receiver(void) {
  if (rank == 0) MPI_Send(longer, kLong, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
  if (rank == 1) late(), MPI_Recv(longer, kLong, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void ssend(void) {
  if (rank == 0) MPI_Ssend(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
  if (rank == 1) late(), MPI_Recv(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Tag 3 is sent before rank 0 comes to receive tag 4.
static void wrong_order(void) {
  if (rank == 1) {
    MPI_Send(value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Send(value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    late();
    MPI_Send(value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    MPI_Recv(value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void barrier(void) {
  if (rank == 1) late();
  MPI_Barrier(MPI_COMM_WORLD);
}
static void allreduce(void) {
  int sum;
  if (rank == 1) late();
  MPI_Allreduce(value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void iallreduce(void) {
  int sum;
  MPI_Request request;
  if (rank == 1) late();
  MPI_Iallreduce(value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void bcast(void) {
  if (rank == 1) late();
  MPI_Bcast(value, 1, MPI_INT, 1, MPI_COMM_WORLD);
}
static void scatter(void) {
  int mine;
  if (rank == 1) late();
  MPI_Scatter(value, 1, MPI_INT, &mine, 1, MPI_INT, 1, MPI_COMM_WORLD);
}
static void reduce(void) {
  int sum;
  if (rank == 1) late();
  MPI_Reduce(value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void gather(void) {
  int all[4];
  if (rank == 1) late();
  MPI_Gather(value, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
// `other` has the ranks in reverse.
static void reduce_in_split(void) {
  int sum;
  if (rank == 1) late();
  MPI_Reduce(value, &sum, 1, MPI_INT, MPI_SUM, 3, other);
}
static void scan(void) {
  int sum;
  if (rank == 1) late();
  MPI_Scan(value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static MPI_Win window;
static int memory[4];
static void fence(void) {
  if (rank == 1) late();
  MPI_Win_fence(0, window);
}
static void make_window(void) {
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
}
static void win_create(void) {
  if (rank == 1) late();
  make_window();
  MPI_Win_free(&window);
}
static void win_free(void) {
  if (rank == 1) late();
  MPI_Win_free(&window);
}

// Epochs in which ranks 0, 2 and 3 are the one side and rank 1 is the other.
static MPI_Group rank_1, ranks_0_and_3, but_rank_1, ranks_1_and_2;
static void make_groups(void) {
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, (int[]){1}, &rank_1);
  MPI_Group_incl(all, 2, (int[]){0, 3}, &ranks_0_and_3);
  MPI_Group_incl(all, 2, (int[]){1, 2}, &ranks_1_and_2);
  MPI_Group_excl(all, 1, (int[]){1}, &but_rank_1);
}
static void late_post(void) {
  if (rank == 1) {
    late();
    MPI_Win_post(but_rank_1, 0, window);
    MPI_Win_wait(window);
  } else {
    MPI_Win_start(rank_1, 0, window);
    MPI_Put(&rank, 1, MPI_INT, 1, rank, 1, MPI_INT, window);
    MPI_Win_complete(window);
  }
}
static void late_complete_for(void (*wait)(void)) {
  if (rank == 1) {
    MPI_Win_start(but_rank_1, 0, window);
    for (int to = 0; to < 4; to++)
      if (to != 1) MPI_Put(&rank, 1, MPI_INT, to, 0, 1, MPI_INT, window);
    late();
    MPI_Win_complete(window);
  } else {
    MPI_Win_post(rank_1, 0, window);
    wait();
  }
}
static void win_wait(void) { MPI_Win_wait(window); }
static void win_test(void) {
  int done = 0;
  while (!done) MPI_Win_test(window, &done);
}
static void late_complete(void) { late_complete_for(win_wait); }
static void win_test_loop(void) { late_complete_for(win_test); }
// Rank 2 exposes its window at once, but ranks 0 and 3 complete their access only when rank 1 has, too.
static void late_post_elsewhere(void) {
  if (rank == 1 || rank == 2) {
    if (rank == 1) late();
    MPI_Win_post(ranks_0_and_3, 0, window);
    MPI_Win_wait(window);
  } else {
    MPI_Win_start(ranks_1_and_2, 0, window);
    for (int to = 1; to < 3; to++) MPI_Put(&rank, 1, MPI_INT, to, rank, 1, MPI_INT, window);
    MPI_Win_complete(window);
  }
}

static void comm_split(void) {
  MPI_Comm half;
  if (rank == 1) late();
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Comm_free(&half);
}
static MPI_Group everyone;
static void comm_create_group(void) {
  MPI_Comm all;
  if (rank == 1) late();
  MPI_Comm_create_group(MPI_COMM_WORLD, everyone, 7, &all);
  MPI_Comm_free(&all);
}
// Rank 1 connects to the others; `other` is one of the two groups.
static char port[MPI_MAX_PORT_NAME];
static void connect_and_accept(void) {
  MPI_Comm both;
  if (rank == 1) {
    late();
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, other, &both);
  } else {
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, other, &both);
  }
  MPI_Comm_disconnect(&both);
}
// Even and odd ranks; `other` is one of the two groups.
static void connect_halves(MPI_Comm* both) {
  MPI_Intercomm_create(other, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, both);
}
static void intercomm_create(void) {
  MPI_Comm both;
  if (rank == 1) late();
  connect_halves(&both);
  MPI_Comm_free(&both);
}
static MPI_Comm halves;
static void intercomm_merge(void) {
  MPI_Comm all;
  if (rank == 1) late();
  MPI_Intercomm_merge(halves, rank % 2, &all);
  MPI_Comm_free(&all);
}
// From rank 1 to ranks 0 and 2; rank 3 takes no part.
static void intercomm_bcast(void) {
  if (rank == 1) late();
  MPI_Bcast(value, 1, MPI_INT, rank == 1 ? MPI_ROOT : rank == 3 ? MPI_PROC_NULL : 0, halves);
}
// From ranks 1 and 3 to rank 0; rank 2 takes no part.
static void intercomm_reduce(void) {
  int sum;
  if (rank == 1) late();
  MPI_Reduce(value, &sum, 1, MPI_INT, MPI_SUM,
             rank == 0   ? MPI_ROOT
             : rank == 2 ? MPI_PROC_NULL
                         : 0,
             halves);
}

// A ring: from rank 1 to ranks 0 and 2.
static void neighbors(void) {
  int from[2];
  if (rank == 1) late();
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, other);
}

static void ineighbors(void) {
  int from[2];
  MPI_Request request;
  if (rank == 1) late();
  MPI_Ineighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, other, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void ineighbors_in_test_loop(void) {
  int from[2], done = 0;
  MPI_Request request;
  if (rank == 1) late();
  MPI_Ineighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, other, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static const char* path;
static MPI_File file;
static void open_file(void) {
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
}
static void file_open(void) {
  if (rank == 1) late();
  open_file();
  MPI_File_close(&file);
}
static void file_close(void) {
  if (rank == 1) late();
  MPI_File_close(&file);
}
static void file_write_ordered(void) {
  if (rank == 1) late();
  MPI_File_write_ordered(file, value, 1, MPI_INT, MPI_STATUS_IGNORE);
}
static void file_sync(void) {
  if (rank == 1) late();
  MPI_File_sync(file);
}
static void file_write_all(void) {
  if (rank == 1) late();
  MPI_File_write_at_all(file, 4 * rank, value, 1, MPI_INT, MPI_STATUS_IGNORE);
}
static void file_set_size(void) {
  if (rank == 1) late();
  MPI_File_set_size(file, 4096);
}

static void file_write_ordered_begin(void) {
  if (rank == 1) late();
  MPI_File_write_ordered_begin(file, value, 1, MPI_INT);
  MPI_File_write_ordered_end(file, value, MPI_STATUS_IGNORE);
}

static void nothing(void) {}

// Rank 1 alone pauses counting, for some collectives before the one to which it comes late.
static void paused_on_one(void) {
  int sum;
  MPI_Request request;
  if (rank == 1) MPI_Pcontrol(0);
  MPI_Allreduce(value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Iallreduce(value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Pcontrol(1);
  barrier();
}

// Rank 0's delay goes from one to the next.
static void ring(void) {
  if (rank == 0) late();
  if (rank > 0) MPI_Recv(value, 1, MPI_INT, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank < 3) MPI_Send(value, 1, MPI_INT, rank + 1, 3, MPI_COMM_WORLD);
}

static const struct Case cases[] = {
    {"late_sender", late_sender},
    {"any_source", any_source},
    {"any_tag", any_tag},
    {"dup", on_other},
    {"split", on_other},
    {"irecv_wait", irecv_wait},
    {"waitall", waitall},
    {"late_receiver", late_receiver},
    {"ssend", ssend},
    {"wrong_order", wrong_order},
    {"barrier", barrier},
    {"allreduce", allreduce},
    {"iallreduce", iallreduce},
    {"bcast", bcast},
    {"scatter", scatter},
    {"reduce", reduce},
    {"reduce_in_split", reduce_in_split},
    {"gather", gather},
    {"scan", scan},
    {"paused_on_one", paused_on_one},
    {"ring", ring},
    {"persistent", persistent},
    {"sendrecv", sendrecv},
    {"waitany", waitany},
    {"matched_probe", matched_probe},
    {"for_every_other", for_every_other},
    {"many_tags", many_tags},
    {"probe_loop", probe_loop},
    {"improbe_loop", improbe_loop},
    {"crossed", crossed},
    {"probe", probe},
    {"mprobe", mprobe},
    {"test_loop", test_loop},
    {"testall_loop", testall_loop},
    {"testany_loop", testany_loop},
    {"testsome_loop", testsome_loop},
    {"test_and_probe_loop", test_and_probe_loop},
    {"get_status_loop", get_status_loop},
    {"test_after_work", test_after_work},
    {"fence", fence},
    {"late_post", late_post},
    {"late_complete", late_complete},
    {"win_test_loop", win_test_loop},
    {"late_post_elsewhere", late_post_elsewhere},
    {"win_create", win_create},
    {"win_free", win_free},
    {"comm_split", comm_split},
    {"comm_create_group", comm_create_group},
    {"connect_and_accept", connect_and_accept},
    {"intercomm_create", intercomm_create},
    {"intercomm_merge", intercomm_merge},
    {"intercomm_bcast", intercomm_bcast},
    {"intercomm_reduce", intercomm_reduce},
    {"neighbors", neighbors},
    {"ineighbors", ineighbors},
    {"ineighbors_in_test_loop", ineighbors_in_test_loop},
    {"file_open", file_open},
    {"file_close", file_close},
    {"file_write_ordered", file_write_ordered},
    {"file_set_size", file_set_size},
    {"file_sync", file_sync},
    {"file_write_all", file_write_all},
    {"file_write_ordered_begin", file_write_ordered_begin},
    {"init", nothing},
    {"finalize", nothing},
    {"late_receiver_in_wait", late_receiver_in_wait},
    {"send_that_ends_inside_a_receive", send_that_ends_inside_a_receive}};

static const char* name;

static void prepare(void) {
  if (strcmp(name, "win_free") == 0) make_window();
  if (strcmp(name, "file_close") == 0) open_file();
}

static int begins_with(const char* word, const char* begin) {
  return strncmp(word, begin, strlen(begin)) == 0;
}

int main(int argc, char** argv) {
  name = argc > 1 ? argv[1] : "";
  const char* world_rank = getenv("OMPI_COMM_WORLD_RANK");
  if (strcmp(name, "init") == 0 && world_rank != NULL && strcmp(world_rank, "1") == 0)
    for (int round = 0; round < kRounds; round++) late();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2 && argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  path = argc == 3 ? argv[2] : NULL;
  const int has_window = strcmp(name, "fence") == 0 || begins_with(name, "late_post") ||
                         strcmp(name, "late_complete") == 0 || strcmp(name, "win_test_loop") == 0;
  if (has_window) make_window(), make_groups();
  if (begins_with(name, "file_") && strcmp(name, "file_open") != 0 &&
      strcmp(name, "file_close") != 0)
    open_file();
  MPI_Comm_group(MPI_COMM_WORLD, &everyone);
  if (strcmp(name, "connect_and_accept") == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1, rank, &other);
    if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  } else if (begins_with(name, "intercomm_")) {
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &other);
    connect_halves(&halves);
  } else if (strcmp(name, "neighbors") == 0 || begins_with(name, "ineighbors")) {
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){4}, (int[]){1}, 0, &other);
  } else if (strcmp(name, "reduce_in_split") == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
  } else if (strcmp(name, "split") == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &other);
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
  }
  const struct Case* const chosen = CHOSEN(cases, argc, argv);
  run_rounds(chosen, kRounds, prepare);
  if (has_window) MPI_Win_free(&window);
  if (begins_with(name, "file_") && file != NULL && file != MPI_FILE_NULL) MPI_File_close(&file);
  if (strcmp(name, "finalize") == 0 && rank == 1)
    for (int round = 0; round < kRounds; round++) late();
  MPI_Finalize();
  return exit_code(chosen);
}
