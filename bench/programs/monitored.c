// SPDX-License-Identifier: BSD-3-Clause
/* A preloaded reference counter, independent of Fathom's code: what Open MPI's pml_monitoring counts
 * of the program, and the program's persistent sends, which pml_monitoring does not see.
 *
 * pml_monitoring is read through its performance variables when MPI_Init has returned and again when
 * the program calls MPI_Finalize. Preload this library before Fathom, so that what MPI_Init and
 * Fathom send on their own, before and after, is not in the difference. It has to run with
 * pml_monitoring_enable = 1: with 2, no variable shows messages with negative tags. Persistent sends
 * are counted where the program starts them (MPI_Start, MPI_Startall).
 *
 * Each process appends lines "monitoring SOURCE DESTINATION BYTES MESSAGES" and "persistent ..." in
 * world ranks to $MONITORED_OUTPUT at MPI_Finalize; without pml_monitoring, the latter alone. For
 * single-threaded C programs of up to 256 ranks that stay in one world.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMaxRanks = 256, kMaxRequests = 4096 };

struct traffic {
  long bytes[kMaxRanks], messages[kMaxRanks];
};

static struct traffic persistent, monitored_before;
static struct {
  MPI_Request request;
  int destination; /* in the world; negative: nobody */
  long bytes;
} sends[kMaxRequests];
static MPI_T_pvar_session session;
static MPI_T_pvar_handle bytes_handle, messages_handle;

static MPI_T_pvar_handle open_variable(const char* name) {
  int index, count;
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_T_pvar_handle handle;
  if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_SIZE, &index) != MPI_SUCCESS ||
      MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count) != MPI_SUCCESS) {
    return NULL;
  }
  MPI_T_pvar_start(session, handle);
  return handle;
}

/* Open MPI invalidates the variables of pml_monitoring with the PMLs that it did not select, although
 * the component goes on counting. Its registration makes them valid again. In 4.1 it is in a library
 * of its own, since 5.0 in libmpi or a library that libmpi needs. */
static void open_monitoring(void) {
  void* library = dlopen("libmca_common_monitoring.so.50", RTLD_LAZY | RTLD_NOLOAD);
  void (*make_valid)(void*) = (void (*)(void*))dlsym(library != NULL ? library : RTLD_DEFAULT,
                                                     "mca_common_monitoring_register");
  if (make_valid != NULL) make_valid(NULL);
  int provided;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_pvar_session_create(&session);
  bytes_handle = open_variable("pml_monitoring_messages_size");
  messages_handle = open_variable("pml_monitoring_messages_count");
}

/* Takes the place of Open MPI's own, which keeps names for coll/monitoring and crashes without that
 * component (ompi/mca/common/monitoring/common_monitoring_coll.c). With it, MPI_Intercomm_create does. */
void mca_common_monitoring_coll_cache_name(void* comm) { (void)comm; }

static void read_monitoring(struct traffic* traffic) {
  memset(traffic, 0, sizeof *traffic);
  if (bytes_handle == NULL || messages_handle == NULL) return;
  MPI_T_pvar_read(session, bytes_handle, traffic->bytes);
  MPI_T_pvar_read(session, messages_handle, traffic->messages);
}

static void begin(void) {
  open_monitoring();
  read_monitoring(&monitored_before);
}

int MPI_Init(int* argc, char*** argv) {
  const int result = ((int (*)(int*, char***))dlsym(RTLD_NEXT, "MPI_Init"))(argc, argv);
  begin();
  return result;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = ((int (*)(int*, char***, int, int*))dlsym(RTLD_NEXT, "MPI_Init_thread"))(
      argc, argv, required, provided);
  begin();
  return result;
}

static void made(MPI_Request request, int count, MPI_Datatype type, int destination,
                 MPI_Comm comm) {
  MPI_Group local, world;
  int size, in_world;
  PMPI_Comm_group(comm, &local);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(local, 1, &destination, world, &in_world);
  PMPI_Group_free(&local);
  PMPI_Group_free(&world);
  PMPI_Type_size(type, &size);
  int place = 0; /* a freed request's handle is given out again */
  while (place < kMaxRequests - 1 && sends[place].request != NULL &&
         sends[place].request != request)
    ++place;
  sends[place].request = request;
  sends[place].destination = in_world;
  sends[place].bytes = (long)count * size;
}

#define PERSISTENT_SEND(mode)                                                                    \
  int MPI_##mode##_init(const void* buffer, int count, MPI_Datatype type, int destination,       \
                        int tag, MPI_Comm comm, MPI_Request* request) {                          \
    const int result = PMPI_##mode##_init(buffer, count, type, destination, tag, comm, request); \
    if (result == MPI_SUCCESS) made(*request, count, type, destination, comm);                   \
    return result;                                                                               \
  }
PERSISTENT_SEND(Send)
PERSISTENT_SEND(Bsend)
PERSISTENT_SEND(Ssend)
PERSISTENT_SEND(Rsend)

int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int result = PMPI_Recv_init(buffer, count, type, source, tag, comm, request);
  for (int place = 0; place < kMaxRequests; ++place)
    if (sends[place].request == *request) sends[place].destination = -1; /* its handle, again */
  return result;
}

static void started(MPI_Request request) {
  for (int place = 0; place < kMaxRequests && sends[place].request != NULL; ++place) {
    const int destination = sends[place].destination;
    if (sends[place].request != request || destination < 0 || destination >= kMaxRanks) continue;
    persistent.bytes[destination] += sends[place].bytes;
    ++persistent.messages[destination];
  }
}

int MPI_Start(MPI_Request* request) {
  started(*request);
  return PMPI_Start(request);
}

int MPI_Startall(int n, MPI_Request* requests) {
  for (int i = 0; i < n; ++i) started(requests[i]);
  return PMPI_Startall(n, requests);
}

static void write_traffic(int file, const char* witness, int rank, const struct traffic* traffic) {
  for (int peer = 0; peer < kMaxRanks; ++peer) {
    if (traffic->messages[peer] != 0) {
      dprintf(file, "%s %d %d %ld %ld\n", witness, rank, peer, traffic->bytes[peer],
              traffic->messages[peer]);
    }
  }
}

int MPI_Finalize(void) {
  struct traffic monitored;
  read_monitoring(&monitored);
  for (int peer = 0; peer < kMaxRanks; ++peer) {
    monitored.bytes[peer] -= monitored_before.bytes[peer];
    monitored.messages[peer] -= monitored_before.messages[peer];
  }
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* path = getenv("MONITORED_OUTPUT");
  const int file = open(path ? path : "monitored", O_WRONLY | O_CREAT | O_APPEND, 0644);
  write_traffic(file, "monitoring", rank, &monitored);
  write_traffic(file, "persistent", rank, &persistent);
  close(file);
  return ((int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize"))();
}
