// SPDX-License-Identifier: BSD-3-Clause
#include "live/collector.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "live/collector_address.h"
#include "live/host_sample.h"
#include "live/wire.h"

namespace fathom::live {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostStrangers = 64;
constexpr auto kDeafFor = 1s;
// As long as the oldest stranger has come just now, others wait, for what it says may be there already.
constexpr auto kHasJustCome = 200ms, kOthersWaitFor = 20ms;
constexpr auto kProveWithin = 5s, kFrameWithin = 20s;
// Samples of several hosts come at moments of their own; the file holds what came until then.
constexpr auto kWriteAfter = 100ms, kBetweenWrites = 400ms;
// How long details are sent after a reader has asked, which it does about once a second.
constexpr auto kDetailsFor = 10s;
constexpr auto kBetweenLooks = 500ms;
constexpr std::size_t kReadBytes = 256 << 10;
// What a host has not taken of our short answers: one that never reads is cut off.
constexpr std::size_t kMostAnswerBytes = 4096;

struct Connection {
  int descriptor = -1;
  bool is_proved = false;
  Clock::time_point until;  // of the proof, or of the frame that has begun
  std::string nonce;
  std::string in, out;
  std::string host;  // of its samples
  std::string last;  // its last sample
  std::uint64_t sequence = 0;
  bool is_closed = false;
  bool is_asked_for_details = false;
};

int listening_socket(int port, std::uint16_t& bound) {
  const int made = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int off = 0;
  if (made >= 0) setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(static_cast<std::uint16_t>(port));
  any.sin6_addr = in6addr_any;
  socklen_t size = sizeof any;
  if (made >= 0 && bind(made, reinterpret_cast<const sockaddr*>(&any), size) == 0 &&
      listen(made, SOMAXCONN) == 0 &&
      getsockname(made, reinterpret_cast<sockaddr*>(&any), &size) == 0) {
    bound = ntohs(any.sin6_port);
    return made;
  }
  if (made >= 0) close(made);
  const int older = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);  // no IPv6 here
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  any4.sin_port = htons(static_cast<std::uint16_t>(port));
  size = sizeof any4;
  if (older >= 0 && bind(older, reinterpret_cast<const sockaddr*>(&any4), size) == 0 &&
      listen(older, SOMAXCONN) == 0 &&
      getsockname(older, reinterpret_cast<sockaddr*>(&any4), &size) == 0) {
    bound = ntohs(any4.sin_port);
    return older;
  }
  if (older >= 0) close(older);
  return -1;
}

// Of interfaces that other hosts may reach; link-local ones would need the interface's name there.
std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return addresses;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0 ||
        (each->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    char text[INET6_ADDRSTRLEN] = "";
    if (each->ifa_addr->sa_family == AF_INET) {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
      inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
      addresses.insert(addresses.begin(), text);
    } else if (each->ifa_addr->sa_family == AF_INET6) {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(each->ifa_addr);
      if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) continue;
      inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
      addresses.emplace_back(text);
    }
  }
  freeifaddrs(all);
  return addresses;
}

}  // namespace

struct Collector::State {
  explicit State(const std::string& directory) : run(directory), file(directory) {}
  ~State() {
    for (const Connection& connection : connections)
      if (connection.descriptor >= 0) close(connection.descriptor);
    if (listening >= 0) close(listening);
    remove_collector_address(run);
    file.remove();
  }

  void take_in();
  void read(Connection& connection);
  void flush(Connection& connection);
  void take_proof(Connection& connection);
  void take_frames(Connection& connection);
  void take_sample(Connection& connection, std::string_view payload);
  void write_file();
  void look_whether_details_are_wanted();
  void ask(Connection& connection);

  std::string run;
  CollectedSamplesFile file;
  std::string token;
  int listening = -1;
  std::list<Connection> connections;  // in the order in which they came
  std::vector<Connection*> polled;
  SampleDecoder decoder;
  std::map<std::string, std::string> left;  // last samples of hosts whose connection has ended
  std::optional<Clock::time_point> write_at;
  Clock::time_point written{};
  std::size_t received = 0, taken = 0;
  std::int64_t asked_ns = 0;  // by the file system's clock, which is compared with itself alone
  Clock::time_point details_until{}, next_look{}, deaf_until{};
};

