// SPDX-License-Identifier: BSD-3-Clause
// Selects a part of a profile: by class, by who caused the traffic, by communicator, by phase. An
// empty Selection selects everything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profile/profile.h"

namespace fathom::profile {

enum class Origin {
  kAll,
  kUser,    // sent by a send of the program
  kHidden,  // sent by the MPI library on the program's behalf
};

struct Selection {
  std::optional<std::string> class_name;
  Origin origin = Origin::kAll;
  std::optional<std::int64_t> communicator;
  std::optional<std::string> phase;  // "" means: outside every named phase

  bool admits(const Traffic& traffic) const {
    return (!class_name || *class_name == traffic.class_name) &&
           (origin == Origin::kAll || (origin == Origin::kHidden) == traffic.hidden) &&
           (!communicator || *communicator == traffic.communicator) &&
           (!phase || *phase == traffic.phase);
  }
  // Classes and origins are of messages; calls are selected by communicator and phase.
  bool admits(const CallTimes& calls) const {
    return (!communicator || *communicator == calls.communicator) &&
           (!phase || *phase == calls.phase);
  }
};

}  // namespace fathom::profile
