// SPDX-License-Identifier: BSD-3-Clause
// Merges the definitions of all processes of a run: one numbering of functions, classes, phases,
// communicators and ranks, and for each process the tables that translate its own numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/decode.h"
#include "trace/definitions.h"
#include "trace/process_definitions.h"
#include "trace/time_map.h"

namespace fathom::trace {

struct RunDefinitions {
  Definitions definitions;           // without times
  std::vector<DecodeTables> tables;  // by process
  RunClock clock;
};

// `processes`: in order of rank, with process.rank set. A process that lost its definitions gets
// the functions and classes of the first process that has some: they belong to the MPI library, not
// to the process.
RunDefinitions bring_together(const std::vector<ProcessDefinitions>& processes);

}  // namespace fathom::trace
