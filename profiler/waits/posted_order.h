// SPDX-License-Identifier: BSD-3-Clause
// Receives whose place among their channel's is not the one at which their time was appended.
//
// The receives that take the messages of a channel take them in the order in which they were posted
// (MPI 3.1, section 3.5). The channel of a receive with a wildcard is known only when it completes, perhaps
// after others of that channel were posted: then it belongs before them. A receive that is cancelled, or given
// up and never completed, takes no message: those posted after it move up.
//
// Both are rare. So only they are noted here, and the order is put right at the end, when parts are resolved.
// If there are too many, nobody knows any longer which message a receive of their channels had: unknown, never
// wrong.
//
// Threading: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/reserved_array.h"
#include "profiler/waits/time_log.h"

namespace fathom::profiler {

struct Channel;

class PostedOrder {
 public:
  // For what takes up to `bytes`. False without address space.
  static bool open(std::size_t bytes);

  // The receive whose time was appended last was posted then already. Its channel's times continue as if it had
  // been posted with the last one.
  [[gnu::noinline]] static void posted_earlier(Channel& channel, std::uint64_t ticks);
  // The receive with this ordinal takes no message.
  [[gnu::noinline]] static void removed(Channel& channel, std::uint64_t ordinal);

  // ---- at the end ----

  // Of a channel's receives.
  struct Places {
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};
    std::vector<std::uint64_t> of_appended;  // kNone: removed
    std::vector<std::uint64_t> ticks;        // when they were posted, by place; 0: forgotten

    // Of the receive that was appended with this ordinal, or would be: a probe has found its message.
    std::uint64_t of(std::uint64_t ordinal) const {
      const std::size_t appended = of_appended.size();
      return ordinal < appended ? of_appended[ordinal] : ticks.size() + (ordinal - appended);
    }
  };
  static Places places(const Channel& channel, const TimeLog& times);

 private:
  struct Noted {
    const Channel* channel;
    std::uint64_t ordinal;
    std::uint64_t ticks;  // 0: removed
  };
  static void note(Channel& channel, std::uint64_t ordinal, std::uint64_t ticks);

  static inline base::ReservedArray<Noted>* noted_ = nullptr;  // never destroyed
};

}  // namespace fathom::profiler
