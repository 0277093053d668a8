// SPDX-License-Identifier: BSD-3-Clause
// Merges the communicators that each process knows (rows.h) into those of the run.
//
// A kind of communicator has the same key on all its members. Each member reports its own place in
// the group; one of them reports the members from other worlds. Kinds to which all members give the
// same ordinal key (rows.h) are one communicator, represented by the first of them. The result does
// not depend on the order in which processes are added, so all files of one run (profile.json,
// traces) use the same numbers for communicators and foreign processes: MPI_COMM_WORLD and
// MPI_COMM_SELF first, then the others in the order in which the lowest rank met them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "profile/rows.h"

namespace fathom::profile {

using ProcessName = std::pair<std::uint32_t, std::uint32_t>;  // job, rank in it

// Ranks of a world; processes of other worlds have numbers from world_size up.
class ProcessNumbers {
 public:
  void set_world(std::uint32_t job, std::int64_t world_size) {
    job_ = job;
    world_size_ = world_size;
  }

  // The number of a process of another world is valid until settle().
  std::int64_t number(ProcessName who);

  // Renumbers the foreign processes in the order of their names. Returns the final number of each,
  // indexed by its earlier number minus world_size.
  std::vector<std::int64_t> settle();

  const std::map<ProcessName, std::int64_t>& foreign() const { return foreign_; }

 private:
  std::uint32_t job_ = 0;
  std::int64_t world_size_ = 0;
  std::map<ProcessName, std::int64_t> foreign_;
};

class CommunicatorMerge {
 public:
  // Adds what one process of the world knows. Returns each kind's number here, by position.
  std::vector<std::uint32_t> add(std::int64_t rank, const std::vector<CommunicatorRow>& rows,
                                 const std::vector<ForeignMemberRow>& foreign_members,
                                 ProcessNumbers& numbers);

  // Call once, after the last add() and ProcessNumbers::settle(), which returned `foreign`.
  std::vector<Communicator> finish(std::int64_t world_size,
                                   const std::vector<std::int64_t>& foreign);

  // After finish():
  // The kind that represents this one; usually itself.
  std::uint32_t first_alike(std::uint32_t kind) const { return first_alike_[kind]; }
  std::int64_t id_of(std::uint32_t kind) const { return id_of_kind_[first_alike_[kind]]; }
  bool is_remote_group(std::uint32_t kind, std::uint64_t group_key) const {
    return group_key != kinds_[first_alike_[kind]].row.group_key;
  }
  // By position in the group; kNone where the member left nothing. Empty for communicators of which
  // each process has its own.
  std::vector<std::int64_t> members(std::uint32_t kind, bool remote) const;

 private:
  using Members = std::map<std::uint32_t, std::int64_t>;    // position -> number
  using Sighting = std::pair<std::int64_t, std::uint32_t>;  // rank, position in its section
  struct Kind {
    CommunicatorRow row{};          // of the first sighting; its group is the local one
    std::uint64_t ordinal_key = 0;  // 0: its rows do not agree
    Sighting first, named;
    std::uint32_t instances = 0;
    bool internal = true;
    Members local, remote;
    std::string name;
  };

  void add_row(const CommunicatorRow& row, Sighting sighting, std::vector<std::uint32_t>& kind_of);
  std::vector<std::uint32_t> in_order() const;
  void fold(Kind& kind, Kind& into);

  std::map<std::uint64_t, std::uint32_t> kinds_by_key_;
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> first_alike_;
  std::vector<std::int64_t> id_of_kind_;  // by first_alike
  std::int64_t world_size_ = 0;
};

}  // namespace fathom::profile
