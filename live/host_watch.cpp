// SPDX-License-Identifier: BSD-3-Clause
#include "live/host_watch.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/process/detached_process.h"
#include "live/host_link.h"
#include "live/host_sample.h"
#include "live/local_samples.h"
#include "live/window_pages.h"

namespace fathom::live {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kBetweenSamples{1};
constexpr int kMostIdleSamples = 60;

}  // namespace

WatchEnd watch_host(const std::string& run, Announcements announcements, int told) {
  base::allow_most_descriptors();
  LocalSamples samples(run, std::move(announcements));
  HostSampleFile file(run);
  HostLink link(run);
  WindowForwarder windows(run);
  std::uint64_t sequence = 0;
  const auto pass_on = [&](std::vector<ProcessSample> taken) {
    if (!taken.empty() && link.takes_summaries(taken.front().page.rows.world_size))
      for (ProcessSample& sample : taken) sample = summary_of(sample);
    std::string bytes = bytes_of(next_host_sample(++sequence, std::move(taken)));
    if (link.is_heard()) {
      file.remove();
    } else {
      file.write(bytes);
    }
    link.send(sequence, std::move(bytes));
  };
  WatchEnd end = WatchEnd::kRanksEnded;
  int idle = 0;
  pass_on(samples.take());  // `fathom run` waits for each host with a file, also without ranks yet
  for (auto next = Clock::now() + kBetweenSamples;;) {
    std::vector<pollfd> others = {{told, POLLIN, 0}, link.polled()};
    const bool knew_nobody = samples.count() == 0;
    if (samples.wait(std::min(next, link.due()), others)) samples.rescue();
    link.serve(others[1].revents);
    if (others[0].revents != 0) {
      end = WatchEnd::kTold;
      break;
    }
    if (samples.have_ended()) break;
    if (const auto now = Clock::now(); now >= next || (knew_nobody && samples.count() > 0)) {
      next = now + kBetweenSamples;
      windows.look();
      auto taken = samples.take();
      samples.rescue();
      idle = taken.empty() ? idle + 1 : 0;
      if (!taken.empty()) pass_on(std::move(taken));
    }
    if (idle > kMostIdleSamples) {
      end = WatchEnd::kNobodyCame;
      break;
    }
  }
  auto taken = samples.take();
  samples.rescue();
  ++sequence;
  if (!taken.empty()) link.send(sequence, bytes_of(next_host_sample(sequence, std::move(taken))));
  link.say_bye();
  file.remove();
  return end;
}

}  // namespace fathom::live
