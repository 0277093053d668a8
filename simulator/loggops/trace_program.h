// SPDX-License-Identifier: BSD-3-Clause
// A recorded run as a program to replay: its sends and receives, its collectives as the messages
// they were made of, and the computation between them (trace/join/operations.h).
//
// Recorded computation is replayed with its recorded length. Messages keep source, tag and
// communicator, and each receive gets the same message as in the run. Memory: the Program.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/jobs/job.h"
#include "simulator/loggops/program.h"

namespace fathom::simulator {

struct TracedProgram {
  Program program{0};
  std::vector<std::string> notes;  // what the trace lacks, in sentences
};

// `run` is a run directory with a trace, or a GOAL schedule (FILE.goal).
base::Result<TracedProgram> load_program(const std::string& run);

// What the program sends, as a job.
Job job_from_program(const Program& program, std::string name);

}  // namespace fathom::simulator
