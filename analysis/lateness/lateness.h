// SPDX-License-Identifier: BSD-3-Clause
// Lateness: how much later an event ended than the earliest of those that stand in the same logical
// step (logical_structure.h), and where that came from.
//
// For an event e, the computation c before it (from the end of the event before it on its process),
// and the least over all events of the same partition and step:
//   lateness            exit(e) - least exit                  of c: enter(e) - least enter
//   global lateness     the same over all partitions at the global step
//   differential        max(0, lateness(e) - the largest lateness of what e depends on: c, and the senders of what
//     lateness          it receives); of c: max(0, lateness(c) - lateness of the event before)
//   differential        duration(e) - least duration;  of c the same
//     duration
// So lateness tells who is behind, differential lateness who fell behind here, differential
// duration who took longer here, whenever it began.
//
// Done by analysis process 0 alone, with what the others send it: dependences are global, and it is
// a matter of seconds. So it is the same for any number of processes. Cost: linear, below 1 us an
// event of the trace. Memory: some 100 bytes a communication event, in temporary files where that
// is much (base/scratch.h).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/lateness/comm_events.h"
#include "analysis/lateness/logical_structure.h"
#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

struct Late {
  std::uint64_t lateness_ns = 0, global_lateness_ns = 0;
  std::uint64_t differential_ns = 0;  // lateness
  std::uint64_t differential_duration_ns = 0;
};

// Of what is handed over, which outlives it. What the events of a step have in common is kept, some
// 64 bytes a step; the rest is worked out where it is asked for.
class Lateness {
 public:
  // `begun_ns`: by process, when its first computation begins.
  Lateness(const CommEvents& all, const LogicalStructure& structure,
           std::vector<std::uint64_t> begun_ns);

  Late event(std::uint32_t event) const;
  Late computation(std::uint32_t event) const;  // before this event
  std::uint64_t lateness_ns(std::uint32_t event) const {
    return all_.events[event].exit_ns - least_[structure_.bucket(event)].exit_ns;
  }

 private:
  struct Least {
    std::uint64_t exit_ns = ~std::uint64_t{0}, enter_ns = exit_ns, duration_ns = exit_ns,
                  computation_ns = exit_ns;
  };

  bool is_first(std::uint32_t event) const {
    return all_.first_of[all_.events[event].process] == event;
  }
  std::uint64_t duration_ns(std::uint32_t event) const;
  std::uint64_t computation_ns(std::uint32_t event) const;
  std::uint64_t lateness_before_ns(std::uint32_t event) const {
    return all_.events[event].enter_ns - least_[structure_.bucket(event)].enter_ns;
  }

  const CommEvents& all_;
  const LogicalStructure& structure_;
  const std::vector<std::uint64_t> begun_ns_;
  ScratchVector<Least> least_;  // by bucket
  ScratchVector<std::uint64_t> exit_ns_,
      enter_ns_;  // the least of all partitions, by global step / 2
};

base::Result<Outcome> lateness(const Input& input);

}  // namespace fathom::analysis
