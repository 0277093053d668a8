// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/gather.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/pml.h"
#include "rankmap/communicator_view.h"

namespace fathom::profiler {
namespace {

// Version of what follows kTagHere, which brings it. A process with another one counts as absent: libraries of two
// releases in one job would wait for each other.
constexpr std::uint32_t kProtocol = 3;

// No collective and no constructor of communicators has these: Open MPI's own begin at -7
// (OMPI_COMM_ALLGATHER_TAG in 5.0's ompi/mca/coll/base/coll_tags.h), at -10 in 4.1.
constexpr int kTagHere = -2, kTagReady = -3, kTagGo = -4, kTagSize = -5;
constexpr int kTagAccept = kTagReady;  // the one goes down the tree, the other up
constexpr int kTagRows = kTagSize;     // always follow their size
// If all are here, after synchronise(), when the messages that these tags were for have all been received.
constexpr int kTagToken = kTagHere, kTagSwap = kTagReady, kTagGive = kTagSize;
constexpr int kAnyProcess = -1;  // MPI_ANY_SOURCE

// How long to wait for neighbours, all of them together. A neighbour with Fathom announced itself
// when it left MPI_Init, and that message has long arrived by MPI_Finalize; so only neighbours
// without Fathom cost this time.
constexpr auto kPatience = std::chrono::seconds(5);

// What goes first of a message whose receiver does not know its length. It should not have to ask for
// more: ob1 sends up to 4 KiB at once within a host, more over a network.
constexpr std::size_t kFirstPart = 4000;

// Processes to which one passes on the end of the tokens. Where ranks wait for a processor, each level
// of the tree takes a turn of theirs.
constexpr int kEndChildren = 256;

struct TokenMessage {
  std::uint32_t is_end, reserved;
  char token[Gather::kLongestToken];
};

// What synchronise() sends up and down.
struct Ready {
  std::int32_t ready, here;
};
struct Go {
  std::int32_t go, here;
};

}  // namespace

void Gather::announce(void* world, int rank, int size) {
  world_ = world;
  rank_ = rank;
  size_ = size;
  byte_type_ = find_variable_in_mpi("ompi_mpi_byte");
  // Binomial tree: the parent's rank is this one's without its lowest set bit.
  parent_ = rank == 0 ? -1 : rank & (rank - 1);
  for (int bit = 1; bit < size && (rank & bit) == 0; bit <<= 1) {
    if (rank + bit < size) children_.push_back(rank + bit);
  }
  static const std::uint32_t protocol = kProtocol;  // outlives the messages
  if (parent_ >= 0) tell(parent_, kTagHere, &protocol, sizeof protocol);
  for (const int child : children_) tell(child, kTagHere, &protocol, sizeof protocol);
}

// Without waiting: the peer may never receive it.
void Gather::tell(int peer, int tag, const void* data, std::size_t size) {
  void* request = nullptr;
  if (original_pml.isend(data, size, byte_type_, peer, tag, openmpi::kPmlSendStandard, world_,
                         &request) == 0) {
    rankmap::field<int (*)(void**)>(request, openmpi::kRequestFree)(&request);
  }
}

std::vector<int> Gather::present_neighbours() {
  std::vector<int> waiting = children_, present;
  if (parent_ >= 0) waiting.push_back(parent_);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!waiting.empty() && std::chrono::steady_clock::now() < deadline) {
    std::erase_if(waiting, [&](int peer) {
      if (!has_arrived(peer, kTagHere)) return false;
      std::uint32_t protocol = 0;
      receive(peer, kTagHere, &protocol, sizeof protocol);
      if (protocol == kProtocol) present.push_back(peer);
      return true;
    });
    if (!waiting.empty()) sched_yield();
  }
  return present;
}

bool Gather::has_arrived(int peer, int tag) {
  alignas(16) char status[64];
  int matched = 0;
  return original_pml.iprobe(peer, tag, world_, &matched, status) == 0 && matched != 0;
}

void Gather::send(int peer, int tag, const void* data, std::size_t size) {
  original_pml.send(data, size, byte_type_, peer, tag, openmpi::kPmlSendStandard, world_);
}

