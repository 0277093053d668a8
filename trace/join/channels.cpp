// SPDX-License-Identifier: BSD-3-Clause
#include "trace/join/channels.h"

#include <algorithm>
#include <utility>

namespace fathom::trace {
void Channels::Queue::pop() {
  ++first_;
  if (first_ == items_.size()) {
    items_.clear();
    first_ = 0;
  } else if (first_ >= 1024 && first_ * 2 > items_.size()) {
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

std::size_t Channels::Queue::messages() const {
  return static_cast<std::size_t>(
      std::count_if(items_.begin() + static_cast<std::ptrdiff_t>(first_), items_.end(),
                    [](const ChannelEnd& end) { return end.step < kUnseenStep; }));
}

// A channel that is first used after a loss starts with the cut: an end from before the loss that is
// reported late must not be joined with one from after it.
Channels::Channel& Channels::channel(const Key& key) {
  if (const std::uint32_t* number = numbers_.find(key)) return channels_[*number];
  if (channels_.size() >= sweep_at_) sweep();
  numbers_[key] = static_cast<std::uint32_t>(channels_.size());
  Channel& made = channels_.emplace_back();
  made.key = key;
  const auto source = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.source));
  if (const auto* losses = source_losses_.find(source)) {
    for (const std::uint64_t time_ns : *losses) made.sends.push({time_ns, 0, 0, kCutStep});
  }
  for (const std::uint64_t time_ns : own_losses_) made.receives.push({time_ns, 0, 0, kCutStep});
  return made;
}

// Programs that use a new tag for each message would otherwise create channels without end.
void Channels::sweep() {
  std::vector<Channel> alive;
  for (Channel& each : channels_) {
    if (!each.idle()) alive.push_back(std::move(each));
  }
  channels_ = std::move(alive);
  numbers_.clear();
  for (std::size_t i = 0; i < channels_.size(); ++i)
    numbers_[channels_[i].key] = static_cast<std::uint32_t>(i);
  sweep_at_ = std::max<std::size_t>(1 << 12, 2 * channels_.size());
}

void Channels::open(const Key& key, std::uint64_t sent, std::uint64_t received) {
  if (sent == 0 && received == 0) return;
  Channel& own = channel(key);
  own.order_unknown = received > 0 && held_before_ > 0;
  own.early_sends = sent > received ? sent - received : 0;
  own.early_receives = received > sent ? received - sent : 0;
}

// Takes from the fronts of both queues as long as they decide the fate of one of them.
void Channels::join(Channel& channel, Joined& joined) {
  while (!channel.sends.empty() && !channel.receives.empty()) {
    const ChannelEnd send = channel.sends.front(), receive = channel.receives.front();
    const bool send_is_cut = send.step == kCutStep, receive_is_cut = receive.step == kCutStep;
    if (send_is_cut && !receive_is_cut && receive.time_ns < send.time_ns) {
      ++cut_off_.receives;
      channel.receives.pop();
    } else if (send_is_cut) {
      channel.sends.pop();
    } else if (receive_is_cut && send.time_ns < receive.time_ns) {
      ++cut_off_.sends;
      channel.sends.pop();
    } else if (receive_is_cut) {
      channel.receives.pop();
    } else if (receive.step == kUnseenStep) {
      ++cut_off_.sends;
      channel.sends.pop();
      channel.receives.pop();
    } else {
      joined.push_back({send, receive});
      channel.sends.pop();
      channel.receives.pop();
    }
  }
}

void Channels::send(const Key& key, const ChannelEnd& end, Joined& joined) {
  Channel& to = channel(key);
  if (to.early_receives > 0) [[unlikely]] {
    --to.early_receives;
    ++cut_off_.sends;
    return;
  }
  if (to.sends.empty() && !to.receives.empty() && to.receives.front().step < kUnseenStep) {
    joined.push_back({end, to.receives.front()});
    to.receives.pop();
    return;
  }
  to.sends.push(end);
  join(to, joined);
}

void Channels::take(Channel& from, const ChannelEnd& end, Joined& joined) {
  if (from.early_sends > 0) [[unlikely]] {
    --from.early_sends;
    cut_off_.receives += end.step == kUnseenStep ? 0 : 1;
    return;
  }
  if (from.receives.empty() && !from.sends.empty() && from.sends.front().step != kCutStep &&
      end.step != kUnseenStep) {
    joined.push_back({from.sends.front(), end});
    from.sends.pop();
    return;
  }
  from.receives.push(end);
  join(from, joined);
}

// One of the channel's next messages, nobody knows which.
void Channels::take_unknown(Channel& from, Joined& joined) {
  ++cut_off_.receives;
  take(from, {0, 0, 0, kUnseenStep}, joined);
  release(from, joined);
}

Channels::Posted Channels::post(const Key& key) {
  const Posted posted{++last_order_, key};
  if (posted.wild()) {
    wild_.push_back(posted);
  } else {
    channel(key).posted.push_back(posted.order);
  }
  return posted;
}

void Channels::forget_posted(const Posted& posted) {
  if (posted.wild()) {
    std::erase_if(wild_, [&](const Posted& waiting) { return waiting.order == posted.order; });
    return;
  }
  auto& orders = channel(posted.key).posted;
  const auto place = std::lower_bound(orders.begin(), orders.end(), posted.order);
  if (place != orders.end() && *place == posted.order) orders.erase(place);
}

bool Channels::may_come_before(const Channel& channel, std::uint64_t order) const {
  if (!channel.posted.empty() && channel.posted.front() < order) return true;
  for (const Posted& waiting : wild_) {
    if (waiting.order >= order) break;
    if (waiting.key.covers(channel.key)) return true;
  }
  return false;
}

void Channels::release(Channel& channel, Joined& joined) {
  std::size_t free = 0;
  while (free < channel.kept_back.size() &&
         !may_come_before(channel, channel.kept_back[free].order)) {
    take(channel, channel.kept_back[free++].end, joined);
  }
  channel.kept_back.erase(channel.kept_back.begin(),
                          channel.kept_back.begin() + static_cast<std::ptrdiff_t>(free));
  kept_back_ -= free;
}

// Called when a receive posted with `key` has its message or was withdrawn.
void Channels::release_like(const Key& key, Joined& joined) {
  if (kept_back_ == 0) return;
  for (Channel& each : channels_) {
    if (!each.kept_back.empty() && key.covers(each.key)) release(each, joined);
  }
}

void Channels::withdraw(const Posted& posted, Joined& joined) {
  forget_posted(posted);
  release_like(posted.key, joined);
}

void Channels::never_received(const Posted& posted, Joined& joined) {
  if (posted.wild()) return;  // it stays, and holds back whatever came after it
  receive(posted.key, posted, {0, 0, 0, kUnseenStep}, joined);
}

void Channels::receive(const Key& key, const Posted& posted, const ChannelEnd& end,
                       Joined& joined) {
  forget_posted(posted);
  Channel& from = channel(key);
  if (posted.order <= held_before_ && from.order_unknown) [[unlikely]] {
    take_unknown(from, joined);
  } else if (from.kept_back.empty() && !may_come_before(from, posted.order)) {
    take(from, end, joined);
  } else {
    const auto place = std::upper_bound(
        from.kept_back.begin(), from.kept_back.end(), posted.order,
        [](std::uint64_t order, const KeptBack& kept) { return order < kept.order; });
    from.kept_back.insert(place, {posted.order, end});
    ++kept_back_;
    release(from, joined);
  }
  if (posted.wild()) release_like(posted.key, joined);
}

void Channels::receive_now(const Key& key, const ChannelEnd& end, Joined& joined, bool by_request) {
  Channel& from = channel(key);
  if (by_request && begins_late_) [[unlikely]] {
    if (!may_come_before(from, held_before_ + 1)) return take(from, end, joined);
    from.order_unknown = true;
    return take_unknown(from, joined);
  }
  const std::uint64_t order = ++last_order_;
  if (from.kept_back.empty() && (key.tag < 0 || !may_come_before(from, order)))
    return take(from, end, joined);
  from.kept_back.push_back({order, end});
  ++kept_back_;
  release(from, joined);
}

void Channels::loss_at_source(std::int32_t source, std::uint64_t time_ns, Joined& joined) {
  source_losses_[static_cast<std::uint64_t>(static_cast<std::uint32_t>(source))].push_back(time_ns);
  for (Channel& each : channels_) {
    if (each.key.source != source) continue;
    each.early_sends = each.early_receives = 0;
    each.sends.push({time_ns, 0, 0, kCutStep});
    join(each, joined);
  }
}

// The lost records may have ended any waiting receive, so none may hold others back any longer.
void Channels::loss_here(std::uint64_t time_ns, Joined& joined) {
  own_losses_.push_back(time_ns);
  wild_.clear();
  for (Channel& each : channels_) {
    each.posted.clear();
    each.early_sends = each.early_receives = 0;
    for (const KeptBack& kept : each.kept_back) take(each, kept.end, joined);
    each.kept_back.clear();
    each.receives.push({time_ns, 0, 0, kCutStep});
    join(each, joined);
  }
  kept_back_ = 0;
}

Channels::Unmatched Channels::unmatched() const {
  Unmatched all = cut_off_;
  for (const Channel& each : channels_) {
    all.sends += each.sends.messages();
    all.receives += each.receives.messages();
    for (const KeptBack& kept : each.kept_back) all.receives += kept.end.step < kUnseenStep ? 1 : 0;
  }
  return all;
}

}  // namespace fathom::trace
