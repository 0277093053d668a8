// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/window_opening.h"

#include "profiler/calls/call_times.h"
#include "profiler/waits/matched_messages.h"
#include "profiler/waits/wait_log.h"

namespace fathom::profiler {
namespace {

bool several_threads_have_called() {
  int threads = 0;
  CallTimes::for_each_thread([&threads](const auto& calls, const auto&) {
    if (calls.size() > 0) ++threads;
  });
  return threads > 1;
}

}  // namespace

WindowOpening window_opening(bool counts_all, bool threads_share) {
  WindowOpening opening;
  opening.is_exact = counts_all && !WaitLog::has_unknown_channels() &&
                     !(threads_share && several_threads_have_called()) &&
                     !MatchedMessages::were_too_many();
  const auto& channels = WaitLog::channels();
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const Channel& channel = channels[i];
    const bool sends = channel.key.kind == ChannelKind::kSent;
    const std::uint64_t count =
        channel.key.kind == ChannelKind::kReceived ? channel.completed : channel.times.count;
    // A window or file that was made before the trace begins has no name in it.
    if (channel.key.kind == ChannelKind::kCollectives && channel.key.tag != 0) continue;
    if (count == 0) continue;
    opening.before += count;
    if (channel.key.kind == ChannelKind::kCollectives) {
      opening.sequences.push_back({channel.key.communicator, 0, count});
    } else {
      opening.channels.push_back({channel.key.communicator,
                                  static_cast<std::uint32_t>(channel.key.peer), channel.key.tag, 0,
                                  sends ? count : 0, sends ? 0 : count});
    }
  }
  MatchedMessages::for_each([&opening](const Channel& channel, const void* message) {
    opening.held.push_back({channel.key.communicator, channel.key.peer, channel.key.tag, 0,
                            trace::HeldState::kHeld, 0, reinterpret_cast<std::uintptr_t>(message)});
  });
  return opening;
}

}  // namespace fathom::profiler
