// SPDX-License-Identifier: BSD-3-Clause
// Messages that a probe has taken from the queue (MPI_Mprobe) and that are not being received yet.
//
// Such a message has its place in the order of its channel from the probe on (MPI 3.1, section 3.8.2),
// but the program may receive it later than others, in any order. Its place is then held ahead of the
// channel's times: `held` of them follow those that were appended. As a rule such a message is received
// before anything else of its channel is posted, and its time is appended as any other. Otherwise a
// stand-in takes its place among the times, and the true moment is kept here.
//
// Memory is fixed. If a channel's messages do not fit, nobody knows any longer when receives were
// posted or what the probes waited for: unknown, never wrong.
//
// Threading: one at a time. Costs a few comparisons for each message that is held.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "profiler/waits/time_log.h"

namespace fathom::profiler {

struct Channel;

class MatchedMessages {
 public:
  // A probe took the channel's next message. Returns its ordinal.
  [[gnu::noinline]] static std::uint64_t hold(Channel& channel, const void* message);

  struct Place {
    Channel* channel = nullptr;  // null: the message is not held
    std::uint64_t ordinal = 0;
  };
  // The message is received by a call that was entered then.
  [[gnu::noinline]] static Place receive(const void* message, std::uint64_t ticks, TimeLog& times);

  // Those that are held: visit(channel, message), of each channel in the order of their places.
  template <typename Visit>
  static void for_each(Visit&& visit) {
    std::sort(held_, held_ + held_count_,
              [](const Held& a, const Held& b) { return a.ordinal < b.ordinal; });
    for (std::size_t i = 0; i < held_count_; ++i) visit(*held_[i].channel, held_[i].message);
  }
  // Whether there was no room for one. Which are held is not known since then.
  static bool were_too_many() { return were_too_many_; }

  // Stand-ins for what is held, because something else of the channel is appended next.
  [[gnu::noinline]] static void make_way(Channel& channel, TimeLog& times);

  // In place of the time that was appended: the true moment, or 0 if it is not known.
  static std::uint64_t moment(const Channel& channel, std::uint64_t ordinal,
                              std::uint64_t appended);

 private:
  static constexpr std::size_t kMost = 256, kMostMoments = 4096;
  struct Held {
    const void* message;
    Channel* channel;
    std::uint64_t ordinal;
  };
  struct Moment {
    const Channel* channel;
    std::uint64_t ordinal, ticks;
  };
  static Moment* moment_of(const Channel& channel, std::uint64_t ordinal);
  static void stand_in(Channel& channel, TimeLog& times);

  static inline Held held_[kMost] = {};
  static inline std::size_t held_count_ = 0;
  static inline bool were_too_many_ = false;
  static inline Moment moments_[kMostMoments] = {};
  static inline std::size_t moment_count_ = 0;
};

}  // namespace fathom::profiler
