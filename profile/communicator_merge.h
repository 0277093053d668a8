// SPDX-License-Identifier: BSD-3-Clause
// Brings the communicators that each process knows (rows.h) together into those of the run.
//
// A kind of communicator has the same key on all its members; each of them tells its own place in
// the group, members of other worlds are told by one of them. Kinds to which all members give the
// same ordinal key (rows.h) are one communicator: the first of them stands for all. The result does
// not depend on the order in which processes are added, so that all files of one run (profile.json,
// traces) number communicators and foreign processes alike: MPI_COMM_WORLD and MPI_COMM_SELF first,
// then as the lowest rank met them.
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

// Ranks of a world; processes of other worlds are numbered on from world_size.
class ProcessNumbers {
 public:
  void set_world(std::uint32_t job, std::int64_t world_size) {
    job_ = job;
    world_size_ = world_size;
  }

  // For a process of another world the number holds until settle().
  std::int64_t number(ProcessName who);

  // Numbers the foreign processes in order of their names. The result holds the final number of
  // each, by its number until now less world_size.
  std::vector<std::int64_t> settle();

  const std::map<ProcessName, std::int64_t>& foreign() const { return foreign_; }

 private:
  std::uint32_t job_ = 0;
  std::int64_t world_size_ = 0;
  std::map<ProcessName, std::int64_t> foreign_;
};

class CommunicatorMerge {
 public:
  // What one process of the world knows. Returns, by position, the kind's number in this object.
  std::vector<std::uint32_t> add(std::int64_t rank, const std::vector<CommunicatorRow>& rows,
                                 const std::vector<ForeignMemberRow>& foreign_members,
                                 ProcessNumbers& numbers);

  // Once, after the last add() and ProcessNumbers::settle(), whose result is `foreign`.
  std::vector<Communicator> finish(std::int64_t world_size,
                                   const std::vector<std::int64_t>& foreign);

  // After finish():
  // The kind that stands for it; most often itself.
  std::uint32_t first_alike(std::uint32_t kind) const { return first_alike_[kind]; }
  std::int64_t id_of(std::uint32_t kind) const { return id_of_kind_[first_alike_[kind]]; }
  bool is_remote_group(std::uint32_t kind, std::uint64_t group_key) const {
    return group_key != kinds_[first_alike_[kind]].row.group_key;
  }
  // By position in the group; kNone where the member left nothing. Empty for what each process has
  // of its own.
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
  std::vector<std::int64_t> id_of_kind_;  // of the first alike
  std::int64_t world_size_ = 0;
};

}  // namespace fathom::profile
