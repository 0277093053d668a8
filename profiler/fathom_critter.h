/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of critter for Fathom: programs that were written for critter include this header in
 * place of critter.h, and are run with `fathom run`. Nothing to link.
 *
 *   critter::start(), critter_start()    the window "critter" of the critical path opens,
 *   critter::stop(), critter_stop()      and closes (fathom_path_start, fathom_path_stop)
 *   CRITTER_START(kernel), CRITTER_STOP(kernel), TAU_START, TAU_FSTART, TAU_STOP, TAU_FSTOP,
 *   critter_start_timer(name), critter_stop_timer(name)
 *                                        a phase of that name: the path lists what it spends in each
 *   critter::record(), critter::init(), critter_record(), critter_register_timer(),
 *   critter_set_mode()                   nothing: `fathom critical-path` prints what was measured
 *   critter_get_critical_path_costs(), critter_get_max_per_process_costs(),
 *   critter_get_volumetric_costs()       there are 0 costs yet: they are known at MPI_Finalize
 *
 * Arguments that choose a mode, a factor or a communicator are ignored: a window is one of all
 * processes of MPI_COMM_WORLD. fathom.h says what holds for windows and phases. critter's settings
 * (CRITTER_...) have no effect. In C, to which critter has no interface, the functions with costs are
 * missing.
 */
#ifndef FATHOM_CRITTER_H
#define FATHOM_CRITTER_H

#include <mpi.h>

#include "fathom.h"

#ifdef __cplusplus

/* Arguments with defaults, which differ from version to version, are ignored whatever they are. */
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

template <typename... Ignored>
void critter_start(const Ignored&...) {
  critter::start();
}
template <typename... Ignored>
void critter_stop(const Ignored&...) {
  critter::stop();
}
template <typename... Ignored>
void critter_record(const Ignored&...) {}
template <typename... Ignored>
void critter_register_timer(const Ignored&...) {}
template <typename... Ignored>
void critter_set_mode(const Ignored&...) {}

template <typename... Ignored>
void critter_start_timer(const char* name, const Ignored&...) {
  fathom_phase_begin(name);
}
template <typename Text, typename... Ignored>
auto critter_start_timer(const Text& name, const Ignored&...) -> decltype((void)name.c_str()) {
  fathom_phase_begin(name.c_str());
}
template <typename Text, typename... Ignored>
void critter_stop_timer(const Text&, const Ignored&...) {
  fathom_phase_end();
}

inline int critter_get_critical_path_costs() { return 0; }
inline void critter_get_critical_path_costs(float*) {}
inline int critter_get_max_per_process_costs() { return 0; }
inline void critter_get_max_per_process_costs(float*) {}
inline int critter_get_volumetric_costs() { return 0; }
inline void critter_get_volumetric_costs(float*) {}

#else

#define critter_start(...) fathom_path_start("critter")
#define critter_stop(...) fathom_path_stop("critter")
#define critter_record(...) ((void)0)
#define critter_register_timer(...) ((void)0)
#define critter_set_mode(...) ((void)0)
#define critter_start_timer(name, ...) fathom_phase_begin(name)
#define critter_stop_timer(name, ...) fathom_phase_end()

#endif

/* critter's macros end in a semicolon, and programs rely on it. */
#define CRITTER_START(kernel) fathom_phase_begin(#kernel);
#define CRITTER_STOP(kernel) fathom_phase_end();
#define TAU_START(kernel) fathom_phase_begin(#kernel);
#define TAU_STOP(kernel) fathom_phase_end();
#define TAU_FSTART(kernel) fathom_phase_begin(#kernel);
#define TAU_FSTOP(kernel) fathom_phase_end();

#endif
