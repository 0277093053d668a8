// SPDX-License-Identifier: BSD-3-Clause
// The members of each communicator as an OTF2 archive lists them, and where in the list a peer is.
//
// Each communicator is an OTF2 Comm with one group:
//   all members known     the members in order; for an intercommunicator the local group, then the
//                         remote group. It is not an InterComm, because Python's otf2 3.0, and so
//                         Pipit, cannot read one: its class inherits the fields of Comm before its
//                         own, and looks the second group up among the communicators.
//   one in each process   MPI_COMM_SELF and what is made from it alone: the one group of type
//                         COMM_SELF, where every peer is 0.
//   members not known     in a trace of some of the ranks: all ranks, so peers are world ranks.
// A peer that the group lacks is appended when it is first met, for sometimes only one side of an
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

class Otf2Groups {
 public:
  explicit Otf2Groups(const trace::Definitions& definitions);

  // Locations 0 … ranks() - 1 are the ranks of the job and the members of all communicators. One
  // more follows once a peer without a known rank was met.
  std::int64_t ranks() const { return ranks_; }
  std::int64_t locations() const { return ranks_ + (unknown_rank_met_ ? 1 : 0); }

  // True for a communicator that each process has by itself.
  bool is_self(std::size_t communicator) const { return groups_[communicator].is_self; }
  // World ranks; ranks() is the unknown rank.
  std::vector<std::uint64_t> members(std::size_t communicator) const;

  // The position of a message's peer. The communicator's number may be damaged.
  std::uint32_t peer(const trace::Event& event);
  // The same for any rank, without appending; OTF2_UNDEFINED_UINT32 if it is not in the list.
  std::uint32_t find(std::int32_t communicator, std::int32_t world_rank);

  // Archive property FATHOM::COMMUNICATORS (trace/otf2/names.h).
  std::string property() const;

 private:
  struct Group {
    std::vector<std::int64_t> members;  // world ranks; kNone: the unknown rank
    // Of the first `mapped` members; made when needed.
    std::unordered_map<std::int64_t, std::uint32_t> positions;
    std::size_t mapped = 0;
    bool is_self = false;
    bool of_all_ranks = false;  // then `members` is what comes after them
  };

  // The rank as it now is in the group.
  std::int64_t add(Group& group, std::int64_t rank);
  std::optional<std::uint32_t> position(Group& group, std::int64_t rank);

  bool is_known(std::int32_t communicator) const {
    return communicator >= 0 && static_cast<std::size_t>(communicator) < groups_.size();
  }

  const trace::Definitions& definitions_;
  std::vector<Group> groups_;               // by communicator
  std::int64_t ranks_ = 0, all_ranks_ = 0;  // all_ranks_: what a group of all ranks begins with
  bool unknown_rank_met_ = false;
};

}  // namespace fathom::exporters
