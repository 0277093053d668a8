// SPDX-License-Identifier: BSD-3-Clause
// Selects a part of a profile: by class, by who caused the traffic, by communicator, by phase. An
// empty Selection selects everything.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace fathom::profile {

enum class Origin {
  kAll,
  kUser,    // sent by a send of the program
  kHidden,  // sent by the MPI library on the program's behalf
};

struct Selection {
  Origin origin = Origin::kAll;
  std::optional<std::set<std::string>> classes;
  std::optional<std::set<std::int64_t>> communicators;
  std::optional<std::set<std::string>> phases;  // "" is the time outside every named phase

  bool admits(const Traffic& traffic) const {
    return admits(traffic.class_name, traffic.hidden) &&
           admits(traffic.communicator, traffic.phase);
  }
  // Message sizes are recorded by class alone, so they are none of a chosen communicator or phase.
  bool admits(const MessageSizes& sizes) const {
    return !communicators && !phases && admits(sizes.class_name, sizes.hidden);
  }

  // Classes and origins are of messages; calls, and how they waited, are selected by communicator
  // and phase.
  bool admits(const CallTimes& calls) const { return admits(calls.communicator, calls.phase); }
  bool admits(const CallWaits& waits) const { return admits(waits.communicator, waits.phase); }
  bool admits(const PathPart& part) const { return admits(part.communicator, part.phase); }
  // Whether it says something that calls do not have.
  bool is_of_messages() const { return classes || origin != Origin::kAll; }

 private:
  bool admits(std::int64_t communicator, const std::string& phase) const {
    return (!communicators || communicators->contains(communicator)) &&
           (!phases || phases->contains(phase));
  }
  bool admits(const std::string& class_name, bool hidden) const {
    return (!classes || classes->contains(class_name)) &&
           (origin == Origin::kAll || (origin == Origin::kHidden) == hidden);
  }
};

// The same as users write it: names, as base/name_patterns.h explains them. Communicators go by
// name or constructor, as in a trace, or by id. Empty lists choose everything.
struct SelectedNames {
  std::vector<std::string> classes, communicators, phases;

  bool whole() const { return classes.empty() && communicators.empty() && phases.empty(); }
};

// The names by which traffic can be chosen: those of blocks with traffic.
struct TrafficNames {
  std::set<std::string> classes, phases;

  void add(const Traffic& block) {
    classes.insert(block.class_name);
    phases.insert(block.phase);
  }
};

// An Error names the first name that fits nothing, and the nearest one that exists or all of them.
base::Result<Selection> selection_of(const SelectedNames& chosen, const TrafficNames& known,
                                     const std::vector<Communicator>& communicators);

// `profile`: a whole one, whose traffic the names must fit.
base::Result<Selection> selection_of(const SelectedNames& chosen, const Profile& profile);

// World ranks as users write them, "0-3,7"; an Error if there is none, or anything else.
base::Result<std::set<std::int64_t>> parse_ranks(const std::string& text);
std::string ranks_text(const std::set<std::int64_t>& ranks);  // as parse_ranks() reads it

}  // namespace fathom::profile
