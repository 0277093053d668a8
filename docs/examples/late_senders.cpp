// SPDX-License-Identifier: BSD-3-Clause
// Who waited for whom in receives, and how long:  late_senders RUN
#include <cstdio>
#include <map>
#include <utility>

#include "analysis/engine/engine.h"

using namespace fathom::analysis;

int main(int argc, char** argv) {
  auto opened = argc == 2 ? Engine::open(argv[1]) : fathom::base::Error{"usage: late_senders RUN"};
  if (!opened) return std::fprintf(stderr, "%s\n", opened.error().message.c_str()), 1;
  Engine& engine = **opened;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>
      waited_ns;  // receiver and sender
  engine.on(Direction::kForward, Moment::kReceive, "late senders",
            [&](const Visit& at, const Step& receive) {
              if (!receive.has(kJoined) || receive.call == kNobody) return;
              const std::uint64_t entered_ns = engine.step(at.process, receive.call)->time_ns;
              if (receive.end_ns > entered_ns)
                waited_ns[{at.process, receive.partner}] += receive.end_ns - entered_ns;
            });
  if (auto called = engine.run(Direction::kForward); !called) {
    return std::fprintf(stderr, "%s\n", called.error().message.c_str()), 1;
  }
  const auto& processes = engine.definitions().processes;
  for (const auto& [pair, ns] : waited_ns) {
    std::printf("rank %ld waited %.6f s for rank %ld\n", processes[pair.first].rank,
                static_cast<double>(ns) * 1e-9, processes[pair.second].rank);
  }
}
