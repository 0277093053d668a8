// SPDX-License-Identifier: BSD-3-Clause
// Whether the command that records a run still runs. `fathom run` leaves RUN/.running while it
// waits for the job; a job that was started without it leaves RUN/.started, which the library makes
// at MPI_Init (profiler/process/run_directory.h). Both say which process made them. A SIGKILL
// leaves both in place, and then that process is gone.
//
// Reading never changes a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

enum class Progress {
  kEnded,
  kRunning,
  kLost,     // ended abruptly: killed, or its host went down
  kUnknown,  // it runs, or ran, on another host or in a container, where we cannot look
};

// Begins what RunState::what says of a job with a flight recorder.
inline constexpr char kKeepsTheLast[] = "the last";

struct RunState {
  Progress progress = Progress::kEnded;
  std::string process;        // "process 4711 on node01"; empty if the job ended properly
  std::int64_t since_s = 0;   // when it started, Unix time
  std::string command, what;  // as `fathom run` described them; empty without it
};

RunState state_of(const std::string& run);

// "still running, for 3 min 20 s (process 4711 on node01)"
std::string sentence_of(const RunState& state);

// "running", "ended", "lost", "unknown": for programs.
const char* name_of(Progress progress);

// RUN/.running, for as long as the object lives. Failure to write it is harmless: then nobody can
// see that the job runs.
class RunningMark {
 public:
  // `command`: ready for a shell. `what` is recorded, in words.
  RunningMark(const std::string& run, const std::string& command, const std::string& what);
  ~RunningMark() { remove(); }
  RunningMark(const RunningMark&) = delete;

  void remove();

 private:
  std::string path_;
};

}  // namespace fathom::cli
