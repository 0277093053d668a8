// SPDX-License-Identifier: BSD-3-Clause
// A host's connection to the collector of its job (live/wire.h).
//
// Looks for RUN/.collector, tries each of its addresses, and begins again some seconds after a failure.
// It says nothing before the collector has proved that it knows the token. Threading: one thread. Never
// waits, except in say_bye().
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace fathom::live {

class HostLink {
 public:
  explicit HostLink(const std::string& run);
  ~HostLink();
  HostLink(const HostLink&) = delete;

  // What it waits for (a negative descriptor: nothing), and when it has something to do at the latest.
  pollfd polled() const;
  std::chrono::steady_clock::time_point due() const;
  void serve(short events);

  // Whether the collector has answered within the last seconds: then readers see what is sent.
  bool is_heard() const;
  // Whether a sample of a job of this size may leave out the details.
  bool takes_summaries(std::uint32_t ranks) const;
  // `sample`: as in RUN/live/HOST. Left out, and so lost, while the one before it is still on its way.
  void send(std::uint64_t sequence, std::string sample);
  // Says that the last one was sent, and waits up to a second until all is on its way.
  void say_bye();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::live
