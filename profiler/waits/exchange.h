// SPDX-License-Identifier: BSD-3-Clause
// Every process asks any others, who need not expect it, and they answer.
//
// In a world of up to FATHOM_DIRECT_RANKS processes, questions and answers go straight to their receivers. A
// process learns how many questions are coming from sums that are formed along the tree of gather.h.
//
// In a larger one, a process that all others ask would be connected with all of them. There they travel by
// Bruck's algorithm (Bruck et al., Efficient algorithms for all-to-all communications in multiport
// message-passing systems, 1997): the way of a parcel, how many ranks its receiver is above its sender,
// is written as digits. In each round a process passes on, to the one d * place ranks above it, all
// parcels whose way still has the digit d at that place, for all d at once. The base is the root of the
// number of processes, but at most 32: two rounds up to 1,024 processes. With base 2 each sends fewer
// messages, but the rounds are more, and in each one everybody waits for others.
//
// All processes of the world call ask(), and then answer(), together. Threading: none.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/gather.h"

namespace fathom::profiler {

struct Parcel {
  std::uint32_t to = 0;
  std::uint32_t from = 0;
  std::vector<char> data;
};

class Exchange {
 public:
  Exchange(Gather& gather, const ProfiledProcess& process)
      : gather_(gather),
        rank_(process.header().rank),
        size_(process.header().world_size),
        direct_ranks_(process.settings().direct_ranks) {}

  // Both return the parcels sent to this process, ordered by sender; of one sender, in its order.
  // Without memory parcels are lost.
  // `told` becomes the largest of what all processes tell; it is never lost. `goes_in_rounds`: the place in it
  // that the exchange uses itself, so that all go the same way.
  std::vector<Parcel> ask(std::vector<Parcel> questions, Gather::Places& told,
                          std::size_t goes_in_rounds);
  // Only to processes that asked this one.
  std::vector<Parcel> answer(std::vector<Parcel> answers);

 private:
  std::vector<Parcel> in_rounds(std::vector<Parcel> parcels, Gather::Places& told);

  Gather& gather_;
  const std::uint32_t rank_, size_, direct_ranks_;
  bool is_direct_ = false;
  std::vector<Gather::Letter> asked_;  // one to each process that this one asks
  std::bitset<Gather::kMostCounted> askers_;
};

}  // namespace fathom::profiler
