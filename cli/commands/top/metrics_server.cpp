// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/top/metrics_server.h"

#include <httplib.h>
#include <spdlog/fmt/fmt.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "cli/commands/top/metrics.h"

namespace fathom::cli {
namespace {

constexpr char kBearer[] = "Bearer ";

// Takes as long for a wrong token as for the right one.
bool equal(const std::string& one, const std::string& other) {
  if (one.size() != other.size()) return false;
  unsigned char difference = 0;
  for (std::size_t at = 0; at < one.size(); ++at)
    difference |= static_cast<unsigned char>(one[at] ^ other[at]);
  return difference == 0;
}

// The library's own options would let a second process of the user listen on the same port.
void set_options(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

}  // namespace

struct MetricsServer::State {
  httplib::Server server;
  std::thread listener;
  int port = 0;
  std::mutex mutex;  // of the text
  std::string text;
};

MetricsServer::MetricsServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

base::Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const MetricsAddress& address,
                                                                  const std::string& token) {
  auto state = std::make_unique<State>();
  httplib::Server& server = state->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(2); };
  server.set_socket_options(set_options);
  server.set_read_timeout(5);
  server.set_keep_alive_max_count(1);  // a client that stays would keep one of the two threads
  server.set_payload_max_length(1024);
  server.set_pre_routing_handler(
      [expected = kBearer + token](const httplib::Request& request, httplib::Response& response) {
        if (equal(request.get_header_value("Authorization"), expected))
          return httplib::Server::HandlerResponse::Unhandled;
        response.status = 401;
        response.set_header("WWW-Authenticate", "Bearer");
        response.set_content("the token of the run is missing or wrong\n", "text/plain");
        return httplib::Server::HandlerResponse::Handled;
      });
  server.Get("/metrics",
             [held = state.get()](const httplib::Request&, httplib::Response& response) {
               const std::lock_guard lock(held->mutex);
               response.set_content(held->text, kOpenMetricsType);
             });
  state->port = address.port == 0 ? server.bind_to_any_port(address.host)
                : server.bind_to_port(address.host, address.port) ? address.port
                                                                  : -1;
  if (state->port < 0)
    return base::Error{fmt::format("cannot listen on {}:{}: {}", address.host, address.port,
                                   std::strerror(errno))};
  state->listener = std::thread([held = state.get()] { held->server.listen_after_bind(); });
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(state)));
}

MetricsServer::~MetricsServer() {
  while (!state_->server.is_running()) std::this_thread::yield();  // else stop() does nothing
  state_->server.stop();
  state_->listener.join();
}

int MetricsServer::port() const { return state_->port; }

void MetricsServer::publish(std::string text) {
  const std::lock_guard lock(state_->mutex);
  state_->text = std::move(text);
}

}  // namespace fathom::cli
