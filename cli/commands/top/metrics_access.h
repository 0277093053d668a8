// SPDX-License-Identifier: BSD-3-Clause
// Where metrics are served, and to whom.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::cli {

struct MetricsAddress {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any free one
};

// ":9464", "9464", "0.0.0.0:9464", "[::1]:9464"; without a host it is the loopback interface.
base::Result<MetricsAddress> parse_metrics_address(const std::string& text);

// The token of a run, from a file that only its user can read; made if there is none. An Error if others may read
// it, or it cannot be written.
base::Result<std::string> metrics_token(const std::string& path);

}  // namespace fathom::cli
