// SPDX-License-Identifier: BSD-3-Clause
#include "trace/communicator_rows.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

namespace fathom::trace {
namespace {

using profile::Communicator;
using profile::CommunicatorRow;

std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0x9e3779b97f4a7c15u;
  return state ^ state >> 29;
}

template <std::size_t N>
void copy_text(char (&to)[N], std::string_view from) {
  std::memcpy(to, from.data(), std::min(from.size(), N - 1));
}

class Rows {
 public:
  explicit Rows(const Definitions& definitions)
      : definitions_(definitions), result_(definitions.processes.size()) {
    for (std::size_t i = 0; i < definitions.processes.size(); ++i) {
      process_of_[definitions.processes[i].rank] = i;
    }
  }

  std::vector<ProcessCommunicators> run() {
    if (result_.empty()) return result_;
    teller_ = process_of_.begin()->second;
    for (const Communicator& communicator : definitions_.communicators)
      keys_.push_back(key_of(communicator));  // all first: a parent may have a higher number
    for (std::size_t i = 0; i < definitions_.communicators.size(); ++i)
      add(static_cast<std::int32_t>(i));
    return std::move(result_);
  }

 private:
  bool is_per_process(std::size_t number) const {
    const auto& communicators = definitions_.communicators;
    for (std::size_t steps = 0; steps <= communicators.size(); ++steps) {
      const Communicator& communicator = communicators[number];
      if (!communicator.world_ranks.empty()) return false;
      if (communicator.name == "MPI_COMM_SELF" && communicator.parent == profile::kNone)
        return true;
      if (communicator.parent < 0 ||
          communicator.parent >= static_cast<std::int64_t>(communicators.size())) {
        return false;
      }
      number = static_cast<std::size_t>(communicator.parent);
    }
    return false;
  }

  // Does not depend on what else the trace holds, so that traces cut from one run can be rejoined.
  std::uint64_t key_of(const Communicator& communicator) {
    std::uint64_t key = 0;
    for (const char c : communicator.made_by + "\n" + communicator.name)
      key = mix(key, static_cast<unsigned char>(c));
    for (const auto* side : {&communicator.world_ranks, &communicator.remote_world_ranks}) {
      key = mix(key, side->size());
      for (const std::int64_t rank : *side) key = mix(key, static_cast<std::uint64_t>(rank));
    }
    const std::uint64_t whole = mix(key, alike_[key]++);
    return whole == 0 ? 1 : whole;
  }

  CommunicatorRow row_of(std::int32_t number, std::uint64_t key, bool in_remote) const {
    const Communicator& communicator = definitions_.communicators[static_cast<std::size_t>(number)];
    CommunicatorRow row{};
    row.key = key;
    const std::int64_t parent = communicator.parent;
    if (parent >= 0 && parent < static_cast<std::int64_t>(keys_.size())) {
      row.parent_key = keys_[static_cast<std::size_t>(parent)];
    }
    row.group_key = key + (in_remote ? 2 : 1);
    row.size = static_cast<std::uint32_t>(communicator.world_ranks.size());
    row.remote_size = static_cast<std::uint32_t>(communicator.remote_world_ranks.size());
    if (in_remote) std::swap(row.size, row.remote_size);
    row.instances = static_cast<std::uint32_t>(communicator.instances);
    if (communicator.internal) row.flags |= profile::kInternal;
    if (!communicator.remote_world_ranks.empty()) row.flags |= profile::kIntercommunicator;
    if (communicator.made_by == "predefined") row.flags |= profile::kPredefined;
    copy_text(row.made_by, communicator.made_by);
    copy_text(row.name, communicator.name);
    return row;
  }

  void append(std::size_t process, std::int32_t number, const CommunicatorRow& row) {
    result_[process].positions[number] = static_cast<std::uint32_t>(result_[process].rows.size());
    result_[process].rows.push_back(row);
  }

  void add(std::int32_t number) {
    const Communicator& communicator = definitions_.communicators[static_cast<std::size_t>(number)];
    const std::uint64_t key = keys_[static_cast<std::size_t>(number)];
    if (is_per_process(static_cast<std::size_t>(number))) {
      for (std::size_t process = 0; process < result_.size(); ++process) {
        CommunicatorRow row = row_of(number, key, false);
        row.size = 1;
        row.flags |= profile::kPerProcess;
        append(process, number, row);
      }
      return;
    }
    for (const bool remote : {false, true}) {
      const auto& side = remote ? communicator.remote_world_ranks : communicator.world_ranks;
      for (std::size_t place = 0; place < side.size(); ++place) {
        const auto process = process_of_.find(side[place]);
        if (process == process_of_.end() || result_[process->second].positions.contains(number))
          continue;
        CommunicatorRow row = row_of(number, key, remote);
        row.my_rank = static_cast<std::uint32_t>(place);
        append(process->second, number, row);
        result_[process->second].in_remote_group[number] = remote;
      }
    }
    tell_the_rest(number, key);
  }

  void tell_the_rest(std::int32_t number, std::uint64_t key) {
    ProcessCommunicators& teller = result_[teller_];
    if (!teller.positions.contains(number)) {
      CommunicatorRow row = row_of(number, key, false);
      row.flags |= profile::kNotMember;
      append(teller_, number, row);
    }
    const auto own_side = teller.in_remote_group.find(number);
    const bool teller_in_remote = own_side != teller.in_remote_group.end() && own_side->second;
    const Communicator& communicator = definitions_.communicators[static_cast<std::size_t>(number)];
    for (const bool remote : {false, true}) {
      const auto& side = remote ? communicator.remote_world_ranks : communicator.world_ranks;
      for (std::size_t place = 0; place < side.size(); ++place) {
        if (process_of_.contains(side[place])) continue;
        const bool foreign = side[place] >= definitions_.world_size;
        const std::int64_t rank = foreign ? side[place] - definitions_.world_size : side[place];
        teller.foreign_members.push_back(
            {teller.positions[number], remote != teller_in_remote ? 1u : 0u,
             static_cast<std::uint32_t>(place), foreign ? kForeignJob : kOwnJob,
             static_cast<std::uint32_t>(rank), 0});
      }
    }
  }

  const Definitions& definitions_;
  std::vector<ProcessCommunicators> result_;
  std::map<std::int64_t, std::size_t> process_of_;
  std::size_t teller_ = 0;
  std::map<std::uint64_t, std::uint64_t> alike_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace

std::vector<ProcessCommunicators> communicator_rows(const Definitions& definitions) {
  return Rows(definitions).run();
}

}  // namespace fathom::trace
