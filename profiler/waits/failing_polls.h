// SPDX-License-Identifier: BSD-3-Clause
// Which tests of a polling loop go without readings of the clock.
//
// A program may test tens of millions of times in vain, in calls so short that timing them would triple what
// they cost. So once a loop goes on failing from one place, in short calls that follow each other at once,
// only some of them are timed: one of 2, then one of 4, up to one of 64. The others are taken to have lasted
// as long as the last one that was, less the reading of the clock within it, but together no longer than the
// time that passed; rows say for how many calls that is so. When the loop began and ended is always read
// from the clock: what it waited is no estimate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mpi/wait_kind.h"
#include "profile/rows.h"
#include "profiler/clocks/ticks.h"

namespace fathom::profiler {

// Of one thread. All times are ticks. Hot: allows() and failed_untimed().
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
  // Whether the next test, from `site`, goes untimed.
  bool allows(const void* site) const { return left_ != 0 && site_ == site; }
  // The program has made another call, or something else has ended the loop.
  void end() { left_ = granted_ = 0; }

  // A test from `site` that was timed has failed, and is added to `sums`. `continues`: the one before had
  // failed too. `longest_gap`: what may be between two polls of a loop.
  void failed(const void* site, std::uint64_t entered, std::uint64_t left, const Sums& sums,
              bool continues, std::uint64_t longest_gap) {
    // Those that are not timed must not hide that the loop has ended.
    const bool is_dense = continues && site == site_ &&
                          left - entered < longest_gap / kShortPollsInGap &&
                          entered - entered_ < longest_gap / kRunsInGap;
    take_back_excess(granted_ - left_, entered);
    granted_ = is_dense ? std::min(2 * granted_ + 1, kMostUntimed) : 0;
    left_ = granted_;
    site_ = site;
    entered_ = entered;
    left_at_ = left;
    ticks_ = left - entered - std::min(left - entered, Ticks::of_reading());
    sums_ = sums;
    if (sums_.stretch_ticks == nullptr) sums_.stretch_ticks = &no_stretch_;
    if (granted_ != 0 && left - processor_read_at_ > longest_gap) [[unlikely]] {
      processor_read_at_ = left;
      processor_ns_ = processor_ns();
    }
  }

  // More time has passed since the last test that was timed than may be between two polls of a loop. Whether
  // that is because tests went untimed while the thread had no processor: a test that finds nothing may give
  // it up.
  bool had_no_processor() const {
    if (left_ == granted_) return false;  // none went untimed
    return processor_ns() - processor_ns_ < 2 * mpi::kLongestPoll_ns;
  }

  // One begins that is not timed,
  void entered_untimed() { left_ -= 1; }
  // and has failed as well. Returns how long it is taken to have lasted.
  std::uint64_t failed_untimed() {
    sums_.row->calls += 1;
    sums_.row->ticks += ticks_;
    sums_.row->estimated += 1;
    *sums_.duration += 1;
    *sums_.stretch_ticks += ticks_;
    return ticks_;
  }

  // One has succeeded, and ends now. Returns how long it is taken to have lasted.
  std::uint64_t succeeded_untimed(std::uint64_t now) {
    const std::uint64_t lasted = std::min(ticks_, now - left_at_);
    take_back_excess(granted_ - left_ - 1, now - lasted);  // it is added by itself
    return lasted;
  }

 private:
  static constexpr std::uint32_t kMostUntimed = 63;
  static constexpr std::uint64_t kShortPollsInGap = 1000, kRunsInGap = 8;

  // What the thread has used of processors. A system call.
  [[gnu::noinline]] static std::uint64_t processor_ns() {
    return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  }

  // The untimed that have failed cannot have lasted longer than from the last that was timed until `now`.
  void take_back_excess(std::uint32_t untimed, std::uint64_t now) {
    const std::uint64_t added = untimed * ticks_;
    if (added == 0 || added <= now - left_at_) return;
    const std::uint64_t excess = added - (now - left_at_);
    sums_.row->ticks -= excess;
    *sums_.stretch_ticks -= excess;
  }

  const void* site_ = nullptr;
  std::uint32_t left_ = 0, granted_ = 0;                 // after the last that was timed,
  std::uint64_t entered_ = 0, left_at_ = 0, ticks_ = 0;  // which is this one
  Sums sums_;
  std::uint64_t no_stretch_ = 0;
  // When processor_ns() was read last, and what it was: not older than the longest gap when tests begin to go
  // untimed.
  std::uint64_t processor_read_at_ = 0, processor_ns_ = 0;
};

}  // namespace fathom::profiler
