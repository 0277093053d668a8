// SPDX-License-Identifier: BSD-3-Clause
// Work done in rounds by all processes of the analysis: each does what it can, then sends the
// others what concerns them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/engine/parcels.h"
#include "analysis/engine/transport.h"

namespace fathom::analysis {

// A blocked process, and since when; the latest is released first.
struct Stall {
  std::uint64_t time_ns = 0;
  std::uint32_t process = 0;
  bool waits = false;  // false: nothing waits here
  bool more = false;   // some work is left that depends on nobody
  bool idle = false;   // nothing was sent in this round, and no work is left
};

// One piece of work done in rounds.
class Pass {
 public:
  virtual ~Pass() = default;
  // Does what it can; data for others goes into parcels().
  virtual Stall work() = 0;  // the caller sets `idle`
  virtual Parcels& parcels() = 0;
  // Receives what a process sent, which may be this one.
  virtual void open(Received& received) = 0;
  // Called at every process when all are idle and some wait: `process` goes on without what it
  // waits for. So a cycle, which only damaged traces contain, does not block forever.
  virtual void release(std::uint32_t /*process*/) {}
};

// Runs until no work is left. Passes that do not depend on each other share the rounds and so the
// exchanges. Collective; the passes must be in the same order everywhere.
void run_passes(Transport& transport, std::vector<Pass*> passes);

// A pass and its result when it is done. result() is collective and must be called once.
template <typename Result>
struct PassTo {
  std::shared_ptr<Pass> pass;
  std::function<Result()> result;
};

}  // namespace fathom::analysis
