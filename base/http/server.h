// SPDX-License-Identifier: BSD-3-Clause
// A small HTTP server for one user on one machine: it bounds what a client may ask for and how long it
// may take, whoever the client is.
//
//   time         a request must have come within `request_seconds` of its first byte, however slowly it
//                drips, and an answer must be taken as fast; an idle connection is closed after `idle_seconds`
//   size         line, header and body of a request together at most `request_bytes`
//   connections  at most `connections` at once; further ones are closed at once. While more are open than there
//                are threads, idle ones are closed, and a request has a fifth of its time
//   users        on a loopback address or a Unix socket, connections of other users' processes are closed
//                (root's are not); where the kernel does not say whose they are, the secret must do
//
// The handler decides everything else, and sees every request that is HTTP. What is not gets 400.
// cpp-httplib serves; its types stay in server.cpp.
//
// Threading: the handler is called from several threads at once, and must not throw.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/http/access.h"
#include "base/result.h"

namespace fathom::base {

struct HttpRequest {
  std::string method, path;                       // "GET", "/metrics", decoded
  std::map<std::string, std::string> parameters;  // decoded; of equal names, the first
  std::map<std::string, std::string> headers;  // names in small letters; of equal ones, the first
  std::string body;                            // of PUT
  int port = 0;                                // of the server; 0 of a Unix socket

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

struct HttpLimits {
  std::size_t threads = 2, connections = 32;
  std::size_t request_bytes = 16 << 10;
  double request_seconds = 5, idle_seconds = 5;
  std::size_t requests_per_connection = 1;  // then it is closed, so that others come to their turn
};

using HttpHandler = std::function<HttpAnswer(const HttpRequest&)>;

class HttpServer {
 public:
  // Listens from here on, in threads of its own. `always`: headers of every answer, also of those to
  // what is not HTTP.
  static Result<std::unique_ptr<HttpServer>> start(
      const HttpAddress& address, HttpHandler handler, const HttpLimits& limits,
      const std::vector<std::pair<std::string, std::string>>& always = {});
  ~HttpServer();  // closes all connections

  int port() const;   // 0 of a Unix socket
  void close_name();  // removes the name of a Unix socket, for a process that ends at once

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fathom::base
