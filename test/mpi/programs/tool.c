// SPDX-License-Identifier: BSD-3-Clause
// Another PMPI tool, preloaded before or after the profiler: counts some functions and says so at
// the end. With TOOL_CHAINS set it does not call PMPI_ but looks for the next MPI_ function itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NEXT(name)                                                                            \
  (getenv("TOOL_CHAINS") ? (__typeof__(&MPI_##name))(uintptr_t)dlsym(RTLD_NEXT, "MPI_" #name) \
                         : &PMPI_##name)

static int init_calls, send_calls, dup_calls, finalize_calls;
static const char* region = "none";
static long detail;

int MPI_Init(int* argc, char*** argv) {
  init_calls++;
  return NEXT(Init)(argc, argv);
}

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int destination, int tag,
             MPI_Comm comm) {
  send_calls++;
  return NEXT(Send)(buffer, count, type, destination, tag, comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* result) {
  dup_calls++;
  return NEXT(Comm_dup)(comm, result);
}

// As IPM's and others': a level with a name after it.
int MPI_Pcontrol(const int level, ...) {
  va_list more;
  va_start(more, level);
  region = va_arg(more, const char*);
  detail = va_arg(more, long);
  va_end(more);
  return NEXT(Pcontrol)(level, region, detail);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  finalize_calls++;
  if (rank == 0) {
    printf("tool: %d MPI_Init, %d MPI_Send, %d MPI_Comm_dup, %d MPI_Finalize, region %s %ld\n",
           init_calls, send_calls, dup_calls, finalize_calls, region, detail);
    fflush(stdout);
  }
  return NEXT(Finalize)();
}
