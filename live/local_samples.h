// SPDX-License-Identifier: BSD-3-Clause
// Samples of a run's processes on this machine.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "live/code_places.h"
#include "live/process_pages.h"
#include "live/process_sample.h"

namespace fathom::live {

class LocalSamples {
 public:
  explicit LocalSamples(const std::string& run, Announcements announcements = {});

  // One of each process that was ever found, as far as its page can be read.
  std::vector<ProcessSample> take();

  // As ProcessPages::wait. What announces itself is kept.
  bool wait(std::chrono::steady_clock::time_point until, std::vector<pollfd>& others) {
    return pages_.wait(until, others);
  }

  // How many processes were ever found.
  std::size_t count() const { return pages_.processes().size(); }

  // Whether there were processes, and all of them have ended MPI or have gone.
  bool have_ended() const;

  // Leaves RUN/partial/JOB.RANK.rows for each process that has gone before it could do so itself
  // (SIGKILL). How many it left.
  std::size_t rescue();

 private:
  ProcessPages pages_;
  CodePlaces places_;
  std::string run_, host_;
};

}  // namespace fathom::live
