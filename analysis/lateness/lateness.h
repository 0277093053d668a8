// SPDX-License-Identifier: BSD-3-Clause
// Lateness: how much later an event ended than the earliest event in the same logical step
// (logical_structure.h), and where that came from.
//
// Let e be an event and c the computation before it (since the end of the previous event on its
// process). The least is taken over all events of the same partition and step.
//
//                            of an event e                         of its computation c
//   lateness                 exit(e) - least exit                  enter(e) - least enter
//   global lateness          the same over all partitions, at the global step
//   differential lateness    max(0, lateness(e) - the largest      max(0, lateness(c) - lateness of
//                            lateness of what e depends on: c,     the previous event)
//                            and the senders of what it receives)
//   differential duration    duration(e) - least duration          the same
//
// So lateness shows who is late, differential lateness who fell behind here, and differential
// duration who took longer here, whenever it began.
//
// Analysis process 0 computes this alone from data that the others send it: dependences are global,
// and it takes only seconds. So the result is the same for any number of processes. Cost: linear,
// below 1 us per event of the trace. Memory: about 100 bytes per communication event, in temporary
// files if that is much (base/scratch.h).
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

// Lateness of events in data that must outlive this object. Stores only what the events of a step
// share, about 64 bytes per step; computes the rest when asked.
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
      enter_ns_;  // the least over all partitions, by global step / 2
};

base::Result<Outcome> lateness(const Input& input);

}  // namespace fathom::analysis
