// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/gather.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>

#include "profiler/openmpi/knomial_tree.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/pml.h"
#include "rankmap/communicator_view.h"

namespace fathom::profiler {
namespace {

// Version of what follows kTagHere, which brings it. A process with another one counts as absent: libraries of two
// releases in one job would wait for each other.
constexpr std::uint32_t kProtocol = 5;

// No collective and no constructor of communicators has these: Open MPI's own begin at -7
// (OMPI_COMM_ALLGATHER_TAG in 5.0's ompi/mca/coll/base/coll_tags.h), at -10 in 4.1.
constexpr int kTagHere = -2, kTagReady = -3, kTagGo = -4, kTagSize = -5;
constexpr int kTagRows = kTagSize;  // always follow their size
// If all are here, after synchronise(), when the messages that these tags were for have all been received.
constexpr int kTagToken = kTagHere, kTagSwap = kTagReady, kTagGive = kTagSize;
// Questions come from any process: nothing else has their tag until all processes have got theirs.
constexpr int kTagQuestion = kTagGo, kTagReply = kTagReady;
constexpr int kAnyProcess = -1;  // MPI_ANY_SOURCE

// How long to wait for neighbours, all of them together. A neighbour with Fathom announced itself
// when it left MPI_Init, and that message has long arrived by MPI_Finalize; so only neighbours
// without Fathom cost this time.
constexpr auto kPatience = std::chrono::seconds(5);

// What goes first of a message whose receiver does not know its length. It should not have to ask for
// more: ob1 sends up to 4 KiB at once within a host, more over a network.
constexpr std::size_t kFirstPart = 4000;

// Within a host, Open MPI moves messages as short as this at once. For others a process first gets memory that it
// shares with the receiver, until they are so long that the receiver fetches them (mca_btl_vader_sendi and
// btl_vader_module.c in opal/mca/btl/vader). At the end, when each process sends few, that takes longest.
constexpr std::size_t kShort = 200;

// Processes to which one passes on the end of the tokens. Where ranks wait for a processor, each level
// of the tree takes a turn of theirs.
constexpr int kEndChildren = 256;

struct TokenMessage {
  std::uint32_t is_end, reserved;
  char token[Gather::kLongestToken];
};

// What synchronise() sends up and down.
struct Ready {
  std::int32_t ready, in_all;
};
struct Go {
  std::int32_t go, in_all;
};

}  // namespace

void Gather::announce(void* world, int rank, int size) {
  world_ = world;
  rank_ = rank;
  size_ = size;
  byte_type_ = find_variable_in_mpi("ompi_mpi_byte");
  std::tie(parent_, children_) = knomial_neighbors(rank, size, gathering_base(size));
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
//         part above, and no answer follows. With it, how many processes below take part in all
//   down  kTagGo: 1 go on, 0 you were given up. With it, how many of the world take part in all
// An empty message is a 0.
void Gather::synchronise(Part part) {
  const bool takes_part = part != Part::kNothing;
  in_all_ = part == Part::kAll ? 1 : 0;
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
      in_all_ += below.in_all;
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
    const Ready own{!takes_part ? 0 : somebody_declined_ ? 2 : 1, takes_part ? in_all_ : 0};
    Go above{};
    send(parent_, kTagReady, &own, sizeof own);
    if (takes_part) receive(parent_, kTagGo, &above, sizeof above);
    if (above.go == 0) parent_ = -1;
    if (above.go != 0) in_all_ = above.in_all;
  }
  const Go go{takes_part ? 1 : 0, in_all_};
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
Gather::Places larger(Gather::Places a, const Gather::Places& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = larger(a[i], b[i]);
  return a;
}

}  // namespace

Gather::Place Gather::largest(Place own) {
  return combined(own, [](Place a, Place b) { return larger(a, b); });
}

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

void Gather::begin(Letter& letter, int tag, const Places& places) noexcept {
  const std::size_t size = std::max(letter.data.size(), kRoom);
  letter.frame = {size, rank_, places};
  const void* begin = &letter.frame;
  if (!letter.data.empty()) begin = std::memcpy(letter.data.data(), &letter.frame, kRoom);
  letter.first = begin_send(letter.to, tag, begin, std::min(size, kFirstPart));
  if (size > kFirstPart)
    letter.rest = begin_send(letter.to, tag, letter.data.data() + kFirstPart, size - kFirstPart);
}

void Gather::finish(Letter& letter) noexcept {
  finish_send(letter.first, letter.to);
  finish_send(letter.rest, letter.to);
}

void Gather::swap(Partners& partners, std::size_t count, Places& places) noexcept {
  for (std::size_t i = 0; i < count; ++i) begin(partners[i].letter, kTagSwap, places);
  for (std::size_t i = 0; i < count; ++i) {
    const Frame coming = receive_framed(partners[i].from, kTagSwap, partners[i].received);
    places = larger(places, coming.places);
  }
  for (std::size_t i = 0; i < count; ++i) finish(partners[i].letter);
}

namespace {

// How many questions are coming to which processes. Only what is used is sent, so that it is short (kShort).
struct Tally {
  Gather::Places places{};
  std::uint32_t used = 0;
  struct Entry {
    std::uint16_t to, questions;
  };
  std::array<Entry, Gather::kMostCounted> entries{};

