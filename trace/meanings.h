// SPDX-License-Identifier: BSD-3-Clause
// The meaning of a trace's functions: mpi/meaning.h, limited to what this trace records of their
// calls.
//
// Traces of other tools, and partial ones, may lack attributes. A function that makes a request
// counts as such only if the request is recorded (but is always immediate), and a collective has a place in a communicator's
// sequence only if the communicator is recorded. The group is the one that the trace states.
#pragma once

#include <vector>

#include "trace/definitions.h"

namespace fathom::trace {

mpi::Meaning meaning_of(const Function& function);
std::vector<mpi::Meaning> meanings(const Definitions& definitions);  // by number of the function

}  // namespace fathom::trace
