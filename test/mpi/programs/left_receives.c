// SPDX-License-Identifier: BSD-3-Clause
// Receives whose message arrives, but whose request is never freed by the program or by Open MPI:
// each message counts once, as received. Arguments: which kinds; without any, all but "threads".
#include "../expect.h"

#include <pthread.h>

enum { kSizes = 5, kLargest = 100000, kThreads = 4, kRounds = 40, kMany = 300 };
static const int sizes[kSizes] = {0, 8, 257, 5000, kLargest};
static char out[kSizes][kLargest], in[kSizes][kLargest];
static int next, previous;

// Returns when the message has arrived. A later message from the same process shows that the
// earlier ones are matched; a long one is complete when its last byte is there.
static void let_arrive(MPI_Comm comm, int i, int size) {
  MPI_Sendrecv(NULL, 0, MPI_BYTE, next, 90, NULL, 0, MPI_BYTE, previous, 90, comm,
               MPI_STATUS_IGNORE);
  expect_message(comm, next, 0, 1);
  while (size > 0 && *(volatile char*)&in[i][size - 1] != out[i][size - 1]) {
    int flag;
    MPI_Iprobe(previous, 99, comm, &flag, MPI_STATUS_IGNORE);
  }
}

static void clear(void) {
  for (int i = 0; i < kSizes; i++) {
    fill(out[i], kLargest, (unsigned)i);
    memset(in[i], 0, kLargest);
  }
}

// Posts a receive and sends the message for it, `size` bytes of out[i].
static MPI_Request exchange(MPI_Comm comm, int i, int tag, int size, MPI_Request* send) {
  MPI_Request receive;
  MPI_Irecv(in[i], kLargest, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : previous, tag, comm, &receive);
  MPI_Isend(out[i], size, MPI_BYTE, next, tag, comm, send);
  expect_message(comm, next, size, 1);
  return receive;
}

// MPI_Sendrecv and MPI_Sendrecv_replace return the error of a truncated receive and drop its
// request.
static void truncated_sendrecv(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 1; i < kSizes; i++) {
    int class_of_error = MPI_SUCCESS;
    MPI_Status status;
    int error = MPI_Sendrecv(out[i], sizes[i], MPI_BYTE, next, 1, in[i], 4, MPI_BYTE, previous, 1,
                             MPI_COMM_WORLD, &status);
    expect_message(MPI_COMM_WORLD, next, sizes[i], 1);
    MPI_Error_class(error, &class_of_error);
    require(class_of_error == MPI_ERR_TRUNCATE && status.MPI_SOURCE == previous);
  }
  char both[64];
  const int size = world_rank % 2 ? 8 : 64, sent_to_me = previous % 2 ? 8 : 64;
  const int error = MPI_Sendrecv_replace(both, size, MPI_BYTE, next, 2, previous, 2, MPI_COMM_WORLD,
                                         MPI_STATUS_IGNORE);
  expect_message(MPI_COMM_WORLD, next, size, 1);
  require((error != MPI_SUCCESS) == (sent_to_me > size));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

