// SPDX-License-Identifier: BSD-3-Clause
// Every process sends data to any others, and receives what they sent to it.
//
// Bruck's algorithm (Bruck et al., Efficient algorithms for all-to-all communications in multiport
// message-passing systems, 1997): in round k each process passes on, to the one 2^k ranks above it,
// all parcels whose way still has bit k. So nobody needs to know who will send to it, and a process
// exchanges messages with log2(P) others only.
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
