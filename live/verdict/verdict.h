// SPDX-License-Identifier: BSD-3-Clause
// Who holds whom up in a running job, and why: one verdict from two samples of its state.
//
// Method. Each thread that waits in MPI needs other ranks: all of its requests (MPI_Waitall, blocking
// calls) or any of them (MPI_Waitany, MPI_ANY_SOURCE). Starting from the ranks that run, every thread whose
// needs such ranks can meet is released, until nothing changes: the reduction of an AND-OR graph, as MUST does
// it (Hilbrich, de Supinski, Schulz, Müller: A graph based approach for MPI deadlock detection, ICS 2009;
// Hilbrich et al.: MPI runtime error detection with MUST, Scientific Programming 21, 2013). What is left can
// never go on: it is a deadlock, and the strongly connected components that need nobody outside are its core.
// Ours is the rest: MUST follows every call, this compares two samples taken from outside, so a thread
// counts as waiting only if it has begun no call between them; the causes; and what is said of jobs that
// are slow and not stuck.
//
// A verdict says `hung` only where the graph proves it. A rank that computes forever cannot be told from one
// that computes for long: it is slow, and not hung.
//
// Threading: pure functions. Cost: linear in ranks, needs and members of communicators, times the longest
// chain of ranks that wait for each other in turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json/writer.h"
#include "live/job_state.h"

namespace fathom::live {

enum class Cause : std::uint8_t {
  kNothing,               // the job moves
  kSlowRank,              // others wait for a rank that computes
  kIdleRank,              // others wait for a rank that is outside of MPI and uses no processor
  kPollingRank,           // others wait for a rank that only tests requests or probes
  kNotSeen,               // others wait for a rank of which no recent sample exists
  kMissingParticipant,    // a collective waits for a rank that cannot come to it
  kDifferentCollectives,  // members of one communicator are in different collectives
  kDifferentRoots,
  kDifferentSizes,
  kCycleOfReceives,
  kCycleOfSends,        // rendezvous or synchronous
  kCycle,               // of sends and receives
  kCycleOfCollectives,  // members of several communicators use them in different orders
  kUnmatchedMessage,    // a message was sent, but with another tag, communicator or to another rank
  kProcessGone,         // it died without MPI_Finalize
  kProcessStopped,      // SIGSTOP, or a debugger
  kProcessFinalizing,   // it is in or behind MPI_Finalize, and others wait for it
  kLibrary,             // everything that a call needs is there, and it does not return
  kUnexplained,         // what a call waits for is not known: one-sided, files
};

// "missing-participant": as JSON and documents have it.
const char* name_of(Cause cause);

struct Verdict {
  Cause cause = Cause::kNothing;
  bool hung = false;                   // no rank that runs can ever release the victims
  std::vector<std::int32_t> culprits;  // world ranks, ascending
  std::vector<std::int32_t> victims;   // those that wait for a culprit, directly or not; ascending
  double since_s = 0;                  // for how long the last of the victims has waited
  std::uint64_t further = 0;           // independent problems beside this one
  std::string text;                    // one or a few sentences
};

// `earlier` is a sample of the same job, taken before `now`; one without ranks if there is none: then a
// thread that has been in its call for a second counts as waiting.
Verdict judge(const JobState& now, const JobState& earlier);

// Into an object that is open.
void write_members(const Verdict& verdict, base::JsonWriter& json);

}  // namespace fathom::live
