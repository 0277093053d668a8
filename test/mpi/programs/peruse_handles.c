// SPDX-License-Identifier: BSD-3-Clause
// Says whether PERUSE reports the begin and end of transfers on a communicator, after many receives that
// were posted before their messages came: on MPI_COMM_WORLD, and on one made after another with persistent
// sends has been freed. Two ranks, an Open MPI with PERUSE.
//
// PERUSE's interface does not tell whether an event is active. Where Open MPI keeps that is found by an event
// of the program's own, which is then active and is not.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kReceives = 40, kLargestCommunicator = 1024, kLargestHandle = 256 };

static int rank;
static size_t handles_at;  // in a communicator
static size_t active_at;   // in a handle

static void fail(const char* what) {
  fprintf(stderr, "peruse_handles: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void* peruse(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == NULL) fail("this Open MPI has no PERUSE");
  return found;
}

// Without a signal if `from` is no address.
static int read_memory(const void* from, void* to, size_t bytes) {
  const struct iovec here = {to, bytes}, there = {(void*)from, bytes};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static int number_of(const char* event) {
  int (*query)(const char*, int*);
  *(void**)&query = peruse("PERUSE_Query_event");
  int number = 0;
  if (query(event, &number) != 0) fail(event);
  return number;
}

static int on_event(void* event, MPI_Aint id, void* spec, void* parameter) {
  (void)event, (void)id, (void)spec, (void)parameter;
  return 0;
}

static void find_places(void) {
  int (*initialize)(void);
  int (*enroll)(int, MPI_Comm, int (*)(void*, MPI_Aint, void*, void*), void*, void**);
  int (*activate)(void*), (*deactivate)(void*);
  *(void**)&initialize = peruse("PERUSE_Init");
  *(void**)&enroll = peruse("PERUSE_Event_comm_register");
  *(void**)&activate = peruse("PERUSE_Event_activate");
  *(void**)&deactivate = peruse("PERUSE_Event_deactivate");
  const int number = number_of("PERUSE_COMM_SEARCH_POSTED_Q_BEGIN");
  void* handle = NULL;
  if (initialize() != 0 || enroll(number, MPI_COMM_SELF, on_event, NULL, &handle) != 0)
    fail("no event could be registered");
  for (handles_at = 0; handles_at < kLargestCommunicator; handles_at += sizeof(void*)) {
    void **handles = NULL, *found = NULL;
    if (read_memory((char*)MPI_COMM_SELF + handles_at, &handles, sizeof handles) &&
        read_memory(handles + number, &found, sizeof found) && found == handle)
      break;
  }
  if (handles_at == kLargestCommunicator) fail("the communicator's handles were not found");
  int on[kLargestHandle / sizeof(int)], off[kLargestHandle / sizeof(int)];
  activate(handle);
  memcpy(on, handle, sizeof on);
  deactivate(handle);
  memcpy(off, handle, sizeof off);
  for (active_at = 0; active_at < kLargestHandle; active_at += sizeof(int))
    if (on[active_at / sizeof(int)] == 1 && off[active_at / sizeof(int)] == 0) return;
  fail("no change in the handle");
}

static const char* state_of(MPI_Comm comm, const char* event) {
  void** handles;
  memcpy(&handles, (char*)comm + handles_at, sizeof handles);
  void* handle = handles == NULL ? NULL : handles[number_of(event)];
  if (handle == NULL) return "not registered";
  int active;
  memcpy(&active, (char*)handle + active_at, sizeof active);
  return active ? "on" : "off";
}

static void ping_pong(MPI_Comm comm) {
  char byte = 0;
  for (int i = 0; i < 2 * kReceives; i++) {
    if (i % 2 == rank)
      MPI_Send(&byte, 1, MPI_BYTE, 1 - rank, 1, comm);
    else
      MPI_Recv(&byte, 1, MPI_BYTE, 1 - rank, 1, comm, MPI_STATUS_IGNORE);
  }
}

static void send_persistently(MPI_Comm comm) {
  char out = 0, in;
  MPI_Request requests[2];
  MPI_Recv_init(&in, 1, MPI_BYTE, 1 - rank, 2, comm, &requests[0]);
  MPI_Send_init(&out, 1, MPI_BYTE, 1 - rank, 2, comm, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static void say(const char* name, MPI_Comm comm) {
  if (rank == 0)
    printf("%s: begin %s, end %s\n", name, state_of(comm, "PERUSE_COMM_REQ_XFER_BEGIN"),
           state_of(comm, "PERUSE_COMM_REQ_XFER_END"));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  find_places();
  ping_pong(MPI_COMM_WORLD);
  say("MPI_COMM_WORLD", MPI_COMM_WORLD);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  send_persistently(comm);
  ping_pong(comm);
  say("persistent", comm);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  ping_pong(comm);
  say("the next", comm);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
