// SPDX-License-Identifier: BSD-3-Clause
// Joins the members of each collective operation: the n-th of a sequence at one member is the n-th
// at all others, because all must call them in the same order (MPI 3.1, section 5.1). A
// communicator is a sequence, and so are each window and each file (mpi::Sequence).
//
// Who waits for whom follows from the flow of data (mpi::Flow, mpi/meaning.h):
//
//   barrier, N-to-N   everyone for the last to enter
//   from the root     everyone else for the root
//   to the root       the root for the last of the others. (Scalasca counts until the first of the
//                     others enters, but the root cannot leave before the last has.)
//   scan              each for the last of the ranks below it
//
// In a rooted operation of an intercommunicator, "others" are the members of the group that the
// root is not in; the rest of the root's group (MPI_PROC_NULL) neither waits nor is waited for.
//
// An operation on a window or file, or a constructor, that a member left before the last had entered
// did not bring them together: all are then bystanders. The standard allows that.
//
// A member that left, by the clocks, before the one that it needed data from had entered shows that
// the clocks differ. That is judged only where each member surely needs the other's data.
//
// Losses. A pause begins a new epoch at its process, and numbering restarts: programs pause all
// processes between the same operations. A process that lost records no longer takes part. An
// operation that can never have all its members is dropped and counted.
//
// Cost: O(1) per member, for scans an additional O(log members). Memory: active operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/engine/job_facts.h"
#include "base/flat_map.h"

namespace fathom::analysis {

// One process's part in one operation.
struct Participation {
  std::int32_t communicator = 0;
  std::uint32_t object = 0;  // 0: the communicator itself
  std::uint32_t epoch = 0, sequence = 0;
  std::uint32_t process = 0;
  std::uint32_t step = 0;        // its kCollective
  std::uint32_t operation = 0;   // the function; one number for functions that meet each other
  std::uint32_t root = kNobody;  // process; kNobody: no root, or the root has no trace
  std::uint32_t function = 0;
  std::uint32_t bystander = 0;  // 1: MPI_PROC_NULL in place of the root
  std::uint32_t carries = 0;    // 1: it sends data to the others
  std::uint64_t enter_ns = 0, leave_ns = 0;
};

// The process takes no part in this sequence from position `sequence` on until a later epoch.
struct Closing {
  std::int32_t communicator = 0;
  std::uint32_t object = 0;
  std::uint32_t epoch = 0, sequence = 0;
  // How many persistent collectives it has made on a communicator. Those that others make later
  // it never starts in this epoch.
  std::uint32_t persistent = 0;
};

// The result for one member.
struct JoinedCollective {
  std::uint32_t process = 0, step = 0;
  std::uint32_t partner = kNobody, partner_step = kNobody;  // the member it waited for
  std::uint64_t decided_ns = 0;                             // when that one entered; 0: it waited
                                                            // for none
  std::uint64_t first_left_ns = 0;
  std::uint64_t bystander = 0;  // 1: it depends on nobody
  // By how much it left, by the clocks, before the member that it needed data from entered.
  std::uint64_t clock_error_ns = 0;
};

class Collectives {
 public:
  using Joined = std::vector<JoinedCollective>;

  explicit Collectives(const JobFacts& facts) : facts_(facts), closed_(facts.members.size()) {}

  void take_part(const Participation& part, Joined& joined);
  void close(const Closing& closing);

  std::size_t kept() const { return open_.size(); }  // operations without some of their members
  std::uint64_t left_out() const;  // parts of operations without all members; final at the end

 private:
  struct Key {
    std::int32_t communicator = 0;
    std::uint32_t object = 0;
    std::uint32_t epoch = 0, sequence = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::uint64_t operator()(const Key& key) const {
      return base::mixed(
          (static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.communicator)) << 32 |
           key.sequence) ^
          std::uint64_t{key.object} << 24 ^ std::uint64_t{key.epoch} << 20);
    }
  };
  struct Operation {
    std::vector<Participation> parts;
  };
  struct Closed {
    std::uint32_t object = 0, epoch = 0, sequence = 0, persistent = 0;

    bool ends(std::uint32_t part_object, std::uint32_t part_epoch, std::uint32_t at) const {
      if (epoch != part_epoch) return false;
      if (object == part_object) return at >= sequence;
      return object == 0 && PersistentName::is_one(part_object) &&
             PersistentName::ordinal(part_object) >= persistent;
    }
  };

  bool is_closed(const Participation& part) const;
  bool left_before(const Participation& part, const Participation& last) const;
  void complete(std::vector<Participation>& parts, Joined& joined) const;
  void decided_by(JoinedCollective& one, const Participation& part, const Participation& by) const;
  void complete_prefix(std::vector<Participation>& parts, Joined& joined) const;

  const std::vector<std::uint32_t>& members(std::int32_t communicator) const {
    return facts_.members[static_cast<std::size_t>(communicator)];
  }

  const JobFacts& facts_;
  std::vector<std::vector<Closed>> closed_;  // by communicator; one entry per object and epoch
  base::FlatMap<Key, Operation, KeyHash> open_;
  std::vector<std::vector<Participation>> spare_;  // memory of finished operations, for reuse
  std::uint64_t left_out_ = 0;
};

}  // namespace fathom::analysis
