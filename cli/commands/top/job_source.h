// SPDX-License-Identifier: BSD-3-Clause
// Where the states of a job come from: the running job of a run directory, or a file that holds one.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "live/job_state.h"

namespace fathom::cli {

class JobSource {
 public:
  virtual ~JobSource() = default;

  // The present state; nothing when the job has ended. Takes no longer than reading some megabytes.
  virtual base::Result<std::optional<live::JobState>> read() = 0;

  // From the next read() on, as JobReader's.
  virtual void want_details() {}

  // Whether a later read() can say more than the first.
  virtual bool changes() const = 0;
};

// An Error if there is no such run or file. A file may be rewritten (by `fathom top --json -o` on another host);
// the job has ended when it is removed.
// `wants_details`: as JobReader's.
base::Result<std::unique_ptr<JobSource>> open_job(const std::string& run,
                                                  bool wants_details = true);

}  // namespace fathom::cli
