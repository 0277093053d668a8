// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/matched_messages.h"

#include <utility>

#include "profiler/waits/wait_log.h"

namespace fathom::profiler {

std::uint64_t MatchedMessages::hold(Channel& channel, const void* message) {
  const std::uint64_t ordinal = channel.times.count + channel.held;
  if (held_count_ == kMost) {
    were_too_many_ = true;
    channel.order_unknown = channel.posts_unknown = true;
    return ordinal;
  }
  held_[held_count_++] = {message, &channel, ordinal};
  channel.held += 1;
  return ordinal;
}

// The latest first: messages are received soon, and a handle may come again.
MatchedMessages::Place MatchedMessages::receive(const void* message, std::uint64_t ticks,
                                                TimeLog& times) {
  std::size_t at = held_count_;
  while (at > 0 && held_[at - 1].message != message) --at;
  if (at == 0) return {};
  const Held held = std::exchange(held_[at - 1], held_[held_count_ - 1]);
  held_count_ -= 1;
  Channel& channel = *held.channel;
  while (channel.times.count < held.ordinal) stand_in(channel, times);
  if (channel.times.count == held.ordinal) {
    times.append(channel.times, ticks);
    channel.held -= 1;
  } else if (Moment* const moment = moment_of(channel, held.ordinal)) {
    moment->ticks = ticks;
  }
  return {held.channel, held.ordinal};
}

void MatchedMessages::make_way(Channel& channel, TimeLog& times) {
  while (channel.held > 0) stand_in(channel, times);
}

void MatchedMessages::stand_in(Channel& channel, TimeLog& times) {
  if (moment_count_ == kMostMoments) {
    channel.posts_unknown = true;
  } else {
    moments_[moment_count_++] = {&channel, channel.times.count, 0};
  }
  times.repeat(channel.times);
  channel.held -= 1;
}

MatchedMessages::Moment* MatchedMessages::moment_of(const Channel& channel, std::uint64_t ordinal) {
  for (std::size_t at = moment_count_; at > 0; --at) {
    Moment& moment = moments_[at - 1];
    if (moment.channel == &channel && moment.ordinal == ordinal) return &moment;
  }
  return nullptr;
}

std::uint64_t MatchedMessages::moment(const Channel& channel, std::uint64_t ordinal,
                                      std::uint64_t appended) {
  const Moment* const moment = moment_count_ == 0 ? nullptr : moment_of(channel, ordinal);
  return moment == nullptr ? appended : moment->ticks;
}

}  // namespace fathom::profiler
