/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of critter for Fathom: programs that were written for critter include this header in
 * place of critter.h, and are run with `fathom run`. Nothing to link.
 *
 *   critter::start(), critter_start()    the window "critter" of the critical path opens,
 *   critter::stop(), critter_stop()      and closes (fathom_path_start, fathom_path_stop)
 *   CRITTER_START(kernel), CRITTER_STOP(kernel), TAU_START, TAU_FSTART, TAU_STOP, TAU_FSTOP,
 *   critter_start_timer(name), critter_stop_timer(name)
 *                                        a phase of that name: the path lists what it spends in each
 *   critter::record(), critter::init(), critter_record(), critter_register_timer()
 *                                        nothing: `fathom critical-path` prints what was measured
 *
 * Arguments that choose a mode, a factor or a communicator are ignored: a window is one of all
 * processes of MPI_COMM_WORLD. fathom.h says what holds for windows and phases. critter's settings
 * (CRITTER_...) have no effect; its functions that return costs do not exist, because the path is
 * known only at MPI_Finalize.
 */
#ifndef FATHOM_CRITTER_H
#define FATHOM_CRITTER_H

#include <mpi.h>

#include "fathom.h"

/* As macros, because critter's have arguments with defaults, which differ from version to version. */
#define critter_start(...) fathom_path_start("critter")
#define critter_stop(...) fathom_path_stop("critter")
#define critter_record(...) ((void)0)
#define critter_register_timer(...) ((void)0)
#define critter_start_timer(name, ...) fathom_phase_begin(name)
#define critter_stop_timer(name, ...) fathom_phase_end()

/* critter's macros end in a semicolon, and programs rely on it. */
#define CRITTER_START(kernel) fathom_phase_begin(#kernel);
#define CRITTER_STOP(kernel) fathom_phase_end();
#define TAU_START(kernel) fathom_phase_begin(#kernel);
#define TAU_STOP(kernel) fathom_phase_end();
#define TAU_FSTART(kernel) fathom_phase_begin(#kernel);
#define TAU_FSTOP(kernel) fathom_phase_end();

#ifdef __cplusplus
namespace critter {
template <typename... Ignored>
void start(const Ignored&...) {
  fathom_path_start("critter");
}
template <typename... Ignored>
void stop(const Ignored&...) {
  fathom_path_stop("critter");
}
template <typename... Ignored>
void init(const Ignored&...) {}
template <typename... Ignored>
void record(const Ignored&...) {}
}  // namespace critter
#endif

#endif