void Gather::receive(int peer, int tag, void* data, std::size_t size) {
  alignas(16) char status[64];
  original_pml.recv(data, size, byte_type_, peer, tag, world_, status);
}

// A process that gives a neighbour up says so, and every process answers its neighbours, so that
// two processes with different views of each other (one was late) never wait for each other:
//   up    kTagReady: 1 ready, 2 the same, but a process below declined; 0 this process takes no
//         part above, and no answer follows. With it, how many processes take part below
//   down  kTagGo: 1 go on, 0 you were given up. With it, how many take part in all
// An empty message is a 0.
void Gather::synchronise(bool takes_part) {
  here_ = 1;
  const std::vector<int> present = present_neighbours();
  const auto is_present = [&present](int peer) {
    return std::find(present.begin(), present.end(), peer) != present.end();
  };
  std::vector<int> absent;
  std::erase_if(children_, [&](int child) {
    Ready below{};
    if (is_present(child)) {
      receive(child, kTagReady, &below, sizeof below);
      somebody_declined_ = somebody_declined_ || below.ready != 1;
      here_ += below.here;
    } else {
      absent.push_back(child);
    }
    return below.ready == 0;
  });
  if (parent_ >= 0 && !is_present(parent_)) {
    tell(parent_, kTagReady);
    parent_ = -1;
  }
  if (parent_ >= 0) {
    const Ready own{!takes_part ? 0 : somebody_declined_ ? 2 : 1, takes_part ? here_ : 0};
    Go above{};
    send(parent_, kTagReady, &own, sizeof own);
    if (takes_part) receive(parent_, kTagGo, &above, sizeof above);
    if (above.go == 0) parent_ = -1;
    if (above.go != 0) here_ = above.here;
  }
  const Go go{takes_part ? 1 : 0, here_};
  for (const int child : children_) send(child, kTagGo, &go, sizeof go);
  for (const int child : absent) tell(child, kTagGo);
}

// Combines the values of all processes on the way up the tree; all get the result.
template <typename T, typename Combine>
T Gather::combined(T own, Combine combine) {
  for (const int child : children_) {
    T below{};
    receive(child, kTagReady, &below, sizeof below);
    own = combine(own, below);
  }
  if (parent_ >= 0) {
    send(parent_, kTagReady, &own, sizeof own);
    receive(parent_, kTagGo, &own, sizeof own);
  }
  for (const int child : children_) send(child, kTagGo, &own, sizeof own);
  return own;
}

namespace {

Gather::Place larger(Gather::Place a, Gather::Place b) {
  const bool is_b = b.value != a.value ? b.value > a.value : b.where < a.where;
  return is_b ? b : a;
}

}  // namespace

Gather::Place Gather::largest(Place own) { return combined(own, larger); }

void Gather::broadcast(std::vector<char>& data) noexcept {
  if (parent_ >= 0) {
    std::uint64_t size = 0;
    receive(parent_, kTagSize, &size, sizeof size);
    data.clear();
    make_room(data, size);
    receive(parent_, kTagRows, data.data(), data.size());  // cut short without memory
  }
  const std::uint64_t size = data.size();
  for (const int child : children_) {
    send(child, kTagSize, &size, sizeof size);
    send(child, kTagRows, data.data(), data.size());
  }
}

void* Gather::begin_send(int peer, int tag, const void* data, std::size_t size) {
  void* request = nullptr;
  const int result = original_pml.isend(data, size, byte_type_, peer, tag,
                                        openmpi::kPmlSendStandard, world_, &request);
  return result == openmpi::kSuccess ? request : nullptr;
}

void Gather::finish_send(void* request, int peer) {
  if (request == nullptr) return;
  while (!rankmap::is_complete(request)) {
    has_arrived(peer, kTagHere);  // makes progress
    sched_yield();
  }
  rankmap::field<int (*)(void**)>(request, openmpi::kRequestFree)(&request);
}

