// SPDX-License-Identifier: BSD-3-Clause
// Queues made by hand in this process's memory, as pml/ob1 has them.
#include "live/queue_lengths.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include "live/page_copy.h"
#include "made_page.h"

namespace fathom::live {
namespace {

constexpr std::uint64_t kCommunicatorClass = 0x1111, kListClass = 0x2222;

struct MadeMessage {
  MadeMessage* next = nullptr;
  std::int32_t unused = 0, tag = 0;
};
struct MadeList {
  std::uint64_t list_class = kListClass;
  std::uint64_t unused = 0;
  MadeMessage end{&end, 0, 0};
  std::uint64_t length = 0;
};
struct MadePeer {
  std::uint64_t unused = 0;
  MadeList receives, unexpected;
};
struct MadeQueues {
  std::uint64_t communicator_class = kCommunicatorClass;
  MadeList wild_receives;
  MadePeer** peers = nullptr;
  std::uint64_t peer_count = 0;
};

std::uint64_t address_of(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

QueuesCopy known_queues() {
  QueuesCopy queues;
  queues.are_there = true;
  queues.communicator_class = kCommunicatorClass;
  queues.list_class = kListClass;
  queues.wild_receives = offsetof(MadeQueues, wild_receives);
  queues.peers = offsetof(MadeQueues, peers);
  queues.peer_count = offsetof(MadeQueues, peer_count);
  queues.receives = offsetof(MadePeer, receives);
  queues.unexpected = offsetof(MadePeer, unexpected);
  queues.length = offsetof(MadeList, length);
  queues.end = offsetof(MadeList, end);
  queues.next = offsetof(MadeMessage, next);
  queues.tag = offsetof(MadeMessage, tag);
  queues.lowest_own_tag = -6;
  return queues;
}

// A communicator of 2,000 ranks, of which every third has a peer.
struct MadeCommunicator {
  std::vector<std::unique_ptr<MadePeer>> made;
  std::vector<MadePeer*> table = std::vector<MadePeer*>(2000);
  MadeQueues queues;
  std::uint64_t unexpected = 0, posted = 4;

  MadeCommunicator() {
    for (std::size_t i = 0; i < table.size(); i += 3) {
      made.push_back(std::make_unique<MadePeer>());
      table[i] = made.back().get();
      unexpected += table[i]->unexpected.length = i % 7;
      posted += table[i]->receives.length = i % 5;
    }
    queues.wild_receives.length = 4;
    queues.peers = table.data();
    queues.peer_count = table.size();
  }
};

QueueLengths lengths_of(const QueuesCopy& queues) { return read_queues(getpid(), queues); }

TEST_CASE("the lengths of all peers' lists are added") {
  const MadeCommunicator one, other;
  QueuesCopy queues = known_queues();
  queues.places = {address_of(&one.queues), address_of(&other.queues)};
  const QueueLengths read = lengths_of(queues);
  REQUIRE(read.access == QueueAccess::kRead);
  CHECK(read.unexpected == 2 * one.unexpected);
  CHECK(read.posted == 2 * one.posted);
}

TEST_CASE("messages of Fathom's own are no messages of the program") {
  MadeCommunicator made;
  for (auto& peer : made.made) peer->unexpected.length = 0;
  std::array<MadeMessage, 5> messages;
  const std::array<std::int32_t, 5> tags = {-2, -6, 0, -10, -3};
  MadeList& list = made.made.front()->unexpected;
  list.length = messages.size();
  list.end.next = messages.data();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i].tag = tags[i];
    messages[i].next = i + 1 < messages.size() ? &messages[i + 1] : &list.end;
  }
  QueuesCopy queues = known_queues();
  queues.places = {address_of(&made.queues)};
  CHECK(lengths_of(queues).unexpected == 2);
  SUBCASE("a message that is just taken out leads nowhere") { messages[1].next = nullptr; }
  SUBCASE("or in a circle") { messages[1].next = messages.data(); }
  const QueueLengths read = lengths_of(queues);
  CHECK(read.access == QueueAccess::kRead);
  CHECK(read.unexpected <= 4);
}

TEST_CASE("a process that says nothing of its queues has none that are known") {
  CHECK(lengths_of({}).access == QueueAccess::kUnknown);
  const MadeCommunicator made;
  QueuesCopy queues = known_queues();
  queues.places = {address_of(&made.queues)};
  queues.is_complete = false;
  CHECK(lengths_of(queues).access == QueueAccess::kUnknown);
}

TEST_CASE("queues that are no longer there are unknown, not empty") {
  MadeCommunicator made;
  QueuesCopy queues = known_queues();
  queues.places = {address_of(&made.queues), 8};
  CHECK(lengths_of(queues).access == QueueAccess::kUnknown);
  queues.places = {address_of(&made.queues)};
  const auto is_unknown = [&] {
    const QueueLengths read = lengths_of(queues);
    return read.access == QueueAccess::kUnknown && read.unexpected == 0 && read.posted == 0;
  };
  SUBCASE("its class") { made.queues.communicator_class = 7; }
  SUBCASE("the class of the receives from anyone") { made.queues.wild_receives.list_class = 7; }
  SUBCASE("the class of a peer's list") { made.made.back()->unexpected.list_class = 7; }
  SUBCASE("a length that cannot be") { made.made[1]->receives.length = std::uint64_t{1} << 40; }
  SUBCASE("a number of peers that cannot be") { made.queues.peer_count = ~std::uint64_t{0} / 8; }
  SUBCASE("more peers than memory") { made.queues.peer_count = kMostPeers; }
  SUBCASE("a peer elsewhere") { made.table[3] = reinterpret_cast<MadePeer*>(std::uintptr_t{16}); }
  SUBCASE("a process that is none") {
    CHECK(read_queues(0x7fffffff, queues).access == QueueAccess::kUnknown);
    made.queues.communicator_class = 7;
  }
  CHECK(is_unknown());
}

TEST_CASE("queues of too many peers or messages are not looked at again and again") {
  MadeCommunicator made;
  QueuesCopy queues = known_queues();
  queues.places = {address_of(&made.queues)};
  std::vector<MadePeer*> table(kMostLooksInAll / kMostLooks + 2, made.made.front().get());
  MadeMessage message;
  SUBCASE("peers") { made.queues.peer_count = kMostPeers + 1; }
  SUBCASE("messages") {
    message.next = &message;
    made.made.front()->unexpected.length = 1000;
    made.made.front()->unexpected.end.next = &message;
    made.queues.peers = table.data();
    made.queues.peer_count = table.size();
  }
  const QueueLengths read = lengths_of(queues);
  CHECK(read.access == QueueAccess::kUnknown);
  CHECK(read.is_too_large);
}

// Whatever a page says, and whatever lies where it points to.
TEST_CASE("damaged queues are read or not, and harm nothing") {
  std::mt19937_64 random(1);
  std::size_t known = 0;
  for (int round = 0; round < 2000; ++round) {
    MadeCommunicator made;
    QueuesCopy queues = known_queues();
    queues.places = {address_of(&made.queues)};
    std::array<std::uint32_t*, 9> offsets = {
        &queues.wild_receives, &queues.peers,      &queues.peer_count,
        &queues.receives,      &queues.unexpected, &queues.length,
        &queues.end,           &queues.next,       &queues.tag};
    switch (round % 4) {
      case 0: *offsets[random() % 9] = static_cast<std::uint32_t>(random()); break;
      case 1: *offsets[random() % 9] = static_cast<std::uint32_t>(random() % 64); break;
      case 2: queues.places.push_back(random()); break;
      default:
        reinterpret_cast<std::uint64_t*>(&made.queues)[random() % (sizeof(MadeQueues) / 8)] =
            random() % 2 == 0 ? random() : random() % 100'000;
    }
    known += lengths_of(queues).access == QueueAccess::kRead;
  }
  CHECK(known < 1500);
}

TEST_CASE("a page gives the places that are in use") {
  test::MadePage page;
  auto* facts = page.add<QueueFacts>(kQueueFacts);
  facts->communicator_class = 5;
  facts->list_class = 6;
  facts->peers = 216;
  facts->left_out = 1;
  facts->is_used = 1;
  auto* places = page.add<QueuePlace>(kQueuePlaces);
  places[0].is_used = places[1].is_used = places[2].is_used = 1;
  places[0].queues = 100;
  places[2].queues = 300;
  const int descriptor = page.descriptor();
  const auto copy = read_page(descriptor);
  close(descriptor);
  REQUIRE(copy);
  CHECK(copy->queues.are_there);
  CHECK_FALSE(copy->queues.is_complete);
  CHECK(copy->queues.communicator_class == 5);
  CHECK(copy->queues.peers == 216);
  CHECK(copy->queues.places == std::vector<std::uint64_t>{100, 300});
}

}  // namespace
}  // namespace fathom::live
