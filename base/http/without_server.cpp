// SPDX-License-Identifier: BSD-3-Clause
// In place of server.cpp where cpp-httplib is not there.
#include <utility>

#include "base/http/server.h"

namespace fathom::base {

struct HttpServer::State {};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(
    const HttpAddress&, HttpHandler, const HttpLimits&,
    const std::vector<std::pair<std::string, std::string>>&) {
  return Error{"this Fathom was built without cpp-httplib, which its server needs"};
}

void HttpServer::close_name() {}

int HttpServer::port() const { return 0; }

}  // namespace fathom::base
