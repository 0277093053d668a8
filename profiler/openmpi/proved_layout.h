// SPDX-License-Identifier: BSD-3-Clause
// Finds out which layout (rankmap/layouts/layout.h) this process's Open MPI has, by looking.
//
// The library's version proposes a layout; its structures must confirm it, because a patch release
// moved fields before (5.0.7), vendors port changes back, and configure's options move fields too.
// What is compared is known without any layout: from MPI's own functions, and because MPI_Init has
// just returned. On MPI_COMM_WORLD and MPI_COMM_SELF: rank, size and members of the group, index,
// name, tag of the next non-blocking collective, the classes of the collectives' modules and of
// what pml/ob1 keeps; and mca_pml, whose functions must be the library's. If the proposed layout
// fails, the others of the series are tried. A process with sessions alone has two communicators of
// its own in their place (private_communicators.h).
//
// The messages that the process then sends to itself (sources/self_check.h) prove what carries
// messages: requests, statuses and the entries of mca_pml.
//
// A candidate's pointers may be anything, so each is looked up in the process's memory map before
// it is followed. Threading: directly after MPI_Init, on its thread, or before the program's first
// communicator.
#pragma once

#include <cstdint>
#include <string>

#include "rankmap/layouts/layout.h"

namespace fathom::profiler {

class PrivateCommunicators;

struct KnownCommunicator {
  const void* comm = nullptr;
  const char* name = "";
  std::uint32_t index = 0;
  int rank = 0, size = 0;
  bool is_predefined = true;  // in zeroed memory: Open MPI leaves one field of others as it was
};

// What the structures are compared with.
struct KnownFacts {
  KnownCommunicator world;     // MPI_COMM_WORLD
  KnownCommunicator self;      // MPI_COMM_SELF; nothing has used it yet
  const void* null = nullptr;  // MPI_COMM_NULL
  const void* pml = nullptr;   // mca_pml
  int world_rank = 0;          // of this process
  bool has_ob1 = false;        // the job uses pml/ob1
  // Whether a function may be an entry of mca_pml.
  bool (*is_pml_function)(const void* address) = nullptr;
};

// Of this process, from MPI's own functions. False if one of them, or a variable, is missing.
bool find_known_facts(KnownFacts& facts);
// The same with these communicators in place of MPI_COMM_WORLD and MPI_COMM_SELF.
bool find_known_facts(const PrivateCommunicators& own, KnownFacts& facts);

// What contradicts the layout, such as "the name of MPI_COMM_WORLD"; empty if nothing does.
std::string contradiction(const openmpi::Layout& layout, const KnownFacts& facts);

// The layout of an Open MPI with this version that nothing contradicts. Null if there is none, with
// `reason` set: what comes after "this program runs on Open MPI v5.0.7, ".
const openmpi::Layout* prove_layout(const openmpi::Version& version, const KnownFacts& facts,
                                    std::string& reason);

}  // namespace fathom::profiler
