// SPDX-License-Identifier: BSD-3-Clause
// Work that goes on in rounds at all processes of the analysis: each does what it can, then what
// concerns others goes to them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/engine/parcels.h"
#include "analysis/engine/transport.h"

namespace fathom::analysis {

// Of a process that can go no further: the moment at which it waits. The latest is let go first.
struct Stall {
  std::uint64_t time_ns = 0;
  std::uint32_t process = 0;
  bool waits = false;  // false: nothing is waiting here
  bool more = false;   // there is work left that needs nobody
  bool idle = false;   // nothing was sent in this round, and there is nothing left to do
};

// One such piece of work.
class Pass {
 public:
  virtual ~Pass() = default;
  // Does what it can; what concerns others goes into parcels().
  virtual Stall work() = 0;  // `idle` is set by others
  virtual Parcels& parcels() = 0;
  // Takes what another process sent, or this one itself.
  virtual void open(Received& received) = 0;
  // When all are idle and some wait, at every process: `process` is let go without what it waits
  // for. So a cycle, which only damaged traces can have, does not block for ever.
  virtual void release(std::uint32_t /*process*/) {}
};

// Until nobody has anything left to do. Passes that do not depend on each other share the rounds,
// and so the exchanges. Collective; the passes are in the same order everywhere.
void run_passes(Transport& transport, std::vector<Pass*> passes);

// A pass, and what comes of it when it is through. result() is collective, and called once.
template <typename Result>
struct PassTo {
  std::shared_ptr<Pass> pass;
  std::function<Result()> result;
};

}  // namespace fathom::analysis
