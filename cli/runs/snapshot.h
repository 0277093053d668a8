// SPDX-License-Identifier: BSD-3-Clause
// Takes a snapshot of a job that runs with a flight recorder: asks the keepers of its processes, on
// whichever hosts they are, through the run directory (trace/format/flight.h).
//
// The job itself does nothing for it, so it may hang, or be stopped.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

struct Snapshot {
  std::string job;            // its run directory
  std::string folder;         // JOB/snap-N, a run directory with a trace
  std::size_t processes = 0;  // that are in it
  std::size_t missing = 0;    // ranks that left none, as far as the trace says
};

// RUN/NAME, a symbolic link that asks for something, for as long as the object lives.
class SnapshotRequest {
 public:
  // `takes`: how long it usually lives; one that is a minute older was left by somebody who was
  // interrupted.
  static base::Result<SnapshotRequest> make(const std::string& run, const char* name,
                                            const std::string& text,
                                            std::chrono::nanoseconds takes = {});
  ~SnapshotRequest();
  SnapshotRequest(SnapshotRequest&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  SnapshotRequest& operator=(SnapshotRequest&&) = delete;

 private:
  explicit SnapshotRequest(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Makes the first RUN/snap-N that is free; the name without RUN.
base::Result<std::string> make_snapshot_folder(const std::string& run);

// The run directories whose jobs run, or may run: RUN itself, RUN/job-J of a further mpirun of one script, RUN/world-J of a
// world that a job spawned (profiler/process/run_directory.h). An Error if there is no such run, or if none does.
base::Result<std::vector<std::string>> running_jobs(const std::string& run);

// A snapshot of each of these jobs, at one moment: waits `for_ns`, then for the keepers. One with 0 processes has left nothing,
// because no keeper answered. One at a time; an Error says that another one is being taken, or that no keeper answered at
// all.
base::Result<std::vector<Snapshot>> take_snapshots(const std::vector<std::string>& jobs,
                                                   std::uint64_t for_ns = 0);

}  // namespace fathom::cli
