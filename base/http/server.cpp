// SPDX-License-Identifier: BSD-3-Clause
#include "base/http/server.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "base/http/peer.h"

namespace fathom::base {
namespace {

using Clock = std::chrono::steady_clock;

Clock::duration seconds_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Waits for `events` until `deadline`, or until the server stops.
bool ready(int socket, short events, Clock::time_point deadline,
           const std::atomic<bool>& stopping) {
  while (!stopping) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wanted{socket, events, 0};
    const int found = poll(&wanted, 1, static_cast<int>(std::min<std::int64_t>(left, 100)));
    if (found > 0) return true;
    if (found < 0 && errno != EINTR) return false;
  }
  return false;
}

// One connection. The library's own stream waits anew for each byte, so a client that drips would keep a
// thread for hours.
class BoundedStream : public httplib::Stream {
 public:
  // `open`: connections of the server. While others wait for a thread, an idle one is closed, and a request
  // has a fifth of its time.
  BoundedStream(int socket, const HttpLimits& limits, const std::atomic<bool>& stopping,
                const std::atomic<std::size_t>& open)
      : socket_(socket), limits_(limits), stopping_(stopping), open_(open) {}

  // False: nothing came.
  bool await_request() {
    left_ = limits_.request_bytes;
    const auto idle_since = Clock::now();
    bool came = first_ < last_;
    while (!came && Clock::now() - idle_since < seconds_of(limits_.idle_seconds) && !stopping_) {
      came = ready(socket_, POLLIN, Clock::now() + std::chrono::milliseconds(100), stopping_);
      if (!came && is_crowded()) break;
    }
    began_ = Clock::now();
    answer_deadline_.reset();
    return came;
  }

  bool is_readable() const override { return first_ < last_ || has_more(); }
  bool is_writable() const override { return true; }

  ssize_t read(char* bytes, std::size_t size) override {
    if (first_ == last_) {
      if (!has_more()) return -1;
      const ssize_t got = recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (got <= 0) return got;
      first_ = 0;
      last_ = static_cast<std::size_t>(got);
    }
    const std::size_t taken = std::min({size, last_ - first_, left_});
    if (taken == 0) return -1;
    std::memcpy(bytes, buffer_.data() + first_, taken);
    first_ += taken;
    left_ -= taken;
    return static_cast<ssize_t>(taken);
  }

  // Computing the answer does not count.
  ssize_t write(const char* bytes, std::size_t size) override {
    if (!answer_deadline_)
      answer_deadline_ = Clock::now() + seconds_of(4 * limits_.request_seconds);
    if (!ready(socket_, POLLOUT, *answer_deadline_, stopping_)) return -1;
    return send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

 private:
  bool is_crowded() const { return open_ > limits_.threads; }

  bool has_more() const {
    for (;;) {
      const auto deadline =
          began_ + seconds_of(is_crowded() ? limits_.request_seconds / 5 : limits_.request_seconds);
      const auto soon = Clock::now() + std::chrono::milliseconds(200);
      if (ready(socket_, POLLIN, std::min(soon, deadline), stopping_)) return true;
      if (stopping_ || Clock::now() >= deadline) return false;
    }
  }

  const int socket_;
  const HttpLimits& limits_;
  const std::atomic<bool>& stopping_;
  const std::atomic<std::size_t>& open_;
  std::array<char, 4096> buffer_;
  std::size_t first_ = 0, last_ = 0, left_ = 0;
  Clock::time_point began_;
  std::optional<Clock::time_point> answer_deadline_;
};

// Connections are accepted here and not by the library, which would let any number of them wait.
class BoundedServer : public httplib::Server {
 public:
  BoundedServer(const HttpLimits& limits, bool local, int listener)
      : limits_(limits), local_(local), listener_(listener), pool_(limits.threads) {}
  ~BoundedServer() override { close(listener_); }

  void accept_all() {
    while (!stopping_) {
      pollfd wanted{listener_, POLLIN, 0};
      if (poll(&wanted, 1, 100) <= 0) continue;
      const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) {
        if (errno == EMFILE || errno == ENFILE)  // until another connection is closed
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
        continue;
      }
      if (open_ >= limits_.connections || !is_ours(socket)) {
        close(socket);
        continue;
      }
      ++open_;
      pool_.enqueue([this, socket] {
        serve(socket);
        shutdown(socket, SHUT_RDWR);
        close(socket);
        --open_;
      });
    }
    pool_.shutdown();
  }

  void stop_all() { stopping_ = true; }

 private:
  bool is_ours(int socket) const {
    if (!local_) return true;
    const auto user = peer_user(socket);
    return !user || *user == geteuid() || *user == 0;
  }

