// SPDX-License-Identifier: BSD-3-Clause
// Brings what all processes of a run define together: one numbering of functions, classes, phases,
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

// In order of rank; process.rank is set. Functions and classes of a process that lost its
// definitions are taken to be those of the first that has some: they belong to the MPI library, not
// to the process.
RunDefinitions bring_together(const std::vector<ProcessDefinitions>& processes);

}  // namespace fathom::trace
