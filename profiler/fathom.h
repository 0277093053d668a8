/* SPDX-License-Identifier: BSD-3-Clause */
/* Named phases, and windows of the critical path, for programs that are profiled with Fathom: a
 * header only, nothing to link.
 *
 *   fathom_phase_begin("exchange");
 *   ... communication ...
 *   fathom_phase_end();
 *
 * What this process sends and receives in between is counted separately under that name. Phases
 * nest: a message belongs to the innermost one.
 *
 *   fathom_path_start("solver");
 *   ... work and communication ...
 *   fathom_path_stop("solver");
 *
 * The profile tells the critical path through this window, and critter's metrics along it and per
 * process. Every process of MPI_COMM_WORLD must open and close the same windows equally often;
 * nothing is sent when it does, and none waits for another. A window that is opened several times is
 * one window: its paths and metrics are summed up. Windows with different names may nest and
 * overlap. One that is still open at MPI_Finalize ends there. Left out, and said so in the profile:
 * windows of which the processes disagree, more than 64 names, more than 4,096 openings of all
 * windows together, and windows that another thread than that of MPI_Init opens. Phases and
 * MPI_Pcontrol have no effect on a window; while counting is paused, calls count as computation.
 *
 * Without Fathom, each of these calls looks for the library once and then costs a test of a pointer.
 * Not for concurrent use by several threads of a process.
 */
#ifndef FATHOM_H
#define FATHOM_H

#include <dlfcn.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline void fathom_phase_begin(const char* name) {
  static void (*begin)(const char*) = NULL;
  static int looked = 0;
  if (!looked) {
    *(void**)&begin = dlsym(RTLD_DEFAULT, "fathom_library_phase_begin");
    looked = 1;
  }
  if (begin) begin(name);
}

static inline void fathom_phase_end(void) {
  static void (*end)(void) = NULL;
  static int looked = 0;
  if (!looked) {
    *(void**)&end = dlsym(RTLD_DEFAULT, "fathom_library_phase_end");
    looked = 1;
  }
  if (end) end();
}

static inline void fathom_path_start(const char* name) {
  static void (*start)(const char*) = NULL;
  static int looked = 0;
  if (!looked) {
    *(void**)&start = dlsym(RTLD_DEFAULT, "fathom_library_path_start");
    looked = 1;
  }
  if (start) start(name);
}

static inline void fathom_path_stop(const char* name) {
  static void (*stop)(const char*) = NULL;
  static int looked = 0;
  if (!looked) {
    *(void**)&stop = dlsym(RTLD_DEFAULT, "fathom_library_path_stop");
    looked = 1;
  }
  if (stop) stop(name);
}

#ifdef __cplusplus
}
#endif

#endif
