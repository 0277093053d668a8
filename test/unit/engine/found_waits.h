// SPDX-License-Identifier: BSD-3-Clause
// The waits of a job written by hand, compared with those that are expected.
#pragma once

#include <algorithm>
#include <vector>

#include "analysis/engine/causal_walk.h"
#include "analysis/waits/wait_steps.h"
#include "test/unit/engine/joined_job.h"

namespace fathom::test {

using analysis::Direction, analysis::find_waits, analysis::JobWaits, analysis::Step,
    analysis::WaitKind, analysis::WaitScope;

inline JobWaits waits_of(MadeJob& made, const WaitScope& scope = {}) {
  return find_waits(*Joined(made), scope);
}

struct Expected {
  WaitKind kind;
  std::uint32_t victim, culprit;
  std::uint64_t ns;
};

inline void check(const JobWaits& waits, const std::vector<Expected>& expected) {
  REQUIRE(waits.rows.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(waits.rows[i].kind == expected[i].kind);
    CHECK(waits.rows[i].process == expected[i].victim);
    CHECK(waits.rows[i].culprit == expected[i].culprit);
    CHECK(waits.rows[i].ns == expected[i].ns);
  }
}

// Everything that waits also is an edge: no process is released for want of what it takes.
struct Counted {
  struct Payload {
    std::uint64_t time_ns = 0;
  };
  std::vector<std::uint64_t> latest;  // by process: of all that it depends on
  void step(std::uint32_t process, std::uint32_t, const Step& step) {
    latest[process] = std::max(latest[process], step.time_ns);
  }
  Payload give(std::uint32_t process, const Step&) const { return {latest[process]}; }
  void take(std::uint32_t process, const Step&, const Payload& payload) {
    latest[process] = std::max(latest[process], payload.time_ns);
  }
  static void merge(Payload& into, const Payload& other) {
    into.time_ns = std::max(into.time_ns, other.time_ns);
  }
};
inline void check_edges(MadeJob& made) {
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    const Joined job(made);
    Counted counted{std::vector<std::uint64_t>(job->mapping().size())};
    CHECK(walk_causally(*job, counted, direction) == 0);
  }
}

}  // namespace fathom::test
