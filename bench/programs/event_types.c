// SPDX-License-Identifier: BSD-3-Clause
/* A preloaded reference counter, independent of Fathom's code: counts PERUSE_COMM_REQ_COMPLETE
 * events of receives by request type, and sends at the PML boundary, over all communicators
 * (except the program's persistent sends, see monitored.c).
 *
 * Each process appends one line to $EVENT_TYPES_OUTPUT at MPI_Finalize:
 *   sends
 *   then for each of RECV IPROBE PROBE IMPROBE MPROBE:
 *     completions  of-these-with-req_bytes_packed-0
 *   cancelled
 *
 * Needs the PERUSE build. Single-threaded programs only.
 */
#define _GNU_SOURCE
#define _PERUSE_INTERNAL_H_ /* its includes are in no package, and unused here */
#include "ompi_config.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ompi/communicator/communicator.h"
#include "ompi/mca/pml/base/pml_base_recvreq.h"
#include "ompi/mca/pml/pml.h"

/* The part of ompi/peruse/peruse.h that is used here: an overlay with PERUSE installs no headers. */
typedef void* peruse_event_h;
typedef struct {
  MPI_Comm comm;
  void* buf;
  int count;
  MPI_Datatype datatype;
  int peer;
  int tag;
  int operation;
} peruse_comm_spec_t;
typedef int peruse_comm_callback_f(peruse_event_h, MPI_Aint, peruse_comm_spec_t*, void*);
enum { PERUSE_RECV = 1 };
int PERUSE_Init(void);
int PERUSE_Query_event(const char*, int*);
int PERUSE_Event_comm_register(int, MPI_Comm, peruse_comm_callback_f*, void*, peruse_event_h*);
int PERUSE_Event_activate(peruse_event_h);

enum { kTypes = 16 }; /* more than mca_pml_base_request_type_t has */

static long sends, completions[kTypes], empty[kTypes], cancelled;
static mca_pml_base_module_t original;
static int event;

static int on_complete(peruse_event_h handle, MPI_Aint id, peruse_comm_spec_t* spec,
                       void* parameter) {
  (void)handle;
  (void)parameter;
  if (spec->operation != PERUSE_RECV) return 0;
  const mca_pml_base_recv_request_t* request = (const mca_pml_base_recv_request_t*)id;
  if (request->req_base.req_ompi.req_status._cancelled) {
    ++cancelled;
    return 0;
  }
  ++completions[request->req_base.req_type];
  if (request->req_bytes_packed == 0) ++empty[request->req_base.req_type];
  return 0;
}

static void watch(ompi_communicator_t* comm) {
  peruse_event_h handle;
  if (PERUSE_Event_comm_register(event, comm, on_complete, NULL, &handle) == 0)
    PERUSE_Event_activate(handle);
}

static int add_comm(ompi_communicator_t* comm) {
  const int result = original.pml_add_comm(comm);
  watch(comm);
  return result;
}

static int count_send(const void* buffer, size_t count, struct ompi_datatype_t* type,
                      int destination, int tag, mca_pml_base_send_mode_t mode,
                      ompi_communicator_t* comm) {
  ++sends;
  return original.pml_send(buffer, count, type, destination, tag, mode, comm);
}

static int count_isend(const void* buffer, size_t count, struct ompi_datatype_t* type,
                       int destination, int tag, mca_pml_base_send_mode_t mode,
                       ompi_communicator_t* comm, ompi_request_t** request) {
  ++sends;
  return original.pml_isend(buffer, count, type, destination, tag, mode, comm, request);
}

/* The library's own persistent requests (linear alltoall in coll/base). */
static int count_start(size_t count, ompi_request_t** requests) {
  for (size_t i = 0; i < count; ++i) {
    if (((mca_pml_base_request_t*)requests[i])->req_type == MCA_PML_REQUEST_SEND) ++sends;
  }
  return original.pml_start(count, requests);
}

int MPI_Init(int* argc, char*** argv) {
  const int result = PMPI_Init(argc, argv);
  PERUSE_Init();
  PERUSE_Query_event("PERUSE_COMM_REQ_COMPLETE", &event);
  original = mca_pml;
  mca_pml.pml_add_comm = add_comm;
  mca_pml.pml_send = count_send;
  mca_pml.pml_isend = count_isend;
  mca_pml.pml_start = count_start;
  watch(&ompi_mpi_comm_world.comm);
  watch(&ompi_mpi_comm_self.comm);
  return result;
}

int MPI_Finalize(void) {
  static const int order[] = {MCA_PML_REQUEST_RECV, MCA_PML_REQUEST_IPROBE, MCA_PML_REQUEST_PROBE,
                              MCA_PML_REQUEST_IMPROBE, MCA_PML_REQUEST_MPROBE};
  char line[512];
  int length = snprintf(line, sizeof line, "%ld", sends);
  for (size_t i = 0; i < sizeof order / sizeof *order; ++i) {
    length += snprintf(line + length, sizeof line - length, " %ld %ld", completions[order[i]],
                       empty[order[i]]);
  }
  length += snprintf(line + length, sizeof line - length, " %ld\n", cancelled);
  const char* path = getenv("EVENT_TYPES_OUTPUT");
  const int file = open(path ? path : "event-types", O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file < 0 || write(file, line, length) != length) perror("EVENT_TYPES_OUTPUT");
  close(file);
  mca_pml = original;
  return ((int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize"))();
}