// `data` has nothing in it.
Gather::Frame Gather::receive_framed(int peer, int tag, std::vector<char>& data) noexcept {
  char first[kFirstPart];
  Frame frame{};
  receive(peer, tag, first, sizeof first);
  std::memcpy(&frame, first, sizeof frame);
  if (!make_room(data, frame.size)) data.clear();
  std::memcpy(data.data(), first, std::min(data.size(), kFirstPart));
  if (frame.size > kFirstPart) {
    const bool fits = !data.empty();  // cut short without memory
    receive(static_cast<int>(frame.from), tag, fits ? data.data() + kFirstPart : nullptr,
            fits ? data.size() - kFirstPart : 0);
  }
  return frame;
}

void Gather::swap(Partners& partners, std::size_t count, Places& places) noexcept {
  std::array<Frame, kMostPartners> frames;
  std::array<void*, kMostPartners> first{}, rest{};
  for (std::size_t i = 0; i < count; ++i) {
    const Partner& partner = partners[i];
    const std::size_t size = std::max(partner.data.size(), kRoom);
    frames[i] = {size, rank_, places};
    const void* begin = &frames[i];
    if (!partner.data.empty()) begin = std::memcpy(partners[i].data.data(), &frames[i], kRoom);
    first[i] = begin_send(partner.to, kTagSwap, begin, std::min(size, kFirstPart));
    if (size > kFirstPart)
      rest[i] =
          begin_send(partner.to, kTagSwap, partner.data.data() + kFirstPart, size - kFirstPart);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Frame coming = receive_framed(partners[i].from, kTagSwap, partners[i].received);
    for (std::size_t k = 0; k < kPlaces; ++k) places[k] = larger(places[k], coming.places[k]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    finish_send(first[i], partners[i].to);
    finish_send(rest[i], partners[i].to);
  }
}

void Gather::give(std::vector<char>& data) noexcept {
  Frame frame{std::max(data.size(), kRoom), rank_, {}};
  const void* begin = &frame;
  if (!data.empty()) begin = std::memcpy(data.data(), &frame, kRoom);
  send(0, kTagGive, begin, std::min(frame.size, kFirstPart));
  if (frame.size > kFirstPart) send(0, kTagGive, data.data() + kFirstPart, frame.size - kFirstPart);
}

int Gather::take(std::vector<char>& data) noexcept {
  data.clear();
  return static_cast<int>(receive_framed(kAnyProcess, kTagGive, data).from);
}

// Receives, not probes: what a probe would find arrives while the receive makes progress, without
// another turn on the processor.
bool Gather::next_token(void* token, std::size_t size) {
  TokenMessage message{};
  receive(kAnyProcess, kTagToken, &message, sizeof message);
  if (message.is_end != 0) {
    pass_on_end();
    return false;
  }
  std::memcpy(token, message.token, size);
  return true;
}

void Gather::send_token(int to, const void* token, std::size_t size) {
  TokenMessage message{};
  std::memcpy(message.token, token, size);
  send(to, kTagToken, &message, sizeof message);
}

void Gather::end_tokens() { pass_on_end(); }

void Gather::pass_on_end() {
  TokenMessage message{};
  message.is_end = 1;
  const std::int64_t first = std::int64_t{rank_} * kEndChildren + 1;
  const std::int64_t end = std::min<std::int64_t>(first + kEndChildren, size_);
  for (std::int64_t child = first; child < end; ++child)
    send(static_cast<int>(child), kTagToken, &message, sizeof message);
}

bool Gather::make_room(std::vector<char>& rows, std::uint64_t size) noexcept try {
  rows.resize(rows.size() + size);
  return true;
} catch (...) {
  return false;
}

bool Gather::collect(std::vector<char>& rows) {
  for (const int child : children_) {
    std::uint64_t size = 0;
    receive(child, kTagSize, &size, sizeof size);
    const std::size_t before = rows.size();
    const char accepted =
        make_room(rows, size) ? 1 : 0;  // without memory the subtree's rows are dropped
    send(child, kTagAccept, &accepted, 1);
    if (accepted) receive(child, kTagRows, rows.data() + before, size);
  }
  if (parent_ < 0) return true;
  const std::uint64_t size = rows.size();
  char accepted = 0;
  send(parent_, kTagSize, &size, sizeof size);
  receive(parent_, kTagAccept, &accepted, 1);
  if (accepted) send(parent_, kTagRows, rows.data(), rows.size());
  return false;
}

}  // namespace fathom::profiler
