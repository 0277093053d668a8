// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/live_settings.h"

#include <charconv>
#include <cstdlib>
#include <string>

#include "live/collector_address.h"

namespace fathom::cli {
namespace {

std::string text_of_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

template <typename T>
bool is_number(const std::string& text, T& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

}  // namespace

base::Result<LiveSettings> live_settings() {
  LiveSettings settings{0, live::kSummariesAbove};
  const std::string port = text_of_variable("FATHOM_LIVE_PORT");
  const std::string summaries = text_of_variable("FATHOM_LIVE_SUMMARIES");
  if (port == "none") {
    settings.port.reset();
  } else if (!port.empty() &&
             (!is_number(port, *settings.port) || *settings.port < 0 || *settings.port > 65535)) {
    return base::Error{"FATHOM_LIVE_PORT=" + port +
                       " is not a port; give a number up to 65535, or none"};
  }
  if (!summaries.empty() && !is_number(summaries, settings.summaries_above))
    return base::Error{"FATHOM_LIVE_SUMMARIES=" + summaries + " is not a number of ranks"};
  return settings;
}

}  // namespace fathom::cli