void Collector::State::take_in() {
  const auto is_stranger = [](const Connection& each) {
    return !each.is_proved && !each.is_closed;
  };
  for (;;) {
    const bool are_too_many = std::count_if(connections.begin(), connections.end(), is_stranger) >=
                              static_cast<std::ptrdiff_t>(kMostStrangers);
    const auto oldest = std::find_if(connections.begin(), connections.end(), is_stranger);
    if (are_too_many && Clock::now() < oldest->until - kProveWithin + kHasJustCome) {
      deaf_until = Clock::now() + kOthersWaitFor;
      return;
    }
    const int made = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (made < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno != EAGAIN) deaf_until = Clock::now() + kDeafFor;  // no descriptor left, say
      return;
    }
    if (are_too_many) oldest->is_closed = true;
    Connection connection;
    connection.descriptor = made;
    connection.until = Clock::now() + kProveWithin;
    connection.nonce = random_bytes();
    connection.out = greeting_with(connection.nonce);
    const int on = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(made, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    connections.push_back(std::move(connection));
    Connection& last = connections.back();
    if (last.nonce.empty()) last.is_closed = true;
    flush(last);
  }
}

void Collector::State::flush(Connection& connection) {
  while (!connection.out.empty() && !connection.is_closed) {
    const ssize_t sent = send(connection.descriptor, connection.out.data(), connection.out.size(),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) break;
    if (sent <= 0) {
      connection.is_closed = true;
    } else {
      connection.out.erase(0, static_cast<std::size_t>(sent));
    }
  }
  if (connection.out.size() > kMostAnswerBytes) connection.is_closed = true;
}

// As much as is there, but not more at a time than others can wait for.
void Collector::State::read(Connection& connection) {
  const std::size_t before = connection.in.size();
  const std::size_t most = connection.is_proved ? kReadBytes : kNonceBytes + kProofBytes - before;
  connection.in.resize(before + most);
  ssize_t got = 0;
  do got = recv(connection.descriptor, connection.in.data() + before, most, MSG_DONTWAIT);
  while (got < 0 && errno == EINTR);
  connection.in.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got == 0 || (got < 0 && errno != EAGAIN)) connection.is_closed = true;
  if (got <= 0) return;
  received += static_cast<std::size_t>(got);
  if (connection.is_proved && before == 0) connection.until = Clock::now() + kFrameWithin;
  if (!connection.is_proved) take_proof(connection);
  if (connection.is_proved) take_frames(connection);
}

void Collector::State::take_proof(Connection& connection) {
  if (connection.in.size() < kNonceBytes + kProofBytes) return;
  const std::string_view theirs = std::string_view(connection.in).substr(0, kNonceBytes);
  base::Digest proof{};
  std::memcpy(proof.data(), connection.in.data() + kNonceBytes, proof.size());
  if (!base::are_equal(proof, proof_of(token, Side::kHost, connection.nonce, theirs))) {
    connection.is_closed = true;
    return;
  }
  const base::Digest own = proof_of(token, Side::kCollector, connection.nonce, theirs);
  connection.out += base::view_of(own);
  connection.is_proved = true;
  connection.in.clear();
  flush(connection);
}

void Collector::State::take_frames(Connection& connection) {
  std::size_t at = 0;
  while (!connection.is_closed) {
    const auto frame = frame_in(std::string_view(connection.in).substr(at));
    if (!frame) {
      connection.is_closed = true;
    } else if (!*frame) {
      break;
    } else {
      if ((*frame)->kind == FrameKind::kSample) take_sample(connection, (*frame)->payload);
      if ((*frame)->kind == FrameKind::kBye) connection.is_closed = true;
      at += (*frame)->size;
      connection.until = Clock::now() + kFrameWithin;
    }
  }
  connection.in.erase(0, at);
  if (connection.in.empty() && connection.in.capacity() > kReadBytes) connection.in.shrink_to_fit();
}

void Collector::State::take_sample(Connection& connection, std::string_view payload) {
  auto sample = decoder.decode(payload, connection.last);
  const auto described = sample ? described_host_sample(sample->bytes) : std::nullopt;
  // Its number only grows, and a connection speaks of one host.
  if (!described || described->sequence != sample->sequence ||
      (!connection.host.empty() && described->host != connection.host) ||
      sample->sequence <= connection.sequence) {
    connection.is_closed = true;
    return;
  }
  if (connection.host.empty()) {
    connection.host = described->host;
    left.erase(connection.host);
    // It has connected again: what it said before is old.
    for (Connection& other : connections)
      if (&other != &connection && other.host == connection.host) {
        other.is_closed = true;
        other.last.clear();
      }
  }
  ++taken;
  connection.sequence = sample->sequence;
  connection.last = std::move(sample->bytes);
  connection.out +=
      frame_of(FrameKind::kHeard,
               {reinterpret_cast<const char*>(&connection.sequence), sizeof connection.sequence});
  flush(connection);
  if (!write_at) write_at = std::max(Clock::now() + kWriteAfter, written + kBetweenWrites);
}

