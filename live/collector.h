// SPDX-License-Identifier: BSD-3-Clause
// Takes samples from the other hosts of a job, over TCP (live/wire.h), and writes the last of each to
// RUN/live/+hosts for readers.
//
// Its port and the run's token are in RUN/.collector, which only the user can read. Connections that
// have not proved that they know the token hold a hundred bytes each; there are at most 64 of them, of
// which the oldest gives way, and none stays longer than five seconds. Hosts that have proved it may send
// frames as large as live/wire.h allows, each within twenty seconds; what is malformed ends its
// connection. Memory: the last sample of each host, and a frame that has begun.
//
// Threading: one thread. Never waits.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "live/collector_address.h"

namespace fathom::live {

class Collector {
 public:
  // Null if there is no port, no token or no space for RUN/.collector. `port`: 0 for any free one.
  // Hosts of jobs with more ranks than `summaries_above` leave out the details while no reader wants them.
  static std::unique_ptr<Collector> open(const std::string& run, int port,
                                         std::uint32_t summaries_above = kSummariesAbove);
  ~Collector();
  Collector(const Collector&) = delete;

  // Adds what it waits for, and when it has something to do at the latest.
  std::chrono::steady_clock::time_point prepare(std::vector<pollfd>& polled);
  // `polled` as prepare() left it, from `first` on, with the events that came.
  void serve(const std::vector<pollfd>& polled, std::size_t first);

  // Whether no host is connected that has not said that it has left all it knows.
  bool all_have_ended() const;

  // The last samples, as in RUN/live/HOST.
  std::vector<std::string_view> samples() const;
  std::size_t received_bytes() const;
  std::size_t samples_taken() const;

 private:
  struct State;
  explicit Collector(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::live
