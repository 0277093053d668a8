// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/named_run.h"

#include <filesystem>

#include "cli/runs/run_directory.h"

namespace fathom::cli {

base::Result<analysis::LoadedRun> load_named_run(const std::string& run,
                                                 const analysis::Scope& scope,
                                                 analysis::Transport* transport) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(run, ignored);
  const std::string directory = folder ? run : std::filesystem::path(run).parent_path().string();
  const auto profile = recorded_profile_of(run);
  const bool traced = folder && std::filesystem::exists(run + "/trace", ignored);
  if (!profile && !traced) return profile.error();
  return analysis::load_run(profile ? *profile : "", directory, scope, transport);
}

}  // namespace fathom::cli
