// Work that goes on in rounds at all processes of the analysis: each does what it can, then what concerns others
// goes to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "analysis/replay/parcels.h"
#include "analysis/replay/transport.h"

namespace fathom::analysis {

// Of a process that can go no further: the moment at which it waits. The latest is let go first.
struct Stall {
  std::uint64_t time_ns = 0;
  std::uint32_t process = 0;
  bool waits = false;  // false: nothing is waiting here
  bool more = false;   // there is work left that needs nobody
  bool idle = false;   // nothing was sent in this round, and there is nothing left to do
};

// `work()` does what it can and returns the Stall (idle is set here); `open(bytes)` takes what another process
// sent. When all are idle and some wait, `release(process)` is called at every process with the one that is
// let go without what it waits for: so a cycle, which only damaged traces can have, does not block for ever.
template <typename Work, typename Open, typename Release>
void run_rounds(Transport& transport, Parcels& parcels, Work work, Open open, Release release) {
  for (;;) {
    Stall own = work();
    own.idle = parcels.empty() && !own.more;
    auto outgoing = parcels.take();
    for (Transport::Bytes& bytes : outgoing) {
      const char* begin = reinterpret_cast<const char*>(&own);
      bytes.insert(bytes.begin(), begin, begin + sizeof own);
    }
    bool idle = true;
    Stall latest;
    for (Transport::Bytes& bytes : transport.exchange(std::move(outgoing))) {
      Stall other;
      std::memcpy(&other, bytes.data(), sizeof other);
      idle = idle && other.idle;
      const bool later = other.time_ns != latest.time_ns ? other.time_ns > latest.time_ns : other.process < latest.process;
      if (other.waits && (!latest.waits || later)) latest = other;
      bytes.erase(bytes.begin(), bytes.begin() + sizeof other);
      open(bytes);
    }
    if (!idle) continue;
    if (!latest.waits) return;
    release(latest.process);
  }
}

}  // namespace fathom::analysis
