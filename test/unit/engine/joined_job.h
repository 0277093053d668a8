// SPDX-License-Identifier: BSD-3-Clause
// A job written by hand, saved as a trace, and joined by one process.
#pragma once

#include <memory>

#include "analysis/engine/joined_job.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/engine/made_job.h"

namespace fathom::test {

class Joined {
 public:
  explicit Joined(MadeJob& made, const analysis::JoinOptions& options = {})
      : trace_(made.written(scratch_ / "run")) {
    auto joined = analysis::join_job(trace_, alone_, options);
    REQUIRE(joined.ok());
    job_ = std::move(*joined);
  }
  analysis::JoinedJob& operator*() const { return *job_; }
  analysis::JoinedJob* operator->() const { return job_.get(); }

 private:
  Scratch scratch_;
  trace::Trace trace_;
  analysis::SingleProcess alone_;
  std::unique_ptr<analysis::JoinedJob> job_;
};

}  // namespace fathom::test
