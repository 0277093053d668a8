// SPDX-License-Identifier: BSD-3-Clause
// What the processes of a job counted, pair by pair, with names resolved: the step between rows and
// profile.
#pragma once

#include <compare>
#include <cstdint>

namespace fathom::profile {

// A group of cells that becomes one Traffic: class, communicator, phase, by number.
struct TrafficKey {
  std::uint32_t class_number, communicator, phase;
  auto operator<=>(const TrafficKey&) const = default;
};

struct Count {
  std::uint64_t bytes = 0, messages = 0;
  Count& operator+=(const Count& other) {
    bytes += other.bytes;
    messages += other.messages;
    return *this;
  }
  bool operator==(const Count&) const = default;
};

// One cell with its process names resolved. Sorted by traffic key, then pair.
struct PairCell {
  TrafficKey traffic;
  std::int64_t source, destination;
  Count sent, received, unreceived;
};

}  // namespace fathom::profile
