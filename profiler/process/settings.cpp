// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/process/settings.h"

#include <cstdlib>

#include "base/launcher.h"
#include "base/name_patterns.h"

namespace fathom::profiler {

const char* name_of(SourceName source) {
  switch (source) {
    case SourceName::kPeruse: return "peruse";
    case SourceName::kPml: return "pml";
    case SourceName::kMpiT: return "mpi_t";
    case SourceName::kNone: break;
  }
  return "none";
}

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool speaks_for_the_job() { return base::launched_rank().value_or(0) == 0; }

bool read_bytes(const std::string& text, std::uint64_t& bytes) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::uint64_t unit = 1;
  switch (*end) {
    case 'k':
    case 'K':
      unit = std::uint64_t{1} << 10;
      ++end;
      break;
    case 'm':
    case 'M':
      unit = std::uint64_t{1} << 20;
      ++end;
      break;
    case 'g':
    case 'G':
      unit = std::uint64_t{1} << 30;
      ++end;
      break;
    default: break;
  }
  if (end == text.c_str() || *end != '\0' || !(number >= 0) || number > 1e15) return false;
  bytes = static_cast<std::uint64_t>(number * static_cast<double>(unit));
  return true;
}

std::vector<std::string> environment_list(const char* name) {
  return base::comma_separated(environment_value(name));
}

Settings read_settings(const std::string& start_directory) {
  Settings settings;
  settings.start_directory = start_directory;
  const std::string disable = environment_value("FATHOM_DISABLE");
  settings.disabled = !disable.empty() && disable != "0";
  settings.times = environment_value("FATHOM_TIME") != "0";
  const std::string waits = environment_value("FATHOM_WAITS_MEMORY");
  if (!waits.empty() && !read_bytes(waits, settings.waits_bytes)) settings.bad_waits = waits;
  const std::string direct = environment_value("FATHOM_DIRECT_RANKS");
  if (!direct.empty())
    settings.direct_ranks = static_cast<std::uint32_t>(std::strtoul(direct.c_str(), nullptr, 10));
  const std::string path = environment_value("FATHOM_PATH_MEMORY");
  if (!path.empty()) read_bytes(path, settings.path_bytes);
  settings.quiet = environment_value("FATHOM_LOG") == "quiet";
  settings.informs = environment_value("FATHOM_LOG") == "info";
  settings.output = environment_value("FATHOM_OUTPUT");
  // Made absolute, because the program may change its directory before the profile is written.
  if (!settings.output.empty() && settings.output[0] != '/') {
    settings.output = start_directory + "/" + settings.output;
  }
  const std::string source = environment_value("FATHOM_SOURCE");
  settings.automatic = source.empty() || source == "auto";
  if (source == "pml") {
    settings.source = SourceName::kPml;
  } else if (source == "mpi_t") {
    settings.source = SourceName::kMpiT;
  } else if (!settings.automatic && source != "peruse") {
    settings.bad_source = source;
    settings.automatic = true;
  }
  settings.performance_variables = environment_list("FATHOM_PVARS");
  return settings;
}

}  // namespace fathom::profiler
