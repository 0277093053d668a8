// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/live_port.h"

#include <charconv>
#include <cstdlib>
#include <string>

namespace fathom::cli {

base::Result<std::optional<int>> live_port() {
  const char* variable = std::getenv("FATHOM_LIVE_PORT");
  const std::string text = variable == nullptr ? "" : variable;
  if (text.empty()) return std::optional<int>(0);
  if (text == "none") return std::optional<int>();
  int port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || port < 0 || port > 65535)
    return base::Error{"FATHOM_LIVE_PORT=" + text +
                       " is no port; give a number up to 65535, or none"};
  return std::optional<int>(port);
}

}  // namespace fathom::cli