  void serve(int socket) {
    // Else the kernel keeps the end of a short answer until the client has confirmed the beginning.
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    BoundedStream stream(socket, limits_, stopping_, open_);
    for (std::size_t left = limits_.requests_per_connection; left > 0; --left) {
      if (!stream.await_request()) return;
      bool closed = false;
      if (!process_request(stream, left == 1, closed, nullptr) || closed) return;
    }
  }

  const HttpLimits limits_;
  const bool local_;
  const int listener_;
  httplib::ThreadPool pool_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::size_t> open_ = 0;
};

HttpRequest request_of(const httplib::Request& asked) {
  HttpRequest request;
  request.method = asked.method;
  request.path = asked.path;
  request.body = asked.body;
  for (const auto& parameter : asked.params) request.parameters.insert(parameter);
  for (const auto& [name, value] : asked.headers) {
    std::string small = name;
    std::transform(small.begin(), small.end(), small.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    request.headers.emplace(std::move(small), value);
  }
  return request;
}

void fill(httplib::Response& response, HttpAnswer answer) {
  response.status = answer.status;
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  response.set_content(answer.body, answer.type);
}

Error cannot_listen(const std::string& where) {
  return {fmt::format("cannot listen on {}: {}", where, std::strerror(errno))};
}

// A listening socket, or -1 with errno.
int listening(int family, const sockaddr* address, socklen_t size) {
  const int socket = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  // Not SO_REUSEPORT, with which a second process of the user could listen on the same port.
  const int yes = 1;
  if (family != AF_UNIX) setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(socket, address, size) == 0 && listen(socket, 64) == 0) return socket;
  const int failure = errno;
  close(socket);
  errno = failure;
  return -1;
}

Result<int> listen_on(const HttpAddress& address) {
  if (!address.socket_path.empty()) {
    sockaddr_un local{};
    local.sun_family = AF_UNIX;
    if (address.socket_path.size() >= sizeof local.sun_path)
      return Error{"the path of the socket is longer than 107 bytes: " + address.socket_path};
    std::memcpy(local.sun_path, address.socket_path.data(), address.socket_path.size());
    const mode_t before = umask(0177);
    const int socket = listening(AF_UNIX, reinterpret_cast<const sockaddr*>(&local), sizeof local);
    umask(before);
    if (socket < 0) return cannot_listen(address.socket_path);
    return socket;
  }
  const std::string where = fmt::format("{}:{}", address.host, address.port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (failed != 0)
    return Error{fmt::format("cannot listen on {}: {}", where, gai_strerror(failed))};
  int socket = -1;
  for (const addrinfo* each = found; each != nullptr && socket < 0; each = each->ai_next)
    socket = listening(each->ai_family, each->ai_addr, each->ai_addrlen);
  freeaddrinfo(found);
  if (socket < 0) return cannot_listen(where);
  return socket;
}

int port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<sockaddr_in6&>(address).sin6_port);
  return 0;
}

}  // namespace

struct HttpServer::State {
  State(const HttpLimits& limits, bool local, int socket) : server(limits, local, socket) {}

  BoundedServer server;
  std::thread listener;
  std::string socket_path;
  int port = 0;
};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::start(
    const HttpAddress& address, HttpHandler handler, const HttpLimits& limits,
    const std::vector<std::pair<std::string, std::string>>& always) {
  const auto socket = listen_on(address);
  if (!socket) return socket.error();
  auto state = std::make_unique<State>(limits, is_local(address), *socket);
  state->socket_path = address.socket_path;
  state->port = port_of(*socket);
  BoundedServer& server = state->server;
  server.set_payload_max_length(limits.request_bytes);
  server.set_default_headers({always.begin(), always.end()});
  const auto answer = [handler, port = state->port](const httplib::Request& asked,
                                                    httplib::Response& response) {
    HttpRequest request = request_of(asked);
    request.port = port;
    fill(response, handler(request));
  };
  // Before the library reads a body, and whatever the path, so that its regular expressions meet none.
  server.set_pre_routing_handler(
      [answer](const httplib::Request& asked, httplib::Response& response) {
        if (asked.method == "PUT" && asked.path.size() < 256)
          return httplib::Server::HandlerResponse::Unhandled;
        answer(asked, response);
        return httplib::Server::HandlerResponse::Handled;
      });
  server.Put(".*", answer);
  state->listener = std::thread([held = state.get()] { held->server.accept_all(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::~HttpServer() {
  state_->server.stop_all();
  state_->listener.join();
  close_name();
}

void HttpServer::close_name() {
  if (!state_->socket_path.empty()) unlink(state_->socket_path.c_str());
}

int HttpServer::port() const { return state_->port; }

}  // namespace fathom::base
