// SPDX-License-Identifier: BSD-3-Clause
// The members of each communicator as an OTF2 archive lists them, and the position of a peer there.
//
// Each communicator is an OTF2 Comm with one group:
//   all members known     the members in order; for an intercommunicator the local group, then the
//                         remote group. It is not an InterComm, because Python's otf2 3.0, and so
//                         Pipit, cannot read one: its class inherits the fields of Comm before its
//                         own, and looks the second group up among the communicators.
//   one in each process   MPI_COMM_SELF and communicators made from it: the one group of type
//                         COMM_SELF, where every peer is 0.
//   members not known     in a trace of some of the ranks: all ranks, so peers are world ranks.
// A peer that the group lacks is appended when first met, because sometimes only one side of an
// intercommunicator is known. Peers without a known world rank share the location "unknown rank".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/definitions.h"
#include "trace/event.h"

namespace fathom::exporters {

// The positions of all communicators, each after its parent, because readers look up what a
// definition refers to when they meet it. Of parents in a circle (damage) one comes last.
std::vector<std::size_t> parents_first(const std::vector<profile::Communicator>& communicators);

class Otf2Groups {
 public:
  explicit Otf2Groups(const trace::Definitions& definitions);

  // Locations 0 … ranks() - 1 are the ranks of the job and the members of all communicators. Once a
  // peer without a known rank was met, one more follows.
  std::int64_t ranks() const { return ranks_; }
  std::int64_t locations() const { return ranks_ + (unknown_rank_met_ ? 1 : 0); }

  // True if each process has its own such communicator.
  bool is_self(std::size_t communicator) const { return groups_[communicator].is_self; }
  // World ranks; ranks() is the unknown rank.
  std::vector<std::uint64_t> members(std::size_t communicator) const;

  // The position of a message's peer. Accepts damaged communicator numbers.
  std::uint32_t peer(const trace::Event& event);
  // The same for any rank, without appending; OTF2_UNDEFINED_UINT32 if the list lacks it.
  std::uint32_t find(std::int32_t communicator, std::int32_t world_rank);

  // Archive property FATHOM::COMMUNICATORS (trace/otf2/names.h).
  std::string property() const;

 private:
  struct Group {
    std::vector<std::int64_t> members;  // world ranks; kNone: the unknown rank
    // For the first `mapped` members; extended on demand.
    std::unordered_map<std::int64_t, std::uint32_t> positions;
    std::size_t mapped = 0;
    bool is_self = false;
    bool of_all_ranks = false;  // the group begins with all ranks; `members` follow them
  };

  // Appends the rank; returns its entry in the group.
  std::int64_t add(Group& group, std::int64_t rank);
  std::optional<std::uint32_t> position(Group& group, std::int64_t rank);

  bool is_known(std::int32_t communicator) const {
    return communicator >= 0 && static_cast<std::size_t>(communicator) < groups_.size();
  }

  const trace::Definitions& definitions_;
  std::vector<Group> groups_;               // by communicator
  std::int64_t ranks_ = 0, all_ranks_ = 0;  // all_ranks_: the beginning of a group of all ranks
  bool unknown_rank_met_ = false;
};

}  // namespace fathom::exporters