// MPI_Request_get_status reports completion and frees nothing. One communicator is freed
// afterwards.
static void status_alone(void) {
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  expect_label(dup, "MPI_Comm_dup");
  for (int i = 0; i < kSizes; i++)
    for (int own = 0; own < 2; own++) {
      MPI_Request send;
      MPI_Status status;
      int flag = 0, count;
      MPI_Request receive = exchange(own ? dup : MPI_COMM_WORLD, i, 3, sizes[i], &send);
      while (!flag) MPI_Request_get_status(receive, &flag, &status);
      MPI_Get_count(&status, MPI_BYTE, &count);
      require(count == sizes[i] && status.MPI_SOURCE == previous);
      MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
  MPI_Comm_free(&dup);
}

// No call asks for it again. Many at once, so that Open MPI allocates more requests. A receive
// without a message and a cancelled one count nothing.
static void never_waited(void) {
  static char nowhere[8], many[kMany][4];
  MPI_Request send, forgotten;
  for (int i = 0; i < kMany; i++) {
    MPI_Irecv(many[i], 4, MPI_BYTE, previous, 8, MPI_COMM_WORLD, &forgotten);
    MPI_Send(out[1], 4, MPI_BYTE, next, 8, MPI_COMM_WORLD);
    expect_message(MPI_COMM_WORLD, next, 4, 1);
  }
  for (int i = 0; i < kSizes; i++) {
    exchange(MPI_COMM_WORLD, i, 4, sizes[i], &send);
    let_arrive(MPI_COMM_WORLD, i, sizes[i]);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  }
  MPI_Irecv(nowhere, 8, MPI_BYTE, previous, 5, MPI_COMM_WORLD, &forgotten);
  MPI_Irecv(nowhere, 8, MPI_BYTE, previous, 6, MPI_COMM_WORLD, &forgotten);
  MPI_Cancel(&forgotten);
}

// A persistent receive, freed between its start and its message.
static void persistent_given_up(void) {
  for (int i = 0; i < kSizes; i++) {
    MPI_Request send, receive;
    MPI_Recv_init(in[i], kLargest, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : previous, 7, MPI_COMM_WORLD,
                  &receive);
    MPI_Start(&receive);
    MPI_Request_free(&receive);
    require(receive == MPI_REQUEST_NULL);
    let_arrive(MPI_COMM_WORLD, i, 0);  // posted everywhere
    MPI_Isend(out[i], sizes[i], MPI_BYTE, next, 7, MPI_COMM_WORLD, &send);
    expect_message(MPI_COMM_WORLD, next, sizes[i], 1);
    let_arrive(MPI_COMM_WORLD, i, sizes[i]);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  }
}

// Four threads give up active receives, and any of them may complete any of these.
static void* give_up(void* argument) {
  const int me = (int)(long)argument;
  char* buffers = calloc(kRounds, 5000);  // kept: a message may come late
  for (int round = 0; round < kRounds; round++) {
    const int size = sizes[(round + me) % 4];
    MPI_Request request, send;
    MPI_Irecv(buffers + round * 5000, 5000, MPI_BYTE, round % 2 ? MPI_ANY_SOURCE : previous,
              10 + me, MPI_COMM_WORLD, &request);
    MPI_Isend(out[me], size, MPI_BYTE, next, 10 + me, MPI_COMM_WORLD, &send);
    expect_message(MPI_COMM_WORLD, next, size, 1);
    MPI_Request_free(&request);
    require(request == MPI_REQUEST_NULL);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, next, 20 + me, NULL, 0, MPI_BYTE, previous, 20 + me,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_message(MPI_COMM_WORLD, next, 0, 1);
  }
  return NULL;
}

static void given_up_by_threads(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, give_up, (void*)i);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  MPI_Request request, send;  // one that needs an answer of its receiver
  MPI_Irecv(in[4], kLargest, MPI_BYTE, previous, 30, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  let_arrive(MPI_COMM_WORLD, 4, 0);
  MPI_Isend(out[4], kLargest, MPI_BYTE, next, 30, MPI_COMM_WORLD, &send);
  expect_message(MPI_COMM_WORLD, next, kLargest, 1);
  let_arrive(MPI_COMM_WORLD, 4, kLargest);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {{"truncated_sendrecv", truncated_sendrecv},
               {"status_alone", status_alone},
               {"never_waited", never_waited},
               {"persistent_given_up", persistent_given_up},
               {"threads", given_up_by_threads}};
  const int threads = argc > 1 && strcmp(argv[argc - 1], "threads") == 0;
  int provided;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  expect_start();
  expect_may("library");
  require(!threads || provided == MPI_THREAD_MULTIPLE);
  next = (world_rank + 1) % world_size, previous = (world_rank + world_size - 1) % world_size;
  for (int i = 0; i < 5; i++) {
    int wanted = argc == 1 && strcmp(kinds[i].name, "threads") != 0;
    for (int a = 1; a < argc; a++) wanted |= strcmp(argv[a], kinds[i].name) == 0;
    if (!wanted) continue;
    clear();
    kinds[i].run();
  }
  let_arrive(MPI_COMM_WORLD, 0, 0);
  let_arrive(MPI_COMM_WORLD, 0, 0);
  report_ok("left_receives");
  MPI_Finalize();
  return 0;
}
