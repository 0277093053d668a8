// SPDX-License-Identifier: BSD-3-Clause
// The folder in which a job leaves its results.
//
// FATHOM_OUTPUT may name a folder that belongs to another job: an earlier one, or one that runs at
// the same time (a script with several mpiruns). The job then uses job-JOB/ inside it, and a world
// that a job spawned uses world-JOB/; `fathom run` numbers the jobs afterwards (job-2, job-3, …).
// The mark RUN/.started, a symbolic link to the job's number and the process that made it
// (base/process_mark.h), says which job owns RUN until profile.json is written. A link because it is
// created together with its content in one step, also on a file system that hosts share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fathom::profiler {

// Makes the folder and its parents. False, with errno set, if it does not exist afterwards.
bool make_directories(const std::string& path);

// Makes RUN, or else RUN/job-JOB, marks it for this job and returns it. All processes of the job
// that share the file system get the same answer, whichever asks first. Nothing, with errno set, if
// the folder cannot be made.
std::optional<std::string> claim_run_directory(const std::string& run, std::uint32_t job);

// RUN/job-JOB, for a job that finds RUN taken.
std::string further_job_directory(const std::string& run, std::uint32_t job);

// RUN/world-JOB, for a world that a job spawned.
std::string world_directory(const std::string& run, std::uint32_t job);

// Whether RUN is marked for another job. Async-signal-safe.
bool is_marked_for_another(const char* run, std::uint32_t job) noexcept;

// Whether RUN is marked for another job, or already holds a profile. That profile is another job's,
// because `job` has not written its own yet.
bool is_taken(const std::string& run, std::uint32_t job);

// Removes the mark, once the profile is written.
void release_run_directory(const std::string& run);

}  // namespace fathom::profiler
