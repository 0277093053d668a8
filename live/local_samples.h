// SPDX-License-Identifier: BSD-3-Clause
// Samples of a run's processes on this machine.
#pragma once

#include <string>
#include <vector>

#include "live/code_places.h"
#include "live/process_pages.h"
#include "live/process_sample.h"

namespace fathom::live {

class LocalSamples {
 public:
  explicit LocalSamples(const std::string& run);

  // One of each process that was ever found, as far as its page can be read.
  std::vector<ProcessSample> take();

  // Only looks for new processes, so that their pages survive them.
  void find() { pages_.find(); }

  // Leaves RUN/partial/JOB.RANK.rows for each process that has gone before it could do so itself
  // (SIGKILL). How many it left.
  std::size_t rescue() const;

 private:
  ProcessPages pages_;
  CodePlaces places_;
  std::string run_, host_;
};

}  // namespace fathom::live
