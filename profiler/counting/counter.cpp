// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/counting/counter.h"

#include <bit>
#include <utility>

namespace fathom::profiler {
namespace {

// Rows per lane: a process that talks to 100,000 peers in ten classes uses all of it.
constexpr std::size_t kMaxCells = std::size_t{1} << 20;
constexpr std::size_t kMaxSizes = std::size_t{1} << 16;

std::atomic<std::uint32_t> next_lane{0};
thread_local std::uint32_t my_lane __attribute__((tls_model("initial-exec"))) = ~0u;

}  // namespace

bool Counter::open(int lanes, std::uint32_t own_job, base::SharedMemory* shared) {
  own_job_ = own_job;
  for (int i = lane_count_; i < lanes; ++i) {
    if (!lanes_[i].cells.open(kMaxCells, shared, kind_of(profile::Section::kCells)) ||
        !lanes_[i].sizes.open(kMaxSizes, shared, kind_of(profile::Section::kSizes)))
      return lane_count_ > 0;
    lane_count_ = i + 1;
  }
  set_option(kManyLanes, lanes > 1);
  return true;
}

void Counter::set_option(std::uint32_t option, bool on) {
  if (option == kPaused && on) was_paused_.store(true, std::memory_order_relaxed);
  if (on) {
    options_.fetch_or(option, std::memory_order_relaxed);
  } else {
    options_.fetch_and(~option, std::memory_order_relaxed);
  }
  begin_epoch();
}

void Counter::begin_epoch() {
  std::uint64_t next = last_epoch_.fetch_add(kEpoch) + kEpoch;
  if (next == 0)
    next = last_epoch_.fetch_add(kEpoch) + kEpoch;  // wrapped, after 16 million: 0 means none
  epoch_.store(options_.load() == 0 ? next : 0, std::memory_order_relaxed);
}

// Lanes outnumber the cores that make MPI calls at once, so the first or second try succeeds. With
// more threads than lanes the loop still ends, because a lane is held for some ten nanoseconds.
Counter::Lane& Counter::take_lane() {
  const auto lanes = static_cast<std::uint32_t>(lane_count_);
  if (my_lane == ~0u) my_lane = next_lane.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t i = my_lane;; ++i) {
    Lane& lane = lanes_[i % lanes];
    if (!lane.taken.exchange(true, std::memory_order_acquire)) {
      my_lane = i;
      return lane;
    }
  }
}

void Counter::record_with_options(profile::Direction direction, std::uint32_t communicator,
                                  ClassId class_id, const void* group, std::uint32_t peer,
                                  std::uint64_t bytes) {
  const std::uint32_t options = options_.load(std::memory_order_relaxed);
  if (options & kPaused) return;
  const std::uint32_t phase = phase_.load(std::memory_order_relaxed);
  if (!(options & kManyLanes)) {
    add(lanes_[0], direction, communicator, class_id, phase, group, peer, bytes, 1);
    return;
  }
  Lane& lane = take_lane();
  add(lane, direction, communicator, class_id, phase, group, peer, bytes, 1);
  lane.taken.store(false, std::memory_order_release);
}

void Counter::record_sum(profile::Direction direction, std::uint32_t communicator, ClassId class_id,
                         const void* group, std::uint32_t peer, std::uint64_t bytes,
                         std::uint64_t messages) {
  const profile::Direction witness = std::exchange(size_witness_, profile::Direction::kInvisible);
  if (messages > 0)
    add(lanes_[0], direction, communicator, class_id, 0, group, peer, bytes, messages);
  size_witness_ = witness;
}

void Counter::retract_empty(std::uint32_t communicator, ClassId class_id, const void* group,
                            std::uint32_t peer) {
  const std::uint32_t options = options_.load(std::memory_order_relaxed);
  if (options & kPaused) return;
  // Lanes are added up modulo 2^64, so one lane may take back what another added.
  Lane& lane = options & kManyLanes ? take_lane() : lanes_[0];
  add(lane, profile::Direction::kReceived, communicator, class_id,
      phase_.load(std::memory_order_relaxed), group, peer, 0, ~std::uint64_t{0});
  if (options & kManyLanes) lane.taken.store(false, std::memory_order_release);
}

void Counter::record_unreceived(std::uint32_t communicator, ClassId class_id, const void* group,
                                std::uint32_t peer, std::uint64_t bytes) {
  const bool many = options_.load(std::memory_order_relaxed) & kManyLanes;
  Lane& lane = many ? take_lane() : lanes_[0];
  add_cell(lane, profile::Direction::kUnreceived, communicator, class_id,
           phase_.load(std::memory_order_relaxed), group, peer, bytes, 1);
  if (many) lane.taken.store(false, std::memory_order_release);
}

profile::CellRow* Counter::new_cell(Lane& lane, std::uint64_t key, const void* group,
                                    std::uint32_t peer) {
  const bool is_rank = profile::unpack_cell_key(key).direction != profile::Direction::kInvisible;
  const auto known = static_cast<std::uint32_t>(rankmap::group_size(group));
  const bool valid = !is_rank || (peer < kMaxPeers && peer < known);
  profile::CellRow* row = valid ? lane.cells.add(key) : nullptr;
  if (row == nullptr) {
    lost_->fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  if (!is_rank) {
    row->peer_job = own_job_;
    return row;
  }
  const rankmap::Identity who = rankmap::member(group, static_cast<int>(peer));
  row->peer_job = who.job;
  row->peer_rank = who.rank;
  return row;
}

profile::CellRow* Counter::new_size(Lane& lane, ClassId class_id, std::uint64_t bytes) {
  const std::uint64_t in_class = std::uint64_t{class_id} << (profile::kSizeBits + 1);
  if (lane.exact_sizes[class_id] < profile::kExactSizes) {
    ++lane.exact_sizes[class_id];
    return lane.sizes.add(in_class | (bytes & profile::kSizeMask));
  }
  const std::uint64_t key =
      in_class | profile::kBinned | std::bit_floor(bytes & profile::kSizeMask);
  profile::CellRow* row = lane.sizes.find(key);
  return row != nullptr ? row : lane.sizes.add(key);
}

void Counter::clear() {
  for (int i = 0; i < lane_count_; ++i) {
    Lane& lane = lanes_[i];
    lane.cells.clear();
    lane.sizes.clear();
    for (auto& recent : lane.recent) recent = {};
    lane.recent_size = {};
    for (auto& count : lane.exact_sizes) count = 0;
  }
  lost_->store(0, std::memory_order_relaxed);
  was_paused_.store(false, std::memory_order_relaxed);
  begin_epoch();
}

}  // namespace fathom::profiler
