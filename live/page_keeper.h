// SPDX-License-Identifier: BSD-3-Clause
// Keeps the pages of a run's processes on this machine while they run, so that their counts survive
// them; and writes RUN/live/HOST for readers that see only the file system.
//
// Works in a thread of its own, which blocks all signals. It looks for new processes every 50 ms for
// the first ten seconds and then once a second, and reads pages only to write the sample. A full disk
// costs the sample of that second; nothing else. Threading: made and ended by one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace fathom::live {

class PageKeeper {
 public:
  explicit PageKeeper(const std::string& run);
  ~PageKeeper();
  PageKeeper(const PageKeeper&) = delete;

  // Ends the thread and removes RUN/live/HOST. Leaves the counts of processes that were killed in
  // RUN/partial, as they would have left them after any other signal, unless RUN has a profile.
  // Returns of how many.
  std::size_t end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::live
