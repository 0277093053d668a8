// SPDX-License-Identifier: BSD-3-Clause
// A block of places in a sequence of collectives (resolve.h): when its members entered each, and which of
// them ask whom they had to wait for. A sequence is that of a communicator, or of a window or file.
//
// At the end of a run only. Threading: none. Memory: 8 bytes for each member and place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "mpi/meaning.h"

namespace fathom::profiler {

// In place of a moment.
inline constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kNoWait = kUnknown + 1;  // the call did not have to wait for anybody

// In place of the moment at which a collective was left.
inline constexpr std::int64_t kNeverAlone = std::numeric_limits<std::int64_t>::max();

struct Decision {
  std::int64_t ns = kUnknown;
  std::uint32_t rank = 0;
  std::uint32_t reserved = 0;
};

struct BlockHeader {           // followed by the times and the questions
  std::uint64_t communicator;  // names the sequence
  std::uint64_t first;         // place in it
  std::uint32_t members;
  std::uint32_t
      member;  // its rank; kNoRank on an intercommunicator, whose members are in two groups
  std::uint64_t times, questions, lists;  // of neighbours, after the questions
};
inline constexpr std::uint32_t kNoRank = ~0u;

struct BlockQuestion {
  std::uint64_t ordinal;
  std::int32_t root;  // among neighbours: the asker's list of them
  mpi::Flow flow;
  bool among_neighbors;
  // When the asker left it; kNeverAlone: it cannot do without the others. Among neighbours: when the call
  // that completed it was left.
  std::int64_t left_ns;
};

// What the members of a sequence have reported about these places, at the process where they come together.
struct SequenceBlock {
  struct Asker {
    std::uint32_t process, member;
    std::vector<BlockQuestion> questions;
    std::vector<std::vector<std::uint32_t>> neighbors;
  };
  std::vector<std::vector<std::int64_t>> times;  // by member; empty: it has sent none
  std::vector<std::uint32_t> processes;
  std::vector<Asker> askers;
  std::uint32_t without_rank = 0;  // how many have come on an intercommunicator
  std::vector<Decision> last;      // of all members, where somebody has asked for it
  // By place: when the first of those who ask had left; of operations that one member may do alone.
  std::vector<std::int64_t> first_left;

  std::int64_t at(std::size_t member, std::uint64_t place) const {
    return place < times[member].size() ? times[member][place] : kUnknown;
  }
  Decision last_of(std::size_t from, std::size_t to, std::size_t without,
                   std::uint64_t place) const {
    Decision last{kNoWait, 0, 0};
    for (std::size_t member = from; member < to; ++member) {
      if (member == without) continue;
      const std::int64_t ns = at(member, place);
      if (ns == kUnknown) return {};
      if (ns > last.ns) last = {ns, processes[member], 0};
    }
    return last;
  }
  // The last of those that entered by then. The others sent nothing, or what they receive went at once.
  Decision last_of(const std::vector<std::uint32_t>& neighbors, std::uint64_t place,
                   std::int64_t until_ns) const {
    Decision last{kNoWait, 0, 0};
    for (const std::uint32_t member : neighbors) {
      if (member >= times.size() || at(member, place) == kUnknown) return {};
      if (const std::int64_t ns = at(member, place); ns > last.ns && ns <= until_ns)
        last = {ns, processes[member], 0};
    }
    return last;
  }
  void left(std::uint64_t place, std::int64_t ns) {
    if (ns == kNeverAlone) return;
    if (first_left.size() <= place) first_left.resize(place + 1, kNeverAlone);
    first_left[place] = std::min(first_left[place], ns);
  }
  // `error_ns`: by how much two processes may differ.
  Decision answer(const BlockQuestion& question, std::uint64_t place, const Asker& asker,
                  std::int64_t error_ns) {
    const std::size_t members = times.size();
    if (question.among_neighbors) {
      const auto list = static_cast<std::size_t>(question.root);
      if (question.root < 0 || list >= asker.neighbors.size() || without_rank > 0) return {};
      return last_of(asker.neighbors[list], place, question.left_ns + error_ns);
    }
    const auto root = static_cast<std::size_t>(question.root);
    const bool is_root = root == asker.member;
    const bool by_rank = question.flow == mpi::Flow::kFromRoot ||
                         question.flow == mpi::Flow::kToRoot || question.flow == mpi::Flow::kPrefix;
    if (by_rank && without_rank > 0) return {};
    switch (question.flow) {
      case mpi::Flow::kFromRoot:
        if (root >= members) return {};
        return is_root ? Decision{kNoWait, 0, 0} : Decision{at(root, place), processes[root], 0};
      case mpi::Flow::kToRoot:
        if (root >= members) return {};
        return is_root ? last_of(0, members, root, place) : Decision{kNoWait, 0, 0};
      case mpi::Flow::kPrefix: return last_of(0, asker.member, members, place);
      case mpi::Flow::kBarrier:
      case mpi::Flow::kAllToAll: break;
      case mpi::Flow::kNone: return {kNoWait, 0, 0};
    }
    if (last.size() <= place) last.resize(place + 1, {kNoWait, ~0u, 1});
    if (last[place].reserved != 0) last[place] = last_of(0, members, members, place);
    // One has left before the last has entered: each did it alone (Collectives::complete() in
    // analysis/engine/collectives.cpp).
    if (last[place].ns != kUnknown && place < first_left.size() &&
        first_left[place] != kNeverAlone && first_left[place] + error_ns < last[place].ns)
      return {kNoWait, 0, 0};
    return last[place].rank == asker.process && last[place].ns != kUnknown ? Decision{kNoWait, 0, 0}
                                                                           : last[place];
  }
};

}  // namespace fathom::profiler
