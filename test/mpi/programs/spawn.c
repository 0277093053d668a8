// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_spawn, MPI_Comm_spawn_multiple, MPI_Comm_get_parent and the merge of both worlds:
// processes of another world are never mistaken for ranks of this one.
//
//   spawn [multiple]      the parents
//   spawn child NAME      started by them
#include "../expect.h"

enum { kChildren = 2 };
static char out[5000], in[100000];

static const char* list(const char* world, int count, char* text) {
  text[0] = 0;
  for (int i = 0; i < count; i++)
    sprintf(text + strlen(text), "%s%s%s%d", i ? "," : "", world, *world ? "." : "", i);
  return text;
}

// Each sends 10 * (its rank + 1) bytes to each of the other side, 3 times.
static void across(MPI_Comm inter) {
  int rank, remote;
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_remote_size(inter, &remote);
  for (int round = 0; round < 3; round++) {
    MPI_Request requests[16];
    for (int i = 0; i < remote; i++) {
      MPI_Isend(out, 10 * (rank + 1), MPI_BYTE, i, 1, inter, &requests[i]);
      expect_message(inter, i, 10 * (rank + 1), 1);
    }
    for (int i = 0; i < remote; i++)
      MPI_Recv(in, (int)sizeof in, MPI_BYTE, round ? MPI_ANY_SOURCE : i, 1, inter,
               MPI_STATUS_IGNORE);
    MPI_Waitall(remote, requests, MPI_STATUSES_IGNORE);
  }
}

// Each sends 2,000 bytes to its successor in the merged communicator.
static void around(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Sendrecv(out, 2000, MPI_BYTE, (rank + 1) % size, 2, in, 2000, MPI_BYTE, MPI_ANY_SOURCE, 2,
               comm, MPI_STATUS_IGNORE);
  expect_message(comm, (rank + 1) % size, 2000, 1);
}

static void inside_world(int bytes) {
  int next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  MPI_Sendrecv(out, bytes, MPI_BYTE, next, 3, in, bytes, MPI_BYTE, previous, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  expect_message(MPI_COMM_WORLD, next, bytes, 1);
}

static int child(const char* world) {
  MPI_Comm parent, merged;
  char mine[200], theirs[200], both[500];
  int parents;
  expect_world(world);
  expect_start();
  expect_may("library");
  MPI_Comm_get_parent(&parent);
  require(parent != MPI_COMM_NULL);
  MPI_Comm_remote_size(parent, &parents);
  expect_label_as(parent, "MPI_Comm_get_parent", list("", world_size, mine),
                  list("main", parents, theirs));
  across(parent);
  MPI_Intercomm_merge(parent, 1, &merged);
  snprintf(both, sizeof both, "%s,%s", theirs, mine);
  expect_label_as(merged, "MPI_Intercomm_merge", both, "");
  around(merged);
  inside_world(77);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 2) return child(argv[2]);
  expect_start();
  expect_may("library");
  int multiple = argc > 1;
  inside_world(55);
  for (int round = 0; round < (multiple ? 1 : 2); round++) {
    MPI_Comm children, merged;
    char world[16], mine[200], theirs[200], both[500];
    int codes[2 * kChildren], count = multiple ? kChildren + 1 : kChildren;
    snprintf(world, sizeof world, "child%d", round);
    char* arguments[] = {"child", world, NULL};
    if (multiple) {
      char* commands[2] = {argv[0], argv[0]};
      char** argument_lists[2] = {arguments, arguments};
      int counts[2] = {1, kChildren};
      MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
      MPI_Comm_spawn_multiple(2, commands, argument_lists, counts, infos, 0, MPI_COMM_WORLD,
                              &children, codes);
    } else {
      MPI_Comm_spawn(argv[0], arguments, kChildren, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                     codes);
    }
    expect_label_as(children, multiple ? "MPI_Comm_spawn_multiple" : "MPI_Comm_spawn",
                    list("", world_size, mine), list(world, count, theirs));
    across(children);
    MPI_Intercomm_merge(children, 0, &merged);
    snprintf(both, sizeof both, "%s,%s", mine, theirs);
    expect_label_as(merged, "MPI_Intercomm_merge", both, "");
    around(merged);
    inside_world(66);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&children);
  }
  report_ok("spawn");
  MPI_Finalize();
  return 0;
}
