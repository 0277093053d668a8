// SPDX-License-Identifier: BSD-3-Clause
// Keeps the pages of a run's processes on this machine while they run, so that their counts survive
// them; writes RUN/live/HOST for readers that see only the file system; and takes samples from other
// hosts (live/collector.h).
//
// Works in a thread of its own, which blocks all signals. Processes announce themselves when they
// have a page (live/announcement.h), and it looks for others once a second. It reads pages only to
// write the sample. A full disk costs the sample of that second; nothing else. Threading: made and
// ended by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace fathom::live {

class PageKeeper {
 public:
  // Before the job starts: from here on, no process that announces itself is missed.
  // `port`: where samples of other hosts are taken (live/collector.h); 0: any free port; nothing: their
  // files have to do. `summaries_above`: as there.
  PageKeeper(const std::string& run, std::optional<int> port, std::uint32_t summaries_above);
  ~PageKeeper();
  PageKeeper(const PageKeeper&) = delete;

  // After the job has been started: this process is allowed more descriptors, which it would inherit.
  void begin();

  // After the job. Waits up to three seconds for those who watch its other hosts to have left what they
  // know, which takes some milliseconds; ends the thread and removes RUN/live/HOST. Leaves the counts
  // of processes that were killed in RUN/partial, as they would have left them after any other signal,
  // unless RUN has a profile. Returns of how many on this host.
  std::size_t end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::live
