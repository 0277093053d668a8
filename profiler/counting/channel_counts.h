// SPDX-License-Identifier: BSD-3-Clause
// The program's point-to-point messages by communicator, peer and tag, for readers of a running job.
//
// Only while the job is watched: every message then takes the slow way (Counter::count_each()). A
// fixed number of channels; messages on further ones are counted together. Threading: any thread, in
// turns.
#pragma once

#include <atomic>
#include <cstdint>

#include "live/page.h"
#include "profiler/counting/row_table.h"

namespace fathom::live {

inline std::uint64_t hash_of(const ChannelKey& key) {
  const std::uint64_t who =
      std::uint64_t{key.communicator} << 32 | static_cast<std::uint32_t>(key.peer);
  return (who * 0x9e3779b97f4a7c15 ^ static_cast<std::uint32_t>(key.tag)) * 0x9e3779b97f4a7c15 >>
         32;
}

}  // namespace fathom::live

namespace fathom::profiler {

class ChannelCounts {
 public:
  static constexpr std::size_t kMostChannels = 8192;

  // `left_out` counts the messages without a place. False without address space.
  bool open(base::SharedMemory& shared, std::atomic<std::uint64_t>& left_out) {
    left_out_ = &left_out;
    return channels_.open(kMostChannels, &shared, live::kChannelCounts);
  }

  void add(profile::Direction direction, std::uint32_t communicator, int peer, int tag,
           std::uint64_t bytes) {
    while (taken_.exchange(true, std::memory_order_acquire)) {
    }
    const live::ChannelKey key{communicator, peer, tag, 1};
    live::ChannelRow* row = channels_.find(key);
    if (row == nullptr) row = channels_.add(key);
    if (row == nullptr) {
      left_out_->fetch_add(1, std::memory_order_relaxed);
    } else if (direction == profile::Direction::kSent) {
      row->sent += 1;
      row->sent_bytes += bytes;
    } else {
      row->received += 1;
      row->received_bytes += bytes;
    }
    taken_.store(false, std::memory_order_release);
  }

 private:
  std::atomic<bool> taken_{false};
  std::atomic<std::uint64_t>* left_out_ = nullptr;
  RowTable<live::ChannelRow> channels_;
};

}  // namespace fathom::profiler
