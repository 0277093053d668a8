// SPDX-License-Identifier: BSD-3-Clause
// What the environment asks for. One table for users: docs/environment.md.
#pragma once

#include <string>
#include <vector>

namespace fathom::profiler {

enum class SourceName { kNone, kPeruse, kPml, kMpiT };
const char* name_of(SourceName source);

struct Settings {
  bool disabled = false;                    // FATHOM_DISABLE
  bool automatic = true;                    // FATHOM_SOURCE unset or "auto"
  SourceName source = SourceName::kPeruse;  // the one asked for; the first tried when automatic
  std::string bad_source;                   // a FATHOM_SOURCE that is no source
  std::string output;           // FATHOM_OUTPUT, absolute; empty: fathom-APP-JOB in start_directory
  std::string start_directory;  // where the process was started
  std::vector<std::string> performance_variables;  // FATHOM_PVARS
  bool quiet = false;                              // FATHOM_LOG=quiet: not even errors on stderr
  bool informs = false;                            // FATHOM_LOG=info: says where the profile is
};

// The value of an environment variable, empty where it is not set.
std::string environment_value(const char* name);

// The items of "a,b,c", without empty ones; the same of a variable.
std::vector<std::string> comma_separated(const std::string& list);
std::vector<std::string> environment_list(const char* name);

// Reads the environment. `start_directory` is where the process was when it was loaded.
Settings read_settings(const std::string& start_directory);

// Whether this process says what concerns the whole job and cannot be asked of MPI: the one that
// its launcher calls rank 0, and any without a launcher.
bool speaks_for_the_job();

}  // namespace fathom::profiler
