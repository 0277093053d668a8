// SPDX-License-Identifier: BSD-3-Clause
// Compares a trace with the profile of the same run: two independent counts of the same messages.
//
// For each class, communicator and pair of ranks, the messages and bytes of kMessageSent, those of
// kMessageReceived and those of the profile's traffic must be equal. Messages that were never
// received are listed in the profile's coverage and are allowed for. One-sided operations counted
// as posted are not messages and are left out; so is IO traffic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "trace/reader.h"

namespace fathom::trace {

struct MessageCount {
  std::uint64_t bytes = 0, messages = 0;
  bool operator==(const MessageCount&) const = default;
};

struct CountDifference {
  std::string class_name;
  bool hidden = false;
  std::int64_t communicator = 0, source = 0, destination = 0;
  MessageCount sent, received, profile;
  std::string reason;  // why the trace may hold less: losses, a pause, damage; empty: not known
};

struct ProfileComparison {
  std::uint64_t cells = 0;  // combinations of class, communicator and pair compared
  bool sends_recorded = false, receives_recorded = false;
  MessageCount sent, received, profile;  // totals
  std::vector<CountDifference> differences;
  std::vector<std::string> notes;  // sentences

  bool equal() const {
    return differences.empty() && (sends_recorded || receives_recorded || profile.messages == 0);
  }
};

// Reads the whole trace. Memory grows with the number of pairs that communicated.
ProfileComparison compare_with_profile(const Trace& trace, const profile::Profile& profile);

}  // namespace fathom::trace
