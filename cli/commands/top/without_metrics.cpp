// SPDX-License-Identifier: BSD-3-Clause
// In place of metrics_server.cpp where cpp-httplib is not there (-Dmetrics=disabled).
#include <utility>

#include "cli/commands/top/metrics_server.h"

namespace fathom::cli {

struct MetricsServer::State {};

MetricsServer::MetricsServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
MetricsServer::~MetricsServer() = default;

base::Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const MetricsAddress&,
                                                                  const std::string&) {
  return base::Error{"this fathom was built without cpp-httplib, which --metrics needs"};
}

int MetricsServer::port() const { return 0; }
void MetricsServer::publish(std::string) {}

}  // namespace fathom::cli