  std::size_t bytes() const { return offsetof(Tally, entries) + used * sizeof(Entry); }
};

}  // namespace

std::uint32_t Gather::count_questions(const std::vector<Letter>& letters, Places& places) {
  static_assert(sizeof(Tally) <= kFirstPart);
  std::array<std::uint16_t, kMostCounted> coming{};
  for (const Letter& letter : letters) coming[static_cast<std::size_t>(letter.to)] = 1;
  Tally tally;
  const auto hear = [&](int peer, int tag) {
    receive(peer, tag, &tally, sizeof tally);
    places = larger(places, tally.places);
    for (std::uint32_t i = 0; i < tally.used; ++i)
      coming[tally.entries[i].to] += tally.entries[i].questions;
  };
  // Of the processes from `first` to the one before `end`.
  const auto tell_of = [&](int first, int end, int peer, int tag) {
    tally.places = places;
    tally.used = 0;
    for (int to = first; to < end; ++to)
      if (coming[to] > 0)
        tally.entries[tally.used++] = {static_cast<std::uint16_t>(to), coming[to]};
    send(peer, tag, &tally, tally.bytes());
  };
  for (const int child : children_) hear(child, kTagReady);
  if (parent_ >= 0) {
    tell_of(0, size_, parent_, kTagReady);
    coming = {};
    hear(parent_, kTagGo);
  }
  // The processes at and below a child are those up to the next child.
  for (std::size_t i = 0; i < children_.size(); ++i)
    tell_of(children_[i], i + 1 < children_.size() ? children_[i + 1] : size_, children_[i],
            kTagGo);
  return coming[static_cast<std::size_t>(rank_)];
}

void Gather::begin_question(Letter& letter) noexcept { begin(letter, kTagQuestion, {}); }

int Gather::take_question(std::vector<char>& data) noexcept {
  data.clear();
  return static_cast<int>(receive_framed(kAnyProcess, kTagQuestion, data).from);
}

void Gather::begin_answer(Letter& letter) noexcept { begin(letter, kTagReply, {}); }

void Gather::take_answer(int from, std::vector<char>& data) noexcept {
  data.clear();
  receive_framed(from, kTagReply, data);
}

void Gather::give(std::vector<char>& data) noexcept {
  Letter letter;
  letter.data.swap(data);
  begin(letter, kTagGive, {});
  finish(letter);
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

void Gather::release() { pass_on_end(); }

void Gather::wait_for_release() { next_token(nullptr, 0); }

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

// The size of rows goes with their first part, so that no process waits for an answer.
bool Gather::collect(std::vector<char>& rows) {
  char first[kShort];
  std::uint64_t size = 0;
  constexpr std::size_t kFirstRows = kShort - sizeof size;
  for (const int child : children_) {
    receive(child, kTagRows, first, sizeof first);
    std::memcpy(&size, first, sizeof size);
    const std::size_t before = rows.size();
    const bool fits = make_room(rows, size);  // without memory the subtree's rows are dropped
    const std::size_t at_once = std::min<std::uint64_t>(size, kFirstRows);
    if (fits) std::memcpy(rows.data() + before, first + sizeof size, at_once);
    if (size > at_once)  // cut short without memory
      receive(child, kTagRows, fits ? rows.data() + before + at_once : nullptr,
              fits ? size - at_once : 0);
  }
  if (parent_ < 0) return true;
  size = rows.size();
  const std::size_t at_once = std::min<std::uint64_t>(size, kFirstRows);
  std::memcpy(first, &size, sizeof size);
  std::memcpy(first + sizeof size, rows.data(), at_once);
  send(parent_, kTagRows, first, sizeof size + at_once);
  if (size > at_once) send(parent_, kTagRows, rows.data() + at_once, size - at_once);
  return false;
}

}  // namespace fathom::profiler
