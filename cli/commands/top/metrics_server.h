// SPDX-License-Identifier: BSD-3-Clause
// Serves OpenMetrics text over HTTP to those who have the run's token.
//
// GET /metrics with the header `Authorization: Bearer TOKEN`; anything else is refused: without the token
// with 401, whatever is asked for. Requests that are not HTTP, or whose header is too long, are closed with
// 400. A client that sends nothing is dropped after some seconds.
#pragma once

#include <memory>
#include <string>

#include "base/http/access.h"
#include "base/result.h"

namespace fathom::cli {

class MetricsServer {
 public:
  // Listens from here on, in threads of its own.
  static base::Result<std::unique_ptr<MetricsServer>> start(const base::HttpAddress& address,
                                                            const std::string& token);
  ~MetricsServer();  // closes all connections

  int port() const;
  void publish(std::string text);  // what is served from now on

 private:
  struct State;
  explicit MetricsServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::cli
