// SPDX-License-Identifier: BSD-3-Clause
// Which tests of a polling loop go without readings of the clock.
//
// A program may test tens of millions of times in vain, in calls so short that timing them would triple what
// they cost. So once a loop goes on failing from one place, in short calls that follow each other at once,
// only some of them are timed: one of 4, then one of 16, up to one of 256. The others are taken to have lasted
// as long as the last one that was, less the reading of the clock within it, but together no longer than the
// time that passed; rows say for how many calls that is so. A row counts each of them at once, and gets their
// time when the next call is timed. When the loop began and ended is always read from the clock: what it
// waited is no estimate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mpi/wait_kind.h"
#include "profile/rows.h"
#include "profiler/clocks/ticks.h"

namespace fathom::profiler {

// Of one thread. All times are ticks. Hot: allows(), go_on() and failed_untimed().
class FailingPolls {
 public:
  // Where a failed test is added.
  struct Sums {
    profile::CallRow* row = nullptr;
    std::uint64_t* duration = nullptr;       // calls in its bin of durations
    std::uint64_t* stretch_ticks = nullptr;  // null: of no stretch
  };

  // Where the tests of the loop are made.
  const void* site() const { return site_; }
  // Whether the next test goes untimed. `site`: where the program made it; null if the program did not, or made
  // it inside another call.
  bool allows(const void* site) const { return next_site_ == site && site != nullptr; }
  // Whether the next one may, or the present one does.
  bool go_untimed() const { return next_site_ != nullptr; }
  // Whether tests went untimed, or may, since the last one that was timed.
  bool go_on() const { return granted_ != 0; }
  // The program has made another call, or something else has ended the loop. After settle().
  void end() { run_ = 0; }

  // Untimed tests have failed: they get their time, which has passed until `now`. None goes untimed until
  // failed() says so again. Returns how long they are taken to have lasted together.
  std::uint64_t settle(std::uint64_t now) {
    if (granted_ == 0) return 0;
    const std::uint64_t untimed = failed_so_far();
    granted_ = 0;
    next_site_ = nullptr;
    const std::uint64_t lasted = std::min(untimed * ticks_, now - left_at_);
    sums_.row->ticks += lasted;
    sums_.row->estimated += untimed;
    *sums_.duration += untimed;
    *sums_.stretch_ticks += lasted;
    return lasted;
  }

  // A test from `site` that was timed has failed, and is added to `sums`. `continues`: the one before had
  // failed too. `longest_gap`: what may be between two polls of a loop. After settle().
  void failed(const void* site, std::uint64_t entered, std::uint64_t left, const Sums& sums,
              bool continues, std::uint64_t longest_gap) {
    const bool is_dense =
        continues && site == site_ && left - entered < longest_gap / kShortPollsInGap;
    // Those that are not timed must not hide that the loop has ended.
    const bool takes_long = entered - entered_ >= longest_gap / kRunsInGap;
    run_ = !is_dense ? 0 : takes_long ? run_ / 4 : std::min(kGrowth * (run_ + 1) - 1, kLongestRun);
    site_ = site;
    entered_ = entered;
    left_at_ = left;
    ticks_ = left - entered - std::min(left - entered, Ticks::of_reading());
    sums_ = sums;
    if (sums_.stretch_ticks == nullptr) sums_.stretch_ticks = &no_stretch_;
    granted_ = run_;
    last_call_ = sums_.row->calls + granted_;
    if (granted_ == 0) return;
    next_site_ = site;
    if (left - processor_read_at_ > longest_gap) [[unlikely]] {
      processor_read_at_ = left;
      processor_ns_ = processor_ns();
    }
  }

  // More time has passed since the last test that was timed than may be between two polls of a loop. Whether
  // that is because tests went untimed while the thread had no processor: a test that finds nothing may give
  // it up. Before settle(). `succeeds`: the present test went untimed, too.
  bool had_no_processor(bool succeeds) const {
    if (granted_ == 0 || (failed_so_far() == 0 && !succeeds)) return false;  // none went untimed
    return processor_ns() - processor_ns_ < 2 * mpi::kLongestPoll_ns;
  }

  // One that is not timed has failed as well,
  void failed_untimed() {
    if (++sums_.row->calls == last_call_) next_site_ = nullptr;
  }
  // or has succeeded, and ends now: how long it is taken to have lasted. It is added by itself.
  std::uint64_t lasted(std::uint64_t now) const { return std::min(ticks_, now - left_at_); }

 private:
  static constexpr std::uint32_t kLongestRun = 255, kGrowth = 4;
  static constexpr std::uint64_t kShortPollsInGap = 1000, kRunsInGap = 8;

  // What the thread has used of processors. A system call.
  [[gnu::noinline]] static std::uint64_t processor_ns() {
    return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  }

  // How many of those that failed since the last that was timed went untimed. Rows count them at once.
  std::uint64_t failed_so_far() const { return sums_.row->calls - (last_call_ - granted_); }

  const void* next_site_ = nullptr;  // where the next test goes untimed
  std::uint64_t last_call_ = 0;      // the row's calls after the last such test
  const void* site_ = nullptr;
  // How many may go untimed after the last that was timed: until they are settled; and to find the next number.
  std::uint32_t granted_ = 0, run_ = 0;
  std::uint64_t entered_ = 0, left_at_ = 0, ticks_ = 0;  // of the last that was timed
  Sums sums_;
  std::uint64_t no_stretch_ = 0;
  // When processor_ns() was read last, and what it was: not older than the longest gap when tests begin to go
  // untimed.
  std::uint64_t processor_read_at_ = 0, processor_ns_ = 0;
};

}  // namespace fathom::profiler
