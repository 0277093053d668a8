// SPDX-License-Identifier: BSD-3-Clause
// The trace settings that the environment asks for. docs/environment.md documents them for users.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::profiler {

struct TraceSettings {
  bool wanted = true;       // FATHOM_TRACE is neither 0 nor request
  bool on_request = false;  // FATHOM_TRACE is request: of some seconds, when somebody asks
  bool transfers = true;    // FATHOM_TRACE_LEVEL: transfers (default) or calls
  bool sites = true;        // FATHOM_TRACE_SITES is not 0
  std::uint64_t memory_bytes = std::uint64_t{16}
                               << 20;  // FATHOM_TRACE_MEMORY: of chunks, per process
  std::uint64_t size_cap_bytes = 0;    // FATHOM_TRACE_SIZE: of trace file, per process; 0: no limit
  std::vector<std::string>
      functions;  // FATHOM_TRACE_FUNCTIONS: MPI_Send,MPI_I*,-MPI_Test*; empty: all
  std::vector<std::string>
      communicators;                // FATHOM_TRACE_COMMUNICATORS: names or constructors, as above
  std::string ranks;                // FATHOM_TRACE_RANKS: 0-3,8; empty: all
  std::vector<std::string> phases;  // FATHOM_TRACE_PHASES: inside these, as above; empty: always
  std::uint64_t flight_bytes = 0;   // FATHOM_FLIGHT: keep the last records in so much memory, per
                                    // process, and write nothing; 0: write a trace
  double after_seconds = 0;         // FATHOM_TRACE_AFTER: from MPI_Init
  double for_seconds = 0;           // FATHOM_TRACE_FOR; 0: to the end
  std::uint32_t sample = 1;         // FATHOM_TRACE_SAMPLE: every n-th call of a thread
  std::vector<std::string> not_understood;  // sentences about values that could not be read
};

TraceSettings read_trace_settings();

// Whether a list like "0-3,8" holds the number; an empty list holds all.
bool list_holds(const std::string& list, std::uint32_t number);

}  // namespace fathom::profiler
