// SPDX-License-Identifier: BSD-3-Clause
// Every process sends data to any others, and receives what they sent to it.
//
// Bruck's algorithm (Bruck et al., Efficient algorithms for all-to-all communications in multiport
// message-passing systems, 1997): the way of a parcel, how many ranks its receiver is above its sender,
// is written as digits. In each round a process passes on, to the one d * place ranks above it, all
// parcels whose way still has the digit d at that place, for all d at once. So nobody needs to know who
// will send to it. The base is the root of the number of processes, but at most 32: two rounds up to
// 1,024 processes. With base 2 each sends fewer messages, but the rounds are more, and in each one
// everybody waits for others, which takes long where ranks share processors.
//
// All processes of the world call it together. Threading: none.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/openmpi/gather.h"

namespace fathom::profiler {

struct Parcel {
  std::uint32_t to = 0;
  std::uint32_t from = 0;
  std::vector<char> data;
};

// Returns the parcels sent to this process, ordered by sender; of one sender, in its order. Without
// memory parcels are lost. `told` becomes the largest of what all processes tell; it is never lost.
std::vector<Parcel> exchange(Gather& gather, std::uint32_t rank, std::uint32_t size,
                             std::vector<Parcel> parcels, Gather::Places& told);

}  // namespace fathom::profiler
