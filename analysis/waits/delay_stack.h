// SPDX-License-Identifier: BSD-3-Clause
// The delays that made a process as late as it is, and what they have to do with a wait for it.
//
// A process is late because it was delayed itself, or because it waited for one that was late. So
// its lateness is a stack of delays, the latest on top. A process that waits for another takes over
// that one's stack, and on top of it what the other was late by itself.
//
// If two stacks are compared, the delays up to the last one in both concern both processes equally. What is
// above it, a on the culprit's and b on the victim's stack, and what the culprit was late by itself
// explain the wait:
//
//   wait = own + a - b,   so   own = wait + b - a
//
// and own and a are what the wait is blamed for. Where b hides a part of them, the latest come
// first: own, then the delays from the top. If no delay hides another, b is 0, and removing one
// would save what it is blamed for (test/unit/engine/origin_test.cpp).
//
// These are equations (2) to (6) of docs/analysis.md, "The rule in equations": a stack is (2), causes_of() is
// (3) to (5), where a and b are A and B, own_ns is x0 and late_ns is o; taken_over() is (6).
//
// A delay is known by its stretch: what a process did from the end of one of its waits to the
// beginning of the next. A stack keeps at most kMost of them: the newest, and the largest of the
// rest. What falls out counts as the culprit's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "analysis/engine/step.h"

namespace fathom::analysis {

struct Delay {
  bool is_same(const Delay& other) const {
    return process == other.process && since == other.since;
  }

  std::uint64_t ns = 0;
  std::uint32_t process = kNobody;  // where it began
  std::uint32_t since = kNobody;    // its stretch: the call there that waited last before
  std::uint32_t call = kNobody;     // there: the call to which it came late
  std::uint32_t brought = 0;        // the call of the stack's own process that waited for it
};

// What one process of a job was delayed by.
struct DelayStack {
  static constexpr std::size_t kNewest = 4, kLargest = 4, kMost = kNewest + kLargest;

  std::array<Delay, kMost> delays;  // the oldest first
  std::uint32_t size = 0;

  const Delay* find(const Delay& delay) const;  // of the same stretch; nullptr: none
  void push(const Delay& delay);
};

// The last call of the culprit of which the victim had heard directly before the wait, and the
// victim's call in which it did. What had delayed the culprit by then is over.
struct LastHeard {
  std::uint32_t culprits_call = 0, own_call = 0;
};

// Why a process waited for another.
struct WaitCauses {
  std::array<Delay, DelayStack::kMost> delays;  // each with its part of the wait
  std::size_t size = 0;
  std::uint64_t own_ns = 0;   // the rest of the wait: what the culprit was late by itself
  std::uint64_t late_ns = 0;  // all that the culprit was late by itself, the hidden part included
};

// `own`: the culprit's present stretch; the victim may have waited for it before.
WaitCauses causes_of(std::uint64_t wait_ns, const DelayStack& culprit, const Delay& own,
                     std::uint32_t victim_process, const DelayStack& victim,
                     const LastHeard& heard);

// The victim's stack after its `call` waited: the culprit's, and on top of it `own`, unless it is 0.
DelayStack taken_over(const DelayStack& culprit, Delay own, const DelayStack& victim,
                      std::uint32_t call);

}  // namespace fathom::analysis
