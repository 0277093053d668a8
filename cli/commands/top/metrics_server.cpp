// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/top/metrics_server.h"

#include <mutex>
#include <utility>

#include "base/http/server.h"
#include "cli/commands/top/metrics.h"

namespace fathom::cli {

struct MetricsServer::State {
  std::string expected;
  std::mutex mutex;  // of the text
  std::string text;
  std::unique_ptr<base::HttpServer> server;  // last, because it calls answer() until it is gone

  base::HttpAnswer answer(const base::HttpRequest& request) {
    if (!base::same_secret(request.header("authorization"), expected))
      return {401,
              "text/plain",
              "the token of the run is missing or wrong\n",
              {{"WWW-Authenticate", "Bearer"}}};
    if (request.path != "/metrics" || request.method != "GET")
      return {404, "text/plain", "there is no such page; metrics are at /metrics\n"};
    const std::lock_guard lock(mutex);
    return {200, kOpenMetricsType, text};
  }
};

MetricsServer::MetricsServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
MetricsServer::~MetricsServer() = default;

base::Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const base::HttpAddress& address,
                                                                  const std::string& token) {
  auto state = std::make_unique<State>();
  state->expected = "Bearer " + token;
  auto server = base::HttpServer::start(
      address,
      [held = state.get()](const base::HttpRequest& request) { return held->answer(request); }, {});
  if (!server) return server.error();
  state->server = std::move(*server);
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(state)));
}

int MetricsServer::port() const { return state_->server->port(); }

void MetricsServer::publish(std::string text) {
  const std::lock_guard lock(state_->mutex);
  state_->text = std::move(text);
}

}  // namespace fathom::cli
