// SPDX-License-Identifier: BSD-3-Clause
#include "base/launcher.h"

#include <charconv>
#include <cstdlib>

namespace fathom::base {
namespace {

struct Launcher {
  const char* rank;
  const char* size;  // nullptr: the launcher does not set it
  const char* job;
};

// The first one that is set counts. Open MPI comes before Slurm: inside a Slurm step, Slurm's
// variables number mpirun's daemons, not the ranks.
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"},
    {"PMIX_RANK", "PMIX_SIZE", "PMIX_NAMESPACE"},
    {"PMI_RANK", "PMI_SIZE", "PMI_ID"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", nullptr},
    {"PALS_RANKID", nullptr, "PALS_APID"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEPID"},
};

std::optional<std::size_t> number_of(const Environment& environment, const char* name) {
  if (name == nullptr) return std::nullopt;
  const auto text = environment(name);
  std::size_t number = 0;
  if (!text) return std::nullopt;
  const char* end = text->data() + text->size();
  const auto [rest, failed] = std::from_chars(text->data(), end, number);
  return failed == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

std::optional<std::size_t> launched_rank(const Environment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    if (const auto rank = number_of(environment, launcher.rank)) return rank;
  }
  return std::nullopt;
}

std::optional<LaunchedJob> launched_job(const Environment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = number_of(environment, launcher.rank);
    const auto size = number_of(environment, launcher.size);
    if (!rank || !size || *size < 2 || *rank >= *size) continue;
    LaunchedJob job{*rank, *size, ""};
    if (launcher.job != nullptr) job.job = environment(launcher.job).value_or("");
    return job;
  }
  return std::nullopt;
}

}  // namespace fathom::base
