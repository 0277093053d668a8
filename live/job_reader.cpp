// SPDX-License-Identifier: BSD-3-Clause
#include "live/job_reader.h"

#include <ctime>
#include <utility>

#include "live/local_samples.h"

namespace fathom::live {

struct JobReader::State {
  std::string run;
  LocalSamples local;
};

JobReader::JobReader(const std::string& run) : state_(new State{run, LocalSamples(run)}) {}
JobReader::~JobReader() = default;

base::Result<JobState> JobReader::read() {
  const std::vector<ProcessSample> samples = state_->local.take();
  if (samples.empty())
    return base::Error{"no running process of " + state_->run +
                       " can be seen from here: it has ended, or it was started without fathom run "
                       "--live, or FATHOM_LIVE=1"};
  JobState job = job_state_of(samples);
  job.run = state_->run;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  job.taken_at_s = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
  return job;
}

}  // namespace fathom::live
