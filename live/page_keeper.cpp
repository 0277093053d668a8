// SPDX-License-Identifier: BSD-3-Clause
#include "live/page_keeper.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/process/detached_process.h"
#include "live/collector.h"
#include "live/host_sample.h"
#include "live/local_samples.h"
#include "live/window_pages.h"

namespace fathom::live {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kSampleEvery{1};
constexpr std::chrono::seconds kOthersMayTake{3};
constexpr std::chrono::milliseconds kOthersAreAskedEvery{20};

}  // namespace

struct PageKeeper::State {
  State(const std::string& directory, std::optional<int> port, std::uint32_t summaries_above)
      : run(directory),
        samples(directory, Announcements::of(directory)),
        file(directory),
        windows(directory),
        collector(port ? Collector::open(directory, *port, summaries_above) : nullptr) {}
  ~State() {
    if (wake >= 0) close(wake);
  }

  // The files of others go, and their connections end, when they have left what they know.
  bool others_have_ended() const {
    return !has_samples_of_others(run) && (!collector || collector->all_have_ended());
  }

  void work() {
    Clock::time_point others_until{};
    for (auto next_sample = Clock::now();;) {
      const auto now = Clock::now();
      if (ends.load()) {
        if (others_until == Clock::time_point{}) others_until = now + kOthersMayTake;
        if (others_have_ended() || now >= others_until) return;
      }
      if (now >= next_sample) {
        windows.look();
        if (auto taken = samples.take(); !taken.empty())
          file.write(bytes_of(next_host_sample(++sequence, std::move(taken))));
        next_sample = now + kSampleEvery;
      }
      std::vector<pollfd> others;
      if (!ends.load()) others.push_back({wake, POLLIN, 0});
      const std::size_t first = others.size();
      auto until = ends.load() ? now + kOthersAreAskedEvery : next_sample;
      if (collector) until = std::min(until, collector->prepare(others));
      samples.wait(until, others);
      if (collector) collector->serve(others, first);
    }
  }

  std::string run;
  LocalSamples samples;
  HostSampleFile file;
  WindowForwarder windows;
  std::unique_ptr<Collector> collector;
  std::uint64_t sequence = 0;
  int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::atomic<bool> ends{false};
  std::thread thread;
};

PageKeeper::PageKeeper(const std::string& run, std::optional<int> port,
                       std::uint32_t summaries_above)
    : state_(new State(run, port, summaries_above)) {}

void PageKeeper::begin() {
  base::allow_most_descriptors();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    state_->thread = std::thread([state = state_.get()] {
      try {
        state->work();
      } catch (...) {  // no memory left: then nothing more is kept
      }
    });
  } catch (const std::system_error&) {  // no thread left: then nothing is kept
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

PageKeeper::~PageKeeper() { end(); }

std::size_t PageKeeper::end() {
  if (!state_) return 0;
  state_->ends.store(true);
  const std::uint64_t one = 1;
  (void)!write(state_->wake, &one, sizeof one);
  if (state_->thread.joinable()) state_->thread.join();
  const std::size_t count = state_->samples.rescue();
  state_->file.remove();
  state_.reset();
  return count;
}

}  // namespace fathom::live
