// SPDX-License-Identifier: BSD-3-Clause
#include "live/host_link.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "live/collector_address.h"
#include "live/wire.h"

namespace fathom::live {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kConnectWithin = 1s, kAnswerWithin = 5s, kTryAgainAfter = 5s;
constexpr auto kHeardWithin = 3s;
constexpr auto kByeWithin = 1s;
// Hosts that were refused together should not come back together.
constexpr int kMostLater_ms = 2000;
constexpr std::size_t kMostInBytes = 64 << 10;

int connecting_socket(const std::string& address, std::uint16_t port) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  const bool is_v4 = inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1;
  if (!is_v4 && inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) != 1) return -1;
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(port);
  const int made =
      socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  const int on = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto* where =
      is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  if (connect(made, where, is_v4 ? sizeof v4 : sizeof v6) == 0 || errno == EINPROGRESS) return made;
  close(made);
  return -1;
}

Clock::time_point time_to_try_again() {
  static std::minstd_rand random{std::random_device{}()};
  return Clock::now() + kTryAgainAfter +
         std::chrono::milliseconds(std::uniform_int_distribution(0, kMostLater_ms)(random));
}

enum class Stage { kIdle, kConnecting, kConnected, kGreeted, kOpen };

}  // namespace

struct HostLink::State {
  explicit State(std::string directory) : run(std::move(directory)) { begin(); }
  ~State() {
    if (descriptor >= 0) close(descriptor);
  }

  void begin();
  void connect_next();
  void give_up();
  void flush();
  void receive();
  void take();

  std::string run;
  CollectorAddress collector;
  std::size_t next_address = 0;
  int descriptor = -1;
  Stage stage = Stage::kIdle;
  Clock::time_point until;  // of the stage; in kIdle: when to try again
  std::string own_nonce, their_nonce, in, out;
  SampleEncoder encoder;
  Clock::time_point opened{}, heard{};
  bool wants_details = false;
};

void HostLink::State::begin() {
  auto address = read_collector_address(run);
  next_address = 0;
  if (address) {
    collector = std::move(*address);
    connect_next();
  } else {
    stage = Stage::kIdle;
    until = time_to_try_again();
  }
}

void HostLink::State::connect_next() {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
  in.clear();
  out.clear();
  while (next_address < collector.addresses.size() && descriptor < 0)
    descriptor = connecting_socket(collector.addresses[next_address++], collector.port);
  stage = descriptor >= 0 ? Stage::kConnecting : Stage::kIdle;
  until = descriptor >= 0 ? Clock::now() + kConnectWithin : time_to_try_again();
}

// The next address, while none has answered as the collector does.
void HostLink::State::give_up() {
  if (stage != Stage::kOpen) return connect_next();
  close(std::exchange(descriptor, -1));
  stage = Stage::kIdle;
  until = time_to_try_again();
}

void HostLink::State::flush() {
  while (!out.empty()) {
    const ssize_t sent = ::send(descriptor, out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent <= 0) return give_up();
    out.erase(0, static_cast<std::size_t>(sent));
  }
}

void HostLink::State::receive() {
  char bytes[4096];
  for (;;) {
    const ssize_t got = recv(descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0 || in.size() > kMostInBytes) return give_up();
    in.append(bytes, static_cast<std::size_t>(got));
  }
  take();
}

void HostLink::State::take() {
  if (stage == Stage::kConnected && in.size() >= kGreetingBytes) {
    const auto nonce = nonce_in(std::string_view(in).substr(0, kGreetingBytes));
    own_nonce = random_bytes();
    if (!nonce || own_nonce.empty()) return give_up();
    their_nonce = *nonce;
    in.erase(0, kGreetingBytes);
    out = own_nonce;
    out += base::view_of(proof_of(collector.token, Side::kHost, their_nonce, own_nonce));
    stage = Stage::kGreeted;
    until = Clock::now() + kAnswerWithin;
    flush();
  }
  if (stage == Stage::kGreeted && in.size() >= kProofBytes) {
    base::Digest proof{};
    std::memcpy(proof.data(), in.data(), proof.size());
    in.erase(0, kProofBytes);
    if (!base::are_equal(proof,
                         proof_of(collector.token, Side::kCollector, their_nonce, own_nonce)))
      return give_up();
    stage = Stage::kOpen;
    encoder.restart();
    wants_details = false;
    opened = Clock::now();
    heard = {};  // until it has a sample, readers need the file
  }
  while (stage == Stage::kOpen) {
    const auto frame = frame_in(in);
    if (!frame) return give_up();
    if (!*frame) return;
    if ((*frame)->kind == FrameKind::kHeard) heard = Clock::now();
    if ((*frame)->kind == FrameKind::kDetails && (*frame)->payload.size() == 1)
      wants_details = (*frame)->payload[0] != 0;
    in.erase(0, (*frame)->size);
  }
}

HostLink::HostLink(const std::string& run) : state_(new State(run)) {}
HostLink::~HostLink() = default;

pollfd HostLink::polled() const {
  const bool writes = state_->stage == Stage::kConnecting || !state_->out.empty();
  return {state_->descriptor, static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0};
}

Clock::time_point HostLink::due() const {
  return state_->stage == Stage::kOpen ? Clock::now() + 1h : state_->until;
}

void HostLink::serve(short events) {
  State& state = *state_;
  if (state.descriptor >= 0 && (events & POLLOUT) != 0) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(state.descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      state.give_up();
    } else {
      if (state.stage == Stage::kConnecting) state.stage = Stage::kConnected;
      state.flush();
    }
  } else if (state.descriptor >= 0 && events != 0) {
    state.receive();
  }
  if (state.stage == Stage::kOpen || Clock::now() < state.until) return;
  if (state.stage == Stage::kIdle) {
    state.begin();
  } else {
    state.give_up();
  }
}

bool HostLink::is_heard() const {
  return state_->stage == Stage::kOpen && Clock::now() < state_->heard + kHeardWithin;
}

bool HostLink::takes_summaries(std::uint32_t ranks) const {
  return state_->stage == Stage::kOpen &&
         Clock::now() < std::max(state_->opened, state_->heard) + kHeardWithin &&
         !state_->wants_details && ranks > state_->collector.summaries_above;
}

void HostLink::send(std::uint64_t sequence, std::string sample) {
  State& state = *state_;
  if (state.stage != Stage::kOpen || !state.out.empty()) return;
  const std::string payload = state.encoder.encode(sequence, std::move(sample));
  if (payload.empty()) return;
  state.out = frame_of(FrameKind::kSample, payload);
  state.flush();
}

void HostLink::say_bye() {
  State& state = *state_;
  if (state.stage != Stage::kOpen) return;
  state.out += frame_of(FrameKind::kBye, {});
  const auto until = Clock::now() + kByeWithin;
  for (state.flush(); state.stage == Stage::kOpen && !state.out.empty() && Clock::now() < until;) {
    pollfd ready{state.descriptor, POLLOUT, 0};
    poll(&ready, 1, 50);
    state.flush();
  }
  if (state.stage != Stage::kOpen) return;
  // The collector closes when it has read all. If this side closed with an answer unread, that would
  // throw away what is still on its way there.
  shutdown(state.descriptor, SHUT_WR);
  while (state.stage == Stage::kOpen && Clock::now() < until) {
    pollfd ready{state.descriptor, POLLIN, 0};
    if (poll(&ready, 1, 50) > 0) state.receive();
  }
}

}  // namespace fathom::live
