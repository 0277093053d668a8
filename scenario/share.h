// SPDX-License-Identifier: BSD-3-Clause
// Several processes share the combinations of a scenario: a process started alone does all of them;
// several started together by mpirun or srun take turns (process i mod size does combination i).
//
// They exchange results through files in the results folder, which all must see. Process R leaves
// .part-JOB-R, which appears completely or not at all; process 0 reads and removes the files. A
// process that failed leaves its reason there, so that process 0 ends too.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/launcher.h"
#include "base/result.h"

namespace fathom::scenario {

struct Share {
  std::size_t process = 0, processes = 1;
  std::string job;  // identifies this start; plain letters and digits

  bool mine(std::size_t combination) const { return combination % processes == process; }
};

// From the launcher's variables (base/launcher.h); without them, alone.
Share share_from(const base::Environment& environment = base::process_environment);

// The result of one combination: texts whose meaning the caller defines.
struct Part {
  std::size_t combination = 0;
  std::vector<std::string> texts;
};

// Called by every process but the first; `failure` is empty if all went well.
base::Status leave_parts(const Share& share, const std::string& folder,
                         const std::vector<Part>& parts, const std::string& failure);

// Called by the first process, which adds the others' parts to its own, ascending by combination.
// Waits for them. An Error if one failed, or if nothing new appears for `patience_s`.
base::Status gather_parts(const Share& share, const std::string& folder, double patience_s,
                          std::vector<Part>& parts);

}  // namespace fathom::scenario
