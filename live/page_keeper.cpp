// SPDX-License-Identifier: BSD-3-Clause
#include "live/page_keeper.h"

#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "live/host_sample.h"
#include "live/local_samples.h"
#include "live/window_pages.h"

namespace fathom::live {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kFirstLooks = std::chrono::milliseconds(50),
               kLooks = std::chrono::milliseconds(1000);
constexpr auto kManyLooksFor = std::chrono::seconds(10);

}  // namespace

struct PageKeeper::State {
  explicit State(const std::string& run) : samples(run), file(run), windows(run) {}

  void work() {
    std::unique_lock guard(lock);
    const auto began = Clock::now();
    for (auto next_sample = began; !ends;) {
      const auto now = Clock::now();
      if (now >= next_sample) {
        windows.look();
        file.write(samples.take());
        next_sample = now + kLooks;
      } else {
        samples.find();
      }
      changed.wait_for(guard, now - began < kManyLooksFor ? kFirstLooks : kLooks,
                       [this] { return ends; });
    }
  }

  LocalSamples samples;
  HostSampleFile file;
  WindowForwarder windows;
  std::mutex lock;
  std::condition_variable changed;
  bool ends = false;
  std::thread thread;
};

PageKeeper::PageKeeper(const std::string& run) : state_(new State(run)) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    state_->thread = std::thread([state = state_.get()] { state->work(); });
  } catch (const std::system_error&) {  // no thread left: then nothing is kept
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

PageKeeper::~PageKeeper() { end(); }

std::size_t PageKeeper::end() {
  if (!state_) return 0;
  {
    const std::lock_guard guard(state_->lock);
    state_->ends = true;
  }
  state_->changed.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
  const std::size_t count = state_->samples.rescue();
  state_->file.remove();
  state_.reset();
  return count;
}

}  // namespace fathom::live
