// SPDX-License-Identifier: BSD-3-Clause
#include "trace/join/match.h"

#include <algorithm>

namespace fathom::trace {

MessageEnd MessageMatcher::Queue::take(std::size_t index) {
  const auto place = items_.begin() + static_cast<std::ptrdiff_t>(first_ + index);
  const MessageEnd end = *place;
  if (index == 0) {
    ++first_;
  } else {
    items_.erase(place);
  }
  constexpr std::size_t kCompactAt = 1024;
  if (first_ == items_.size()) {
    items_.clear();
    first_ = 0;
  } else if (first_ >= kCompactAt && first_ * 2 > items_.size()) {
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  return end;
}

std::size_t MessageMatcher::Queue::clear() {
  const std::size_t count = size();
  items_.clear();
  first_ = 0;
  return count;
}

std::size_t MessageMatcher::KeyHash::operator()(const MessageKey& key) const {
  const auto mix = [](std::uint64_t state, std::int32_t value) {
    state = (state ^ static_cast<std::uint32_t>(value)) * 0x9e3779b97f4a7c15u;
    return state ^ state >> 29;
  };
  return mix(mix(mix(mix(0, key.communicator), key.source), key.destination), key.tag);
}

MessageMatcher::Waiting& MessageMatcher::waiting(const MessageKey& key) {
  if (waiting_.size() >= sweep_at_) {
    std::erase_if(waiting_, [](const auto& entry) {
      return entry.second.sends.size() == 0 && entry.second.receives.size() == 0;
    });
    sweep_at_ = std::max<std::size_t>(1 << 16, 2 * waiting_.size());
  }
  return waiting_[key];
}

std::optional<MessageEnd> MessageMatcher::take_matching(Queue& queue, std::uint64_t bytes,
                                                        std::size_t position) {
  if (queue.size() == 0) return std::nullopt;
  if (position < queue.size() && queue.at(position).bytes == bytes) return queue.take(position);
  for (std::size_t index = 0; index < queue.size(); ++index) {
    if (queue.at(index).bytes == bytes) return queue.take(index);
  }
  return queue.take(std::min(position, queue.size() - 1));
}

std::optional<MessageEnd> MessageMatcher::send(const MessageKey& key, MessageEnd& end) {
  Waiting& here = waiting(key);
  auto other = take_matching(here.receives, end.bytes, 0);
  end.id = other ? other->id : ++last_id_;
  if (!other) here.sends.push(end);
  return other;
}

std::optional<MessageEnd> MessageMatcher::receive(const MessageKey& key, MessageEnd& end,
                                                  std::size_t posted_before) {
  Waiting& here = waiting(key);
  auto other = take_matching(here.sends, end.bytes, posted_before);
  end.id = other ? other->id : ++last_id_;
  if (!other) here.receives.push(end);
  return other;
}

void MessageMatcher::forget(std::int32_t rank) {
  for (auto& [key, here] : waiting_) {
    if (key.source != rank && key.destination != rank) continue;
    forgotten_sends_ += here.sends.clear();
    forgotten_receives_ += here.receives.clear();
  }
}

std::uint64_t MessageMatcher::unmatched_sends() const {
  std::uint64_t sum = forgotten_sends_;
  for (const auto& [key, here] : waiting_) sum += here.sends.size();
  return sum;
}

std::uint64_t MessageMatcher::unmatched_receives() const {
  std::uint64_t sum = forgotten_receives_;
  for (const auto& [key, here] : waiting_) sum += here.receives.size();
  return sum;
}

}  // namespace fathom::trace
