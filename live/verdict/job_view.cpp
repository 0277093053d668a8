// SPDX-License-Identifier: BSD-3-Clause
#include "live/verdict/job_view.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

namespace fathom::live {
namespace {

// A thread that entered its call less than this ago may be about to leave it.
constexpr double kJustEntered_s = 0.5;
// Samples come every second. One that is older says nothing of what the process does now.
constexpr double kOldSample_s = 5;
// In which the kernel counts processor time.
constexpr double kTick_s = 0.01;
// A loop around MPI_Test costs something, too.
constexpr double kMostlyInMpi = 0.25;

std::tuple<std::int32_t, std::uint64_t, std::int32_t> place_of(const ChannelCount& channel) {
  return {channel.peer, channel.communicator, channel.tag};
}

bool is_member(const RankState& rank) { return rank.rank >= 0; }

}  // namespace

JobView::JobView(const JobState& now, const JobState& earlier)
    : now_(now), world_size_(now.world_size) {
  for (const RankState& rank : now.ranks) {
    if (is_member(rank)) ranks_[rank.rank] = &rank;
    world_size_ = std::max(world_size_, rank.rank + 1);
  }
  for (const RankState& rank : earlier.ranks) ranks_before_[rank.rank] = &rank;
  for (const Communicator& communicator : now.communicators)
    communicators_[communicator.id] = &communicator;
  repair_world();
  count_collectives(earlier);
  count_collectives(now);
}

// A rank that was not seen has not said which members it is; of MPI_COMM_WORLD, that is known.
void JobView::repair_world() {
  for (auto& [id, communicator] : communicators_) {
    if (communicator->members.size() != static_cast<std::size_t>(world_size_) ||
        communicator->name != "MPI_COMM_WORLD" || !communicator->remote.empty())
      continue;
    world_ = *communicator;
    for (std::size_t rank = 0; rank < world_.members.size(); ++rank)
      world_.members[rank] = static_cast<std::int32_t>(rank);
    communicator = &world_;
    return;
  }
}

const RankState* JobView::rank(std::int32_t rank) const {
  const auto found = ranks_.find(rank);
  return found == ranks_.end() ? nullptr : found->second;
}

const RankState* JobView::rank_before(std::int32_t rank) const {
  const auto found = ranks_before_.find(rank);
  return found == ranks_before_.end() ? nullptr : found->second;
}

const Communicator* JobView::communicator(std::uint64_t id) const {
  const auto found = communicators_.find(id);
  return found == communicators_.end() ? nullptr : found->second;
}

std::string JobView::name_of_communicator(std::uint64_t id) const {
  const Communicator* found = communicator(id);
  return found != nullptr && !found->name.empty() ? found->name : "an unknown communicator";
}

bool JobView::unseen(std::int32_t rank) const {
  const RankState* state = this->rank(rank);
  if (state == nullptr) return true;
  return state->sample_age_s > kOldSample_s && state->state != ProcessState::kGone &&
         state->state != ProcessState::kEnded && state->state != ProcessState::kStopped;
}

bool JobView::ended(std::int32_t rank) const {
  const RankState* state = this->rank(rank);
  return state != nullptr &&
         (state->state == ProcessState::kGone || state->state == ProcessState::kEnded);
}

bool JobView::moved(const RankState& rank, const ThreadState& thread) const {
  if (thread.since_s < kJustEntered_s) return true;
  const RankState* before = rank_before(rank.rank);
  if (before == nullptr) return thread.since_s < 2 * kJustEntered_s;
  const auto found = std::ranges::find(before->threads, thread.thread, &ThreadState::thread);
  return found == before->threads.end() || found->calls != thread.calls ||
         found->function != thread.function;
}

bool JobView::goes_on_calling(const RankState& rank, const ThreadState& thread) const {
  const RankState* before = rank_before(rank.rank);
  if (before == nullptr) return false;
  const auto found = std::ranges::find(before->threads, thread.thread, &ThreadState::thread);
  return found != before->threads.end() && found->calls < thread.calls;
}

double JobView::call_rate(const RankState& rank, const ThreadState& thread) const {
  const RankState* before = rank_before(rank.rank);
  if (before == nullptr) return 0;
  const auto found = std::ranges::find(before->threads, thread.thread, &ThreadState::thread);
  if (found == before->threads.end() || found->calls >= thread.calls) return 0;
  return static_cast<double>(thread.calls - found->calls) /
         std::max(kTick_s, rank.processor_s - before->processor_s);
}

double JobView::interval_s(const RankState& rank) const {
  const RankState* before = rank_before(rank.rank);
  return before == nullptr ? 0 : std::max(0.0, rank.elapsed_s - before->elapsed_s);
}

double JobView::computing_share(const RankState& rank) const {
  const double interval = interval_s(rank);
  if (interval <= 0) return -1;
  const RankState* before = rank_before(rank.rank);
  const double processor = rank.processor_s - before->processor_s;
  // In MPI a process usually polls, which takes all of its processor's time.
  const double outside = processor - std::max(0.0, rank.mpi_s - before->mpi_s);
  return std::max(0.0, outside) / interval;
}

bool JobView::polls(const RankState& rank) const {
  const RankState* before = rank_before(rank.rank);
  const double interval = interval_s(rank);
  return before != nullptr && interval > 0 &&
         (rank.mpi_s - before->mpi_s) / interval > kMostlyInMpi &&
         std::ranges::all_of(rank.threads,
                             [](const ThreadState& thread) { return thread.function.empty(); });
}

bool JobView::communicated(const RankState& rank) const {
  const RankState* before = rank_before(rank.rank);
  return before != nullptr && (rank.sent != before->sent || rank.received != before->received);
}

bool JobView::in_mpi(std::int32_t rank) const {
  const RankState* state = this->rank(rank);
  if (state == nullptr) return false;
  if (state->state == ProcessState::kFinalizing) return true;
  if (state->state != ProcessState::kRunning) return false;
  return std::ranges::any_of(state->threads,
                             [](const ThreadState& thread) { return !thread.function.empty(); });
}

std::uint64_t JobView::collectives_begun(std::int32_t rank, std::uint64_t communicator) const {
  const auto found = collectives_.find({rank, communicator});
  return found == collectives_.end() ? 0 : found->second;
}

void JobView::count_collectives(const JobState& state) {
  const auto at_least = [this](std::int32_t rank, std::uint64_t communicator, std::uint64_t begun) {
    std::uint64_t& known = collectives_[{rank, communicator}];
    known = std::max(known, begun);
  };
  for (const RankState& rank : state.ranks) {
    for (const CollectiveCount& count : rank.collectives)
      at_least(rank.rank, count.communicator, count.begun);
    for (const ThreadState& thread : rank.threads) {
      if (thread.collective > 0) at_least(rank.rank, thread.communicator, thread.collective);
    }
  }
}

const JobView::Order& JobView::ordered(const RankState& rank) const {
  const auto [at, is_new] = orders_.try_emplace(rank.rank);
  Order& order = at->second;
  if (!is_new) return order;
  for (std::size_t i = 0; i < rank.channels.size(); ++i)
    if (rank.channels[i].peer >= 0) order.push_back(static_cast<std::uint32_t>(i));
  std::ranges::sort(order, [&](std::uint32_t one, std::uint32_t other) {
    return place_of(rank.channels[one]) < place_of(rank.channels[other]);
  });
  return order;
}

template <typename F>
void JobView::for_each(std::int32_t rank, std::int32_t peer, std::uint64_t communicator,
                       std::int32_t tag, F f) const {
  const RankState* state = this->rank(rank);
  if (state == nullptr) return;
  const Order& order = ordered(*state);
  const std::tuple first{peer, communicator,
                         tag == kAnyone ? std::numeric_limits<std::int32_t>::min() : tag};
  auto at = std::ranges::lower_bound(
      order, first, {}, [&](std::uint32_t number) { return place_of(state->channels[number]); });
  for (; at != order.end(); ++at) {
    const ChannelCount& channel = state->channels[*at];
    if (channel.peer != peer || channel.communicator != communicator ||
        (tag != kAnyone && channel.tag != tag))
      return;
    f(channel);
  }
}

std::uint64_t JobView::unmatched(std::int32_t from, std::int32_t to, std::uint64_t communicator,
                                 std::int32_t tag) const {
  std::map<std::int32_t, Count> by_tag;
  for_each(from, to, communicator, tag,
           [&](const ChannelCount& channel) { by_tag[channel.tag].sent += channel.sent; });
  std::uint64_t count = 0;
  for (auto& [number, counts] : by_tag) {
    if (counts.sent > 0) counts.received = counted(from, to, communicator, number).received;
    if (counts.sent > counts.received) count += counts.sent - counts.received;
  }
  return count;
}

JobView::Count JobView::counted(std::int32_t from, std::int32_t to, std::uint64_t communicator,
                                std::int32_t tag) const {
  Count count;
  for_each(from, to, communicator, tag,
           [&](const ChannelCount& channel) { count.sent += channel.sent; });
  for_each(to, from, communicator, tag,
           [&](const ChannelCount& channel) { count.received += channel.received; });
  return count;
}

std::vector<UnmatchedMessages> JobView::unmatched_from(std::int32_t from) const {
  std::vector<UnmatchedMessages> found;
  const RankState* sender = rank(from);
  if (sender == nullptr) return found;
  const ChannelCount* last = nullptr;
  for (const std::uint32_t number : ordered(*sender)) {
    const ChannelCount& channel = sender->channels[number];
    if (last != nullptr && place_of(*last) == place_of(channel)) continue;
    last = &channel;
    const RankState* receiver = rank(channel.peer);
    if (receiver != nullptr && receiver->channels_left_out > 0) continue;
    const Count count = counted(from, channel.peer, channel.communicator, channel.tag);
    if (count.sent > count.received)
      found.push_back(
          {from, channel.peer, channel.communicator, channel.tag, count.sent - count.received});
  }
  return found;
}

}  // namespace fathom::live
