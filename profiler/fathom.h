/* SPDX-License-Identifier: BSD-3-Clause */
/* Named phases for programs that are profiled with Fathom: a header only, nothing to link.
 *
 *   fathom_phase_begin("exchange");
 *   ... communication ...
 *   fathom_phase_end();
 *
 * What this process sends and receives in between is counted separately under that name. Phases
 * nest: a message belongs to the innermost one. Without Fathom, each call looks for the library
 * once and then costs a test of a pointer. Not for concurrent use by several threads of a process.
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

#ifdef __cplusplus
}
#endif

#endif
