// SPDX-License-Identifier: BSD-3-Clause
// The settings that the environment asks for. docs/environment.md documents them for users.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::profiler {

enum class SourceName { kNone, kPeruse, kPml, kMpiT };
const char* name_of(SourceName source);

struct Settings {
  bool disabled = false;                    // FATHOM_DISABLE
  bool automatic = true;                    // FATHOM_SOURCE unset or "auto"
  SourceName source = SourceName::kPeruse;  // the requested one; the first tried when automatic
  std::string bad_source;                   // the value of FATHOM_SOURCE if it names no source
  std::string output;           // FATHOM_OUTPUT, absolute; empty: fathom-APP-JOB in start_directory
  std::string start_directory;  // where the process was started
  std::vector<std::string> performance_variables;       // FATHOM_PVARS
  bool times = true;                                    // FATHOM_TIME is not 0
  std::uint64_t waits_bytes = std::uint64_t{16} << 20;  // FATHOM_WAITS_MEMORY; 0: no waits
  std::string bad_waits;             // the value of FATHOM_WAITS_MEMORY if it is no size
  std::uint32_t direct_ranks = 900;  // FATHOM_DIRECT_RANKS (waits/exchange.h)
  std::uint64_t path_bytes = std::uint64_t{1} << 20;  // FATHOM_PATH_MEMORY (waits/path.h)
  bool quiet = false;                                 // FATHOM_LOG=quiet: not even errors on stderr
  bool informs = false;                               // FATHOM_LOG=info: print where the profile is
};

// The value of an environment variable; empty if it is not set.
std::string environment_value(const char* name);

// The items of a variable that holds "a,b,c", without empty ones.
std::vector<std::string> environment_list(const char* name);

// Reads a size such as "64M" as bytes; false if it is none.
bool read_bytes(const std::string& text, std::uint64_t& bytes);

// Reads the environment. `start_directory`: the working directory when the library was loaded.
Settings read_settings(const std::string& start_directory);

// Whether this process prints messages that concern the whole job, for times when MPI cannot be
// asked for the rank: true for the launcher's rank 0 and for any process without a launcher.
bool speaks_for_the_job();

}  // namespace fathom::profiler
