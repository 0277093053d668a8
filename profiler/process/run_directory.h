// SPDX-License-Identifier: BSD-3-Clause
// The folder that a job leaves its results in.
//
// FATHOM_OUTPUT may name a folder that another job has: an earlier one, or one that runs at the
// same time (a script with several mpiruns). Then the job's own is world-JOB/ in it. RUN/.started,
// a symbolic link to the job's number, says whose RUN is until its profile.json stands there: it is
// made with its content in one step, also on a file system that hosts share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fathom::profiler {

// The folder and those above it; false (errno tells) if it is not there afterwards.
bool make_directories(const std::string& path);

// RUN, or else RUN/world-JOB, made and marked for this job. All processes of the job that share the
// file system get the same answer, whichever asks first. Nothing if the folder cannot be made
// (errno tells).
std::optional<std::string> claim_run_directory(const std::string& run, std::uint32_t job);

// RUN/world-JOB.
std::string world_directory(const std::string& run, std::uint32_t job);

// Whether RUN is marked for another job. Async-signal-safe.
bool is_marked_for_another(const char* run, std::uint32_t job) noexcept;

// Whether RUN is marked for another job, or holds the profile of one: `job` has not written its own
// yet.
bool is_taken(const std::string& run, std::uint32_t job);

// The profile is written: the mark goes.
void release_run_directory(const std::string& run);

}  // namespace fathom::profiler
