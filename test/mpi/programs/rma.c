// SPDX-License-Identifier: BSD-3-Clause
// One-sided communication as the program issues it: put and accumulate go from origin to target,
// get from target to origin, get_accumulate, fetch_and_op and compare_and_swap both ways. Ranks are
// those of the window's group. Every kind of window and every kind of synchronization.
//
// With `messages` the window's data travel as messages (osc/pt2pt), which carry headers too, and
// others synchronize: the program only says what they must at least hold.
//
//   rma create | allocate | shared | dynamic [messages]
#include "../expect.h"

enum { kInts = 4096 };
static MPI_Comm comm;
static MPI_Win window;
static MPI_Aint base_of[8];  // dynamic windows: where each target's memory is
static int rank, size, as_messages;

static MPI_Aint at(int target, int index) {
  return base_of[target] + (MPI_Aint)index * (MPI_Aint)sizeof(int);
}

static void moved(int from, int to, long long bytes) {
  if (as_messages) {
    expect_at_least("one-sided", comm, from, to, bytes, 0);  // small operations share messages
  } else {
    expect_one_sided(comm, from, to, bytes);
  }
}
static void both(int target, long long bytes) {
  moved(rank, target, bytes);
  moved(target, rank, bytes);
}

// Every operation on `target`, each on another part of its memory.
static void operations(int target, int n, int with_requests) {
  static int out[kInts], in[kInts], compare;
  MPI_Request requests[4];
  const long long bytes = n * (long long)sizeof(int);
  MPI_Put(out, n, MPI_INT, target, at(target, 0), n, MPI_INT, window);
  moved(rank, target, bytes);
  MPI_Get(in, n, MPI_INT, target, at(target, 600), n, MPI_INT, window);
  moved(target, rank, bytes);
  MPI_Accumulate(out, n, MPI_INT, target, at(target, 1200), n, MPI_INT, MPI_SUM, window);
  moved(rank, target, bytes);
  MPI_Get_accumulate(out, n, MPI_INT, in + 600, n, MPI_INT, target, at(target, 1800), n, MPI_INT,
                     MPI_SUM, window);
  both(target, bytes);
  MPI_Fetch_and_op(out, in + 1200, MPI_INT, target, at(target, 2400), MPI_SUM, window);
  both(target, sizeof(int));
  MPI_Compare_and_swap(out, &compare, in + 1201, MPI_INT, target, at(target, 2401), window);
  both(target, sizeof(int));
  if (with_requests) {
    MPI_Rput(out, n, MPI_INT, target, at(target, 2410), n, MPI_INT, window, &requests[0]);
    moved(rank, target, bytes);
    MPI_Rget(in + 1300, n, MPI_INT, target, at(target, 3010), n, MPI_INT, window, &requests[1]);
    moved(target, rank, bytes);
    MPI_Raccumulate(out, 1, MPI_INT, target, at(target, 3610), 1, MPI_INT, MPI_SUM, window,
                    &requests[2]);
    moved(rank, target, sizeof(int));
    MPI_Rget_accumulate(out, 2, MPI_INT, in + 2000, 2, MPI_INT, target, at(target, 3620), 2,
                        MPI_INT, MPI_SUM, window, &requests[3]);
    both(target, 2 * sizeof(int));
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
  // A derived datatype: 3 blocks of 2 integers with holes are 24 bytes.
  MPI_Datatype holes;
  MPI_Type_vector(3, 2, 4, MPI_INT, &holes);
  MPI_Type_commit(&holes);
  MPI_Put(out, 1, holes, target, at(target, 3700), 1, holes, window);
  moved(rank, target, 24);
  MPI_Type_free(&holes);
  // Nobody.
  MPI_Put(out, n, MPI_INT, MPI_PROC_NULL, 0, n, MPI_INT, window);
  MPI_Get(in, n, MPI_INT, MPI_PROC_NULL, 0, n, MPI_INT, window);
}

static void exercise(void) {
  int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  // Fence.
  MPI_Win_fence(0, window);
  operations(next, 100, 0);
  MPI_Win_fence(0, window);
  // Lock, shared and exclusive, and lock_all.
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window);
  operations(next, 500, 1);
  MPI_Win_unlock(next, window);
  MPI_Win_lock(MPI_LOCK_SHARED, previous, 0, window);
  operations(previous, 1, 1);
  MPI_Win_flush(previous, window);
  MPI_Win_unlock(previous, window);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < size; i++)
    if (i != rank) operations(i, 10, 1);
  MPI_Win_flush_all(window);
  MPI_Win_unlock_all(window);
  // Post, start, complete, wait.
  MPI_Group group, origins, targets;
  MPI_Comm_group(comm, &group);
  MPI_Group_incl(group, 1, &previous, &origins);
  MPI_Group_incl(group, 1, &next, &targets);
  MPI_Win_post(origins, 0, window);
  MPI_Win_start(targets, 0, window);
  operations(next, 50, 0);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  MPI_Group_free(&origins);
  MPI_Group_free(&targets);
  MPI_Group_free(&group);
}

static void on(MPI_Comm which, const char* kind) {
  int *memory = NULL, *attached = NULL;
  comm = which;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  memset(base_of, 0, sizeof base_of);
  const MPI_Aint bytes = kInts * (MPI_Aint)sizeof(int);
  if (!strcmp(kind, "allocate")) {
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm, &memory, &window);
  } else if (!strcmp(kind, "shared")) {
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, comm, &memory, &window);
  } else if (!strcmp(kind, "dynamic")) {
    attached = calloc(1, (size_t)bytes);
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window);
    MPI_Win_attach(window, attached, bytes);
    MPI_Get_address(attached, &base_of[rank]);
    // Told to everybody by messages of known length.
    for (int i = 0; i < size; i++)
      if (i != rank) {
        MPI_Request request;
        MPI_Isend(&base_of[rank], 1, MPI_AINT, i, 5, comm, &request);
        expect_message(comm, i, sizeof(MPI_Aint), 1);
        MPI_Request_free(&request);
      }
    for (int i = 0; i < size; i++)
      if (i != rank) MPI_Recv(&base_of[i], 1, MPI_AINT, i, 5, comm, MPI_STATUS_IGNORE);
  } else {
    attached = calloc(1, (size_t)bytes);
    MPI_Win_create(attached, bytes, 1, MPI_INFO_NULL, comm, &window);
  }
  exercise();
  MPI_Win_fence(0, window);
  if (!strcmp(kind, "dynamic")) MPI_Win_detach(window, attached);
  MPI_Win_free(&window);
  free(attached);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  expect_may("library");
  const char* kind = argc > 1 ? argv[1] : "create";
  as_messages = argc > 2 && !strcmp(argv[2], "messages");
  on(MPI_COMM_WORLD, kind);
  // The ranks of a window are not the world's.
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0, -world_rank, &reversed);
  expect_label(reversed, "MPI_Comm_split");
  if (world_rank != 0) on(reversed, kind);
  MPI_Comm_free(&reversed);
  report_ok("rma");
  MPI_Finalize();
  return 0;
}
