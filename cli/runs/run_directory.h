// SPDX-License-Identifier: BSD-3-Clause
// The folder that one run leaves its results in, and what a job may have left there.
//
//   profile.json         the job's profile, written by rank 0 at MPI_Finalize
//   .started             whose folder it is: made by rank 0 at MPI_Init, gone when profile.json is written
//   partial/             counts of single processes, left by a job that never got there
//   trace/               what fathom run --trace recorded, a file for each process
//   world-ID/            the same of each further job: spawned by the first, or started by the same command
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

class RunDirectory {
 public:
  // Makes the folder, or takes one that is there. An Error if it holds a run already and `replace`
  // is not set; with it, that run's files (and nothing else) are removed.
  static base::Result<RunDirectory> create(const std::string& path, bool replace);

  // fathom-APP-JOBID in the working directory; JOBID is Slurm's, else the local date and time. If
  // that is taken, -2, -3 and so on are added.
  static base::Result<RunDirectory> create_default(const std::string& application);

  const std::string& path() const { return path_; }  // absolute
  std::string shown() const;                         // as short as it can be said from here
  std::string profile_path() const { return path_ + "/profile.json"; }
  bool has_profile() const;
  bool was_started() const;  // rank 0 of the job reached MPI_Init with the library
  std::vector<std::string> further_worlds() const;  // their folders

  // Removes the folder if this object made it and nothing was put there.
  void remove_if_unused() const;

 private:
  RunDirectory(std::string path, bool made) : path_(std::move(path)), made_(made) {}

  std::string path_;
  bool made_ = false;
};

// A run as the user names it, a folder or a profile.json, as the path of the profile.json. One that
// was cut short and not merged yet is merged first. The Error says in which way a run is missing.
base::Result<std::string> recorded_profile_of(const std::string& run);

// The same; a run that only has a trace (an imported one) gets its profile from that, once:
// RUN/profile.json is written (and stderr told), with kMadeFromTrace among the notes of its
// coverage.
base::Result<std::string> profile_of(const std::string& run);

// What `fathom simulate` and `place` take for a job: a run as above, or else `run` itself, which
// may be what the reference profiler left.
base::Result<std::string> job_of(const std::string& run);

inline constexpr char kMadeFromTrace[] = "this profile was made from the trace beside it";

}  // namespace fathom::cli
