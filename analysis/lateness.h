// Lateness: how much later an event ended than the earliest of those that stand in the same logical step
// (logical_structure.h), and where that came from.
//
// For an event e, the computation c before it (from the end of the event before it on its process), and the
// least over all events of the same partition and step:
//   lateness            exit(e) - least exit                  of c: enter(e) - least enter
//   global lateness     the same over all partitions at the global step
//   differential        max(0, lateness(e) - the largest lateness of what e depends on: c, and the senders of what
//     lateness          it receives); of c: max(0, lateness(c) - lateness of the event before)
//   differential        duration(e) - least duration;  of c the same
//     duration
// So lateness tells who is behind, differential lateness who fell behind here, differential duration who took
// longer here, whenever it began.
//
// Done by analysis process 0 alone, with what the others send it: dependences are global, and it is a matter of
// seconds. So it is the same for any number of processes. Cost: linear, below 1 us an event of the trace.
// Memory: some 150 bytes a communication event.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/comm_events.h"
#include "analysis/input.h"
#include "analysis/logical_structure.h"
#include "analysis/registry.h"

namespace fathom::analysis {

struct Late {
  std::uint64_t lateness_ns = 0, global_lateness_ns = 0;
  std::uint64_t differential_ns = 0;           // lateness
  std::uint64_t differential_duration_ns = 0;
};

struct Lateness {
  std::vector<Late> events, computation;  // by event: of it, and of what was computed before it
};

// `begun_ns`: by process, when its first computation begins.
Lateness lateness_of(const CommEvents& all, const LogicalStructure& structure, const std::vector<std::uint64_t>& begun_ns);

base::Result<Outcome> lateness(const Input& input);

}  // namespace fathom::analysis