void Collector::State::look_whether_details_are_wanted() {
  const auto now = Clock::now();
  if (now < next_look) return;
  next_look = now + kBetweenLooks;
  const std::int64_t last = details_asked_ns(run);
  if (std::exchange(asked_ns, last) != last) details_until = now + kDetailsFor;
  for (Connection& connection : connections)
    if (!connection.last.empty()) ask(connection);
}

void Collector::State::ask(Connection& connection) {
  const bool wanted = Clock::now() < details_until;
  if (connection.is_closed || std::exchange(connection.is_asked_for_details, wanted) == wanted)
    return;
  const char answer = wanted ? 1 : 0;
  connection.out += frame_of(FrameKind::kDetails, {&answer, 1});
  flush(connection);
}

void Collector::State::write_file() {
  std::vector<std::string_view> samples;
  for (const auto& [host, sample] : left) samples.emplace_back(sample);
  for (const Connection& connection : connections)
    if (!connection.last.empty()) samples.emplace_back(connection.last);
  file.write(samples);
  written = Clock::now();
  write_at.reset();
}

Collector::Collector(std::unique_ptr<State> state) : state_(std::move(state)) {}
Collector::~Collector() = default;

std::unique_ptr<Collector> Collector::open(const std::string& run, int port,
                                           std::uint32_t summaries_above) {
  auto state = std::make_unique<State>(run);
  CollectorAddress address{random_bytes(), 0, own_addresses(), summaries_above};
  state->token = address.token;
  state->listening = listening_socket(port, address.port);
  if (address.token.empty() || state->listening < 0 || address.addresses.empty() ||
      !write_collector_address(run, address))
    return nullptr;
  return std::unique_ptr<Collector>(new Collector(std::move(state)));
}

Clock::time_point Collector::prepare(std::vector<pollfd>& polled) {
  State& state = *state_;
  const auto now = Clock::now();
  state.polled.clear();
  auto next = now + 1h;
  for (auto at = state.connections.begin(); at != state.connections.end();) {
    const bool is_late = now >= at->until && (!at->is_proved || !at->in.empty());
    if (at->is_closed || is_late) {
      close(at->descriptor);
      if (!at->last.empty()) state.left[at->host] = std::move(at->last);
      at = state.connections.erase(at);
      continue;
    }
    if (!at->is_proved || !at->in.empty()) next = std::min(next, at->until);
    ++at;
  }
  const bool is_deaf = now < state.deaf_until;
  if (is_deaf) next = std::min(next, state.deaf_until);
  polled.push_back({is_deaf ? -1 : state.listening, POLLIN, 0});
  for (Connection& connection : state.connections) {
    const auto events = static_cast<short>(connection.out.empty() ? POLLIN : POLLIN | POLLOUT);
    polled.push_back({connection.descriptor, events, 0});
    state.polled.push_back(&connection);
  }
  return state.write_at ? std::min(next, *state.write_at) : next;
}

void Collector::serve(const std::vector<pollfd>& polled, std::size_t first) {
  State& state = *state_;
  for (std::size_t i = 0; i < state.polled.size(); ++i) {
    Connection& connection = *state.polled[i];
    const short events = polled[first + 1 + i].revents;
    if (events == 0 || connection.is_closed) continue;
    if ((events & POLLOUT) != 0) state.flush(connection);
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !connection.is_closed)
      state.read(connection);
  }
  if (polled[first].revents != 0) state.take_in();
  if (state.write_at && Clock::now() >= *state.write_at) state.write_file();
  state.look_whether_details_are_wanted();
}

bool Collector::all_have_ended() const {
  return std::all_of(state_->connections.begin(), state_->connections.end(),
                     [](const Connection& each) { return each.is_closed || !each.is_proved; });
}

std::vector<std::string_view> Collector::samples() const {
  std::vector<std::string_view> samples;
  for (const Connection& connection : state_->connections)
    if (!connection.last.empty()) samples.emplace_back(connection.last);
  return samples;
}

std::size_t Collector::received_bytes() const { return state_->received; }
std::size_t Collector::samples_taken() const { return state_->taken; }

}  // namespace fathom::live
