// SPDX-License-Identifier: BSD-3-Clause
// Measures how fast programs are replayed: the patterns usually used to time LogGOPSim.
//
//   replay_speed PATTERN RANKS [ITERATIONS]
//     ring          every rank sends to the next and receives from the previous, ITERATIONS times
//     dissemination log2(RANKS) rounds: send to rank + 2^i, receive from rank - 2^i
//     all-to-all    everyone sends to everyone at once, non-blocking
//   replay_speed goal FILE
//
// Prints one JSON object. "events" are operations and messages; "seconds" is the processor time of
// the replay, "build_seconds" that of building or reading the program.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/processor_time.h"
#include "simulator/loggops/goal_reader.h"
#include "simulator/loggops/replay.h"

namespace {

using namespace fathom::simulator;
using fathom::bench::processor_seconds;

constexpr double kBytes = 8;

Program ring(std::uint32_t ranks, std::uint32_t iterations) {
  Program program(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Script script(program, rank);
    for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
      script.send((rank + 1) % ranks, kBytes);
      script.receive((rank + ranks - 1) % ranks, kBytes);
    }
  }
  return program;
}

Program dissemination(std::uint32_t ranks) {
  Program program(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Script script(program, rank);
    for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
      script.send((rank + distance) % ranks, kBytes);
      script.receive((rank + ranks - distance) % ranks, kBytes);
    }
  }
  return program;
}

Program all_to_all(std::uint32_t ranks) {
  Program program(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Script script(program, rank);
    std::vector<OperationId> requests;
    for (std::uint32_t step = 1; step < ranks; ++step) {
      requests.push_back(script.ireceive((rank + ranks - step) % ranks, kBytes));
    }
    for (std::uint32_t step = 1; step < ranks; ++step) {
      requests.push_back(script.isend((rank + step) % ranks, kBytes));
    }
    script.wait_all(requests);
  }
  return program;
}

fathom::base::Result<Program> program_of(const std::string& pattern, const char* what,
                                         int iterations) {
  if (pattern == "goal") return read_goal_file(what);
  const int ranks = std::atoi(what);
  if (ranks < 2 || iterations < 1)
    return fathom::base::Error{"RANKS and ITERATIONS must be numbers"};
  if (pattern == "ring") {
    return ring(static_cast<std::uint32_t>(ranks), static_cast<std::uint32_t>(iterations));
  }
  if (pattern == "dissemination") return dissemination(static_cast<std::uint32_t>(ranks));
  if (pattern == "all-to-all") return all_to_all(static_cast<std::uint32_t>(ranks));
  return fathom::base::Error{"unknown pattern " + pattern};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: replay_speed ring|dissemination|all-to-all RANKS [ITERATIONS] | goal FILE\n",
               stderr);
    return 2;
  }
  const double start = processor_seconds();
  const auto program = program_of(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 1);
  if (!program) {
    std::fprintf(stderr, "replay_speed: %s\n", program.error().message.c_str());
    return 1;
  }
  const double built = processor_seconds();
  // LogGOPSim's defaults.
  const auto result =
      replay(*program, {.L = 2500, .o = 1500, .g = 1000, .G = 6, .O = 0, .S_bytes = 65535});
  const double seconds = processor_seconds() - built;
  if (!result) {
    std::fprintf(stderr, "replay_speed: %s\n", result.error().message.c_str());
    return 1;
  }
  std::printf(
      "{\"seconds\": %.6f, \"build_seconds\": %.6f, \"events\": %llu, \"messages\": %llu, "
      "\"end_ns\": %.17g}\n",
      seconds, built - start, static_cast<unsigned long long>(result->events),
      static_cast<unsigned long long>(result->messages), result->end_ns);
  return 0;
}
