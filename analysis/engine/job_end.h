// SPDX-License-Identifier: BSD-3-Clause
// Where the job ended: nobody leaves MPI_Finalize before all have entered it (Open MPI's waits for
// all processes), so the last to enter determined when the job was over.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"

namespace fathom::analysis {

struct JobEnd {
  std::uint32_t process = kNobody;  // the last to enter MPI_Finalize, else the last with an event
  std::uint64_t time_ns = 0;        // when that process ended
  std::vector<std::uint64_t>
      arrived_ns;  // by process: when it reached the end; the same at every analysis process
};

// Collective over the job's transport.
JobEnd job_end(JoinedJob& job);

}  // namespace fathom::analysis
