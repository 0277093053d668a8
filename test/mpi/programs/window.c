// SPDX-License-Identifier: BSD-3-Clause
// One operation of BYTES bytes by rank 0 on the memory of rank 1, and the calls that it needs; in
// WINDOWS windows, one after the other.
//
//   window put | get | accumulate | swap   fence | pscw | lock   BYTES [WINDOWS]
//
// `swap` is MPI_Get_accumulate, which moves as much both ways.
#include "../expect.h"

static unsigned char *mine, *memory, *result;
static MPI_Win window;

static void operation(const char* which, int bytes) {
  const int target = 1;
  if (!strcmp(which, "put")) {
    MPI_Put(mine, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, window);
  } else if (!strcmp(which, "get")) {
    MPI_Get(result, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, window);
  } else if (!strcmp(which, "accumulate")) {
    MPI_Accumulate(mine, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, MPI_REPLACE, window);
  } else {
    MPI_Get_accumulate(mine, bytes, MPI_BYTE, result, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE,
                       MPI_REPLACE, window);
  }
}

static void synchronized(const char* how, const char* which, int bytes) {
  if (!strcmp(how, "fence")) {
    MPI_Win_fence(0, window);
    if (world_rank == 0) operation(which, bytes);
    MPI_Win_fence(0, window);
  } else if (!strcmp(how, "lock")) {
    if (world_rank != 0) return;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    operation(which, bytes);
    MPI_Win_unlock(1, window);
  } else {
    const int other = 1 - world_rank;
    MPI_Group all, peer;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &peer);
    if (world_rank == 0) {
      MPI_Win_start(peer, 0, window);
      operation(which, bytes);
      MPI_Win_complete(window);
    } else {
      MPI_Win_post(peer, 0, window);
      MPI_Win_wait(window);
    }
    MPI_Group_free(&peer);
    MPI_Group_free(&all);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  expect_start();
  require(argc >= 4 && world_size == 2);
  const int bytes = atoi(argv[3]), windows = argc > 4 ? atoi(argv[4]) : 1;
  mine = malloc((size_t)bytes);
  result = calloc(1, (size_t)bytes);
  memory = malloc((size_t)bytes);
  fill(mine, (size_t)bytes, 1);
  fill(memory, (size_t)bytes, 2);
  for (int i = 0; i < windows; i++) {
    MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    synchronized(argv[2], argv[1], bytes);
    MPI_Win_free(&window);
  }
  if (world_rank == 1) verify(memory, (size_t)bytes, strcmp(argv[1], "get") ? 1 : 2);
  const int gets = !strcmp(argv[1], "get") || !strcmp(argv[1], "swap");
  if (world_rank == 0 && gets) verify(result, (size_t)bytes, 2);
  free(memory);
  free(result);
  free(mine);
  report_ok("window");
  MPI_Finalize();
  return 0;
}
