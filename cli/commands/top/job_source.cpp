// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/top/job_source.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "live/job_reader.h"
#include "live/job_state_json.h"

namespace fathom::cli {
namespace {

class SavedState : public JobSource {
 public:
  explicit SavedState(std::string path) : path_(std::move(path)) {}

  base::Result<std::optional<live::JobState>> read() override {
    std::error_code failed;
    if (std::exchange(was_read_, true) && !std::filesystem::exists(path_, failed))
      return std::optional<live::JobState>();
    auto state = live::read_job_state(path_);
    if (!state) return state.error();
    return std::optional(std::move(*state));
  }
  bool changes() const override { return false; }

 private:
  std::string path_;
  bool was_read_ = false;
};

bool has_ended(const live::RankState& rank) {
  return rank.state == live::ProcessState::kEnded || rank.state == live::ProcessState::kGone;
}

class RunningJob : public JobSource {
 public:
  RunningJob(const std::string& run, bool wants_details) : reader_(run, wants_details) {}

  base::Result<std::optional<live::JobState>> read() override {
    auto state = reader_.read();
    // A job that was seen and no longer can be has ended; one that never was is a wrong name.
    if (!state && was_seen_) return std::optional<live::JobState>();
    if (!state) return state.error();
    was_seen_ = true;
    if (std::ranges::all_of(state->ranks, has_ended)) return std::optional<live::JobState>();
    return std::optional(std::move(*state));
  }
  bool changes() const override { return true; }
  void want_details() override { reader_.want_details(); }

 private:
  live::JobReader reader_;
  bool was_seen_ = false;
};

}  // namespace

base::Result<std::unique_ptr<JobSource>> open_job(const std::string& run, bool wants_details) {
  std::error_code failed;
  if (std::filesystem::is_regular_file(run, failed))
    return std::unique_ptr<JobSource>(std::make_unique<SavedState>(run));
  if (std::filesystem::is_directory(run, failed))
    return std::unique_ptr<JobSource>(std::make_unique<RunningJob>(
        std::filesystem::canonical(run, failed).string(), wants_details));
  return base::Error{"there is no run '" + run +
                     "'; name the run directory of a running job, or what 'fathom top --json' "
                     "printed"};
}

}  // namespace fathom::cli
