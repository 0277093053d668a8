// SPDX-License-Identifier: BSD-3-Clause
// What the functions of a trace mean: mpi/meaning.h, limited to what this trace records of their
// calls.
//
// Traces of other tools, and partial ones, may lack attributes. A function that makes a request
// counts as doing so only where the request is recorded, and a collective has its place in a
// communicator's sequence only where the communicator is. The group is the one that the trace
// states.
#pragma once

#include <vector>

#include "trace/definitions.h"

namespace fathom::trace {

mpi::Meaning meaning_of(const Function& function);
std::vector<mpi::Meaning> meanings(const Definitions& definitions);  // by number of the function

}  // namespace fathom::trace
