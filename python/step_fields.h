// SPDX-License-Identifier: BSD-3-Clause
// All fields of one step (analysis/engine/step.h) as a tuple, with ranks for processes; fathom.Step
// is built from it.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "analysis/engine/step.h"
#include "trace/reader.h"

namespace fathom::python {

inline pybind11::tuple step_fields(const trace::Definitions& definitions, std::uint32_t process,
                                   std::uint32_t number, const analysis::Step& step) {
  const auto& processes = definitions.processes;
  const auto index = [](std::uint32_t value) {
    return value == analysis::kNobody ? std::int64_t{-1} : std::int64_t{value};
  };
  const bool has_partner =
      step.kind != analysis::StepKind::kCall && step.partner < processes.size();
  return pybind11::make_tuple(static_cast<int>(step.kind), processes[process].rank, number,
                              step.time_ns, step.end_ns, step.bytes, index(step.call),
                              has_partner ? processes[step.partner].rank : std::int64_t{-1},
                              has_partner ? index(step.partner_step) : std::int64_t{-1},
                              step.communicator, static_cast<std::int32_t>(step.number),
                              step.has(analysis::kHidden), step.has(analysis::kJoined));
}

}  // namespace fathom::python
