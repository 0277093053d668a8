// SPDX-License-Identifier: BSD-3-Clause
// The folder with the results of one run, and what a job may have left there.
//
//   profile.json         the job's profile, written by rank 0 at MPI_Finalize
//   .started             identifies the folder's owner; created by rank 0 when counting
//                        begins, removed when profile.json is written
//   .running             identifies the `fathom run` that waits for the job (run_state.h)
//   partial/             counts of single processes, left by a job that never reached that point, or
//                        whose MPI ended with a session
//   live/                while the job runs: samples for readers on other hosts (live/host_sample.h)
//   trace/               what fathom run --trace recorded, one file per process
//   snap-1/, signal-1/, …  snapshots of a flight recorder, each with a trace (docs/flight.md)
//   job-2/, job-3/, …    the same for each further job that the command started; until it ends,
//                        and without `fathom run`, under Open MPI's own number: job-1234567
//   world-ID/            the same for each world that a job spawned
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

class RunDirectory {
 public:
  // Creates the folder, or uses an existing one. An Error if it has a run already and `replace` is
  // not set; otherwise removes that run's files and nothing else.
  static base::Result<RunDirectory> create(const std::string& path, bool replace);

  // fathom-APP-JOBID in the working directory; JOBID is Slurm's, else the local date and time. If
  // that exists, adds -2, -3 and so on.
  static base::Result<RunDirectory> create_default(const std::string& application);

  // A folder that is there already.
  static RunDirectory existing(const std::string& path) { return RunDirectory(path, false); }

  const std::string& path() const { return path_; }  // absolute
  std::string shown() const;                         // as short as possible from here
  std::string profile_path() const { return path_ + "/profile.json"; }
  bool has_profile() const;
  bool was_started() const;  // rank 0 of the job reached MPI_Init with the library
  std::vector<std::string> further_jobs() const;    // their folders, in natural order
  std::vector<std::string> spawned_worlds() const;  // likewise

  // Numbers further jobs in the order in which they started, from job-2 on. Leaves those alone that
  // still run, and names that are taken.
  void number_further_jobs() const;

  // Removes the folder if this object created it and it is still empty.
  void remove_if_unused() const;

 private:
  std::vector<std::string> folders_named(const std::string& prefix) const;

  RunDirectory(std::string path, bool made) : path_(std::move(path)), made_(made) {}

  std::string path_;
  bool made_ = false;
};

// A run as given by the user, a folder or a profile.json, as the path of the profile.json. A run
// whose processes left their counts one by one is merged first. The Error says what is missing in
// a run.
base::Result<std::string> recorded_profile_of(const std::string& run);

// The same, but for a run that has only a trace (an imported one) the profile is computed from
// that, once: it writes RUN/profile.json with kMadeFromTrace among the notes of its coverage, and
// reports it on stderr.
base::Result<std::string> profile_of(const std::string& run);

// What `fathom simulate` and `place` accept as a job: a run as above, or else `run` itself, which
// may be output of the reference profiler.
base::Result<std::string> job_of(const std::string& run);

inline constexpr char kMadeFromTrace[] = "this profile was made from the trace beside it";

}  // namespace fathom::cli
