// SPDX-License-Identifier: BSD-3-Clause
#include "live/collector.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "live/collector_address.h"
#include "live/host_link.h"
#include "live/wire.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/live/made_samples.h"

namespace fathom {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr auto kPatience = 30s;

class Served {
 public:
  Served() : collector_(live::Collector::open(path(), 0)) {
    if (collector_) address_ = *live::read_collector_address(path());
  }

  bool is_open() const { return collector_ != nullptr; }
  const std::string& path() const { return folder_.path(); }
  const live::CollectorAddress& address() const { return address_; }
  live::Collector& collector() { return *collector_; }

  // One turn of the loop that the thread of `fathom run` has.
  void turn(std::vector<pollfd> others = {}) {
    const std::size_t first = others.size();
    collector_->prepare(others);
    poll(others.data(), others.size(), 5);
    collector_->serve(others, first);
  }
  template <typename Holds>
  bool serve_until(Holds&& holds) {
    for (const auto end = Clock::now() + kPatience; Clock::now() < end; turn())
      if (holds()) return true;
    return false;
  }

 private:
  test::Scratch folder_;
  std::unique_ptr<live::Collector> collector_;
  live::CollectorAddress address_;
};

// Somebody who connects, and says whatever the test wants.
class Client {
 public:
  explicit Client(std::uint16_t port)
      : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(descriptor_, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0);
  }
  ~Client() { close(descriptor_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void say(std::string_view bytes) {
    (void)!send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // What has come so far.
  const std::string& heard() {
    char bytes[4096];
    for (;;) {
      const ssize_t got = recv(descriptor_, bytes, sizeof bytes, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno == ECONNRESET)) was_closed_ = true;
      if (got <= 0) return heard_;
      heard_.append(bytes, static_cast<std::size_t>(got));
    }
  }
  bool was_closed() {
    heard();
    return was_closed_;
  }
  // As a host that knows `token`.
  bool prove(Served& served, const std::string& token) {
    if (!served.serve_until([&] { return heard().size() >= live::kGreetingBytes; })) return false;
    const std::string nonce(live::kNonceBytes, 'n');
    const auto found = live::nonce_in(std::string_view(heard_).substr(0, live::kGreetingBytes));
    if (!found) return false;
    const std::string theirs(*found);
    const base::Digest proof = live::proof_of(token, live::Side::kHost, theirs, nonce);
    say(nonce + std::string(base::view_of(proof)));
    served.serve_until(
        [&] { return was_closed() || heard_.size() >= live::kGreetingBytes + live::kProofBytes; });
    return heard_.size() == live::kGreetingBytes + live::kProofBytes &&
           heard_.substr(live::kGreetingBytes) ==
               base::view_of(live::proof_of(token, live::Side::kCollector, theirs, nonce));
  }

 private:
  int descriptor_;
  std::string heard_;
  bool was_closed_ = false;
};

// `frame`: how a host's first sample looks on the wire.
std::string first_frame(std::uint32_t number) {
  live::SampleEncoder encoder;
  return live::frame_of(live::FrameKind::kSample,
                        encoder.encode(1, live::bytes_of(test::made_host(number, 2, 8, 3, 1))));
}

bool takes_a_host(Served& served, std::uint32_t number) {
  Client host(served.address().port);
  if (!host.prove(served, served.address().token)) return false;
  const std::size_t before = served.collector().samples().size();
  host.say(first_frame(number));
  return served.serve_until([&] { return served.collector().samples().size() > before; });
}

#define SERVED_OR_SKIPPED(served)                                                 \
  Served served;                                                                  \
  if (!served.is_open()) {                                                        \
    MESSAGE("skipped: this machine has no address but the loopback interface's"); \
    return;                                                                       \
  }

TEST_CASE("the token is read by its user alone, and another one's file is refused") {
  test::Scratch folder;
  const std::string run = folder.path();
  const live::CollectorAddress address{live::random_bytes(), 4711, {"10.0.0.1", "fd00::1"}};
  REQUIRE(live::write_collector_address(run, address));
  struct stat status {};
  REQUIRE(stat((run + "/.collector").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  const auto read = live::read_collector_address(run);
  REQUIRE(read);
  CHECK(read->token == address.token);
  CHECK(read->port == 4711);
  CHECK(read->addresses == address.addresses);
  REQUIRE(chmod((run + "/.collector").c_str(), 0644) == 0);
  CHECK(!live::read_collector_address(run));
  live::remove_collector_address(run);
  CHECK(!live::read_collector_address(run));
}

TEST_CASE("a host with the token is listened to, and readers see it") {
  SERVED_OR_SKIPPED(served)
  REQUIRE(takes_a_host(served, 3));
  std::vector<live::HostSample> read;
  REQUIRE(served.serve_until([&] {
    read = live::read_host_samples(served.path());
    return !read.empty();
  }));
  CHECK(read.at(0).host == "node3");
  CHECK(read.at(0).processes.size() == 2);
}

TEST_CASE("a link proves itself, sends, and says goodbye") {
  SERVED_OR_SKIPPED(served)
  live::HostLink link(served.path());
  std::uint64_t second = 0;
  const auto turn = [&] {
    const pollfd polled = link.polled();
    std::vector<pollfd> both = {polled};
    poll(both.data(), both.size(), 1);
    link.serve(both[0].revents);
    served.turn();
  };
  const auto is_open = [&link] { return link.due() > Clock::now() + std::chrono::minutes(30); };
  for (const auto end = Clock::now() + kPatience; !is_open() && Clock::now() < end;) turn();
  REQUIRE(is_open());
  CHECK(!link.is_heard());  // its file is still needed
  for (second = 1; second <= 3; ++second) {
    link.send(second, live::bytes_of(test::made_host(5, 2, 8, 3, second)));
    const std::string expected = live::bytes_of(test::made_host(5, 2, 8, 3, second));
    for (const auto end = Clock::now() + kPatience; Clock::now() < end; turn())
      if (!served.collector().samples().empty() && served.collector().samples()[0] == expected)
        break;
    REQUIRE(served.collector().samples().size() == 1);
    CHECK(served.collector().samples()[0] == expected);
    for (const auto end = Clock::now() + kPatience; !link.is_heard() && Clock::now() < end;) turn();
    CHECK(link.is_heard());
  }
  CHECK(!served.collector().all_have_ended());
  link.say_bye();
  CHECK(served.serve_until([&] { return served.collector().all_have_ended(); }));
}

TEST_CASE("without the token nothing is answered and nothing is taken") {
  SERVED_OR_SKIPPED(served)
  Client stranger(served.address().port);
  CHECK(!stranger.prove(served, live::random_bytes()));
  CHECK(served.serve_until([&] { return stranger.was_closed(); }));
  CHECK(stranger.heard().size() == live::kGreetingBytes);
  // One that sends a sample at once in place of a proof.
  Client hasty(served.address().port);
  hasty.say(first_frame(1));
  CHECK(served.serve_until([&] { return hasty.was_closed(); }));
  CHECK(served.collector().samples().empty());
}

TEST_CASE("a proof cannot be used again") {
  SERVED_OR_SKIPPED(served)
  Client first(served.address().port);
  REQUIRE(served.serve_until([&] { return first.heard().size() >= live::kGreetingBytes; }));
  const std::string nonce(live::kNonceBytes, 'n');
  const std::string said = nonce + std::string(base::view_of(live::proof_of(
                                       served.address().token, live::Side::kHost,
                                       *live::nonce_in(std::string_view(first.heard())), nonce)));
  first.say(said);
  REQUIRE(served.serve_until(
      [&] { return first.heard().size() == live::kGreetingBytes + live::kProofBytes; }));
  Client again(served.address().port);
  again.say(said);
  CHECK(served.serve_until([&] { return again.was_closed(); }));
  CHECK(again.heard().size() == live::kGreetingBytes);
}

TEST_CASE("a link says nothing to a collector that does not know the token") {
  test::Scratch folder;
  SERVED_OR_SKIPPED(other)
  live::CollectorAddress address = other.address();
  address.token = live::random_bytes();
  REQUIRE(live::write_collector_address(folder.path(), address));
  live::HostLink link(folder.path());
  for (int i = 0; i < 100; ++i) {
    std::vector<pollfd> polled = {link.polled()};
    poll(polled.data(), polled.size(), 1);
    link.serve(polled[0].revents);
    other.turn();
    link.send(1, live::bytes_of(test::made_host(1, 1, 1, 1, 1)));
  }
  CHECK(!link.is_heard());
  CHECK(other.collector().samples().empty());
}

TEST_CASE("silent clients, and those that say a byte now and then, keep nobody out") {
  SERVED_OR_SKIPPED(served)
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 200; ++i) {
    silent.push_back(std::make_unique<Client>(served.address().port));
    if (i % 2 == 1) silent.back()->say("x");
    served.turn();
  }
  CHECK(takes_a_host(served, 1));
  CHECK(served.serve_until([&] {
    for (const auto& client : silent) {
      client->say("x");
      if (!client->was_closed()) return false;
    }
    return true;
  }));
  CHECK(takes_a_host(served, 2));
}

TEST_CASE("malformed packets end their connection and harm nobody else") {
  SERVED_OR_SKIPPED(served)
  std::mt19937 random(5);
  const std::string good = first_frame(1);
  for (int i = 0; i < 60; ++i) {
    std::string bytes = good;
    if (i % 3 == 0) {
      for (char& byte : bytes) byte = static_cast<char>(random());
    } else {
      for (int edits = 0; edits < 4; ++edits)
        bytes[random() % (i % 3 == 1 ? 24 : bytes.size())] = static_cast<char>(random());
    }
    Client host(served.address().port);
    REQUIRE(host.prove(served, served.address().token));
    host.say(bytes);
    for (int turns = 0; turns < 3; ++turns) served.turn();
  }
  CHECK(takes_a_host(served, 9));
  Client large(served.address().port);
  REQUIRE(large.prove(served, served.address().token));
  const std::uint32_t header[2] = {1, 0xffffffff};
  large.say({reinterpret_cast<const char*>(header), sizeof header});
  CHECK(served.serve_until([&] { return large.was_closed(); }));
}

}  // namespace
}  // namespace fathom
