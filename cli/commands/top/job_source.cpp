// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/top/job_source.h"

#include <filesystem>
#include <utility>

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

}  // namespace

base::Result<std::unique_ptr<JobSource>> open_job(const std::string& run) {
  std::error_code failed;
  if (std::filesystem::is_regular_file(run, failed))
    return std::unique_ptr<JobSource>(std::make_unique<SavedState>(run));
  return base::Error{"there is no file '" + run +
                     "'; name one that holds the state of a job, as 'fathom top --json' prints it"};
}

}  // namespace fathom::cli
