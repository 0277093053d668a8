// SPDX-License-Identifier: BSD-3-Clause
/* A preloaded reference counter, independent of Fathom's code: counts the user's persistent sends,
 * which pml_monitoring does not see, where the program starts them (MPI_Start, MPI_Startall).
 *
 * Each process appends lines "SOURCE DESTINATION BYTES MESSAGES" in world ranks to
 * $PERSISTENT_SENDS_OUTPUT at MPI_Finalize. For single-threaded C programs of up to 256 ranks that
 * stay in one world.
 */
#define _GNU_SOURCE
#define _PERUSE_INTERNAL_H_ /* its includes are in no package, and unused here */
#include "ompi_config.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/base/pml_base_request.h"

enum { kMaxRanks = 256 };
static long bytes[kMaxRanks], messages[kMaxRanks];

static void count(MPI_Request handle) {
  const mca_pml_base_request_t* request = (const mca_pml_base_request_t*)handle;
  if (request->req_ompi.req_type != OMPI_REQUEST_PML || request->req_type != MCA_PML_REQUEST_SEND)
    return;
  MPI_Group local, world;
  MPI_Comm_group(request->req_comm, &local);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int peer = request->req_peer, destination = 0;
  MPI_Group_translate_ranks(local, 1, &peer, world, &destination);
  MPI_Group_free(&local);
  MPI_Group_free(&world);
  if (destination < 0 || destination >= kMaxRanks) return;
  bytes[destination] += (long)(request->req_count * request->req_datatype->super.size);
  ++messages[destination];
}

int MPI_Start(MPI_Request* request) {
  count(*request);
  return PMPI_Start(request);
}

int MPI_Startall(int n, MPI_Request* requests) {
  for (int i = 0; i < n; ++i) count(requests[i]);
  return PMPI_Startall(n, requests);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* path = getenv("PERSISTENT_SENDS_OUTPUT");
  const int file = open(path ? path : "persistent-sends", O_WRONLY | O_CREAT | O_APPEND, 0644);
  for (int peer = 0; peer < kMaxRanks; ++peer) {
    if (messages[peer]) dprintf(file, "%d %d %ld %ld\n", rank, peer, bytes[peer], messages[peer]);
  }
  close(file);
  return ((int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize"))();
}
