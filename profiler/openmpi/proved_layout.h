// SPDX-License-Identifier: BSD-3-Clause
// Finds out which layout (rankmap/layouts/layout.h) this process's Open MPI has, by looking.
//
// The library's version proposes a layout; its structures must confirm it, because a patch release
// moved fields before (5.0.7), vendors port changes back, and configure's options move fields too.
// What is compared is known without any layout: from MPI's own functions, and because MPI_Init has
// just returned. On MPI_COMM_WORLD and MPI_COMM_SELF: rank, size and members of the group, index,
// name, tag of the next non-blocking collective, the classes of the collectives' modules and of
// what pml/ob1 keeps; and mca_pml, whose functions must be the library's. If the proposed layout
// fails, the others of the series are tried.
//
// The messages that the process then sends to itself (sources/self_check.h) prove what carries
// messages: requests, statuses and the entries of mca_pml.
//
// A candidate's pointers may be anything, so each is looked up in the process's memory map before
// it is followed. Threading: directly after MPI_Init, on its thread.
#pragma once

#include <string>

#include "rankmap/layouts/layout.h"

namespace fathom::profiler {

// What the structures are compared with.
struct KnownFacts {
  const void* world = nullptr;  // MPI_COMM_WORLD
  const void* self = nullptr;   // MPI_COMM_SELF
  const void* pml = nullptr;    // mca_pml
  int rank = 0, size = 0;       // of MPI_COMM_WORLD
  bool has_ob1 = false;         // the job uses pml/ob1
  // Whether a function may be an entry of mca_pml.
  bool (*is_pml_function)(const void* address) = nullptr;
};

// Of this process, from MPI's own functions. False if one of them, or a variable, is missing.
bool find_known_facts(KnownFacts& facts);

// What contradicts the layout, such as "the name of MPI_COMM_WORLD"; empty if nothing does.
std::string contradiction(const openmpi::Layout& layout, const KnownFacts& facts);

// The layout of an Open MPI with this version that nothing contradicts. Null if there is none, with
// `reason` set: what comes after "this program runs on Open MPI v5.0.7, ".
const openmpi::Layout* prove_layout(const openmpi::Version& version, const KnownFacts& facts,
                                    std::string& reason);

}  // namespace fathom::profiler
