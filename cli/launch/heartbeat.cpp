// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/heartbeat.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace fathom::cli {
namespace {

using std::chrono::seconds;

constexpr seconds kFirst{60}, kMost{3600};

// FATHOM_HEARTBEAT; nothing if it is not set or no number.
std::optional<seconds> chosen_interval() {
  const char* value = std::getenv("FATHOM_HEARTBEAT");
  if (value == nullptr) return std::nullopt;
  const std::string_view text(value);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return seconds(number);
}

}  // namespace

std::optional<seconds> first_heartbeat() {
  const seconds first = chosen_interval().value_or(kFirst);
  if (first == seconds(0) || isatty(STDERR_FILENO) == 0) return std::nullopt;
  return first;
}

std::chrono::seconds next_heartbeat(std::chrono::seconds now) {
  const auto chosen = chosen_interval();
  return now + (chosen ? *chosen : std::min(now, kMost));
}

void write_if_harmless(const std::string& line) {
  if (tcgetpgrp(STDERR_FILENO) != getpgrp()) return;
  pollfd terminal = {STDERR_FILENO, POLLOUT, 0};
  if (poll(&terminal, 1, 0) != 1 || (terminal.revents & POLLOUT) == 0) return;
  (void)!write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace fathom::cli
