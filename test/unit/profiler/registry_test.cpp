// SPDX-License-Identifier: BSD-3-Clause
// Who the members of a communicator are, and which communicators count as one kind.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "rankmap/registry.h"
#include "test/unit/profiler/fake_openmpi.h"

namespace fathom::rankmap {
namespace {

using test::fake_process;
using test::fake_sentinel;
using test::fake_world;
using test::FakeCommunicator;
using test::FakeGroup;

constexpr std::size_t kNameSize = openmpi::kOpenMpi_4_1.comm_name_inside;
constexpr std::uint32_t kJob = 0x12340001, kOtherJob = 0x12340002;

// What the member `rank` of world kJob calls a communicator over `group`.
profile::CommunicatorRow row_of(const FakeGroup& group, std::uint32_t rank, const char* made_by) {
  Registry registry;
  REQUIRE(registry.open({kJob, rank}));
  FakeCommunicator comm(group, static_cast<int>(rank));
  const std::uint32_t kind = registry.add(comm.address(), made_by, kNoKind, 0);
  REQUIRE(kind == 0);
  return registry.rows()[0];
}

TEST_CASE("a dense group names its processes by job and rank") {
  const FakeGroup group({{kJob, 5}, {kJob, 2}, {kOtherJob, 0}});
  CHECK(group_size(group.address()) == 3);
  CHECK(member(group.address(), 0) == Identity{kJob, 5});
  CHECK(member(group.address(), 1) == Identity{kJob, 2});
  CHECK(member(group.address(), 2) == Identity{kOtherJob, 0});
}

TEST_CASE("a process not yet contacted is a sentinel and gives the same result") {
  const Identity far{0xfedc7fff, 0xffffff};
  const FakeGroup group({fake_sentinel({kJob, 3}), fake_process({kJob, 4}), fake_sentinel(far)});
  CHECK(member(group.address(), 0) == Identity{kJob, 3});
  CHECK(member(group.address(), 1) == Identity{kJob, 4});
  CHECK(member(group.address(), 2) == far);
}

TEST_CASE("a sparse group is asked of the library, and unknown without it") {
  const FakeGroup whole(fake_world(kJob, 6));
  const FakeGroup odd(whole, FakeGroup::kSparse), last_odd(odd, FakeGroup::kSparse);
  set_sparse_lookup(nullptr);
  CHECK(member(odd.address(), 0) == Identity{~0u, ~0u});
  set_sparse_lookup([](const void*, int, const int* position, const void* parent, int* in_parent) {
    const bool is_whole = field<std::uint32_t>(parent, openmpi::kGroupFlags) != 0;
    *in_parent = is_whole ? 2 * *position + 1 : *position + 2;
    return 0;
  });
  CHECK(member(odd.address(), 1) == Identity{kJob, 3});
  CHECK(member(last_odd.address(), 0) == Identity{kJob, 5});  // a sparse group of a sparse group
  set_sparse_lookup(nullptr);
}

TEST_CASE("a communicator's name is read only where one was set") {
  const FakeGroup group(fake_world(kJob, 2));
  FakeCommunicator comm(group, 0);
  CHECK(given_name(comm.address()).empty());
  comm.name("halo");
  CHECK(given_name(comm.address()) == "halo");
  comm.name(std::string(kNameSize, 'x'));  // no terminator left
  CHECK(given_name(comm.address()).size() == kNameSize);
}

TEST_CASE("the library says what a duplicate was made from, and nothing for other communicators") {
  const FakeGroup group(fake_world(kJob, 2));
  FakeCommunicator comm(group, 0);
  CHECK(!duplicate_of(comm.address()));
  comm.default_name("MPI COMMUNICATOR 12 DUP FROM 7");
  CHECK(duplicate_of(comm.address()) == 7);
  comm.default_name("MPI COMMUNICATOR 12 SPLIT FROM 7");
  CHECK(!duplicate_of(comm.address()));
  CHECK(given_name(comm.address()).empty());
  comm.default_name(std::string(kNameSize, '1'));  // no terminator left
  CHECK(!duplicate_of(comm.address()));
}

TEST_CASE("all members compute the same key, and other members, makers or orders another one") {
  const FakeGroup group(fake_world(kJob, 4));
  const FakeGroup turned({{kJob, 1}, {kJob, 0}, {kJob, 2}, {kJob, 3}});
  const std::uint64_t key = row_of(group, 0, "MPI_Comm_dup").key;
  for (std::uint32_t rank = 1; rank < 4; ++rank) {
    CHECK(row_of(group, rank, "MPI_Comm_dup").key == key);
    CHECK(row_of(group, rank, "MPI_Comm_dup").my_rank == rank);
  }
  CHECK(row_of(group, 0, "MPI_Comm_split").key != key);
  CHECK(row_of(turned, 0, "MPI_Comm_dup").key != key);
}

TEST_CASE("a sentinel and its process give the same key") {
  const FakeGroup seen(fake_world(kJob, 2));
  const FakeGroup unseen({fake_process({kJob, 0}), fake_sentinel({kJob, 1})});
  CHECK(row_of(seen, 0, "MPI_Comm_dup").key == row_of(unseen, 0, "MPI_Comm_dup").key);
}

// A communicator of world kJob as a process sees it; each has the context id that all members have
// agreed on.
struct Made {
  explicit Made(const FakeGroup& group, std::uint32_t id) : comm(group, 0) { comm.index(id); }
  std::uint32_t add_to(Registry& registry, std::uint32_t parent = kNoKind) const {
    return registry.add(comm.address(), "MPI_Comm_dup", parent, 0);
  }
  FakeCommunicator comm;
};

TEST_CASE("communicators made by threads at the same time have one key each, in any order") {
  const FakeGroup group(fake_world(kJob, 2));
  std::map<std::uint32_t, std::uint64_t> keys[2], ordinal_keys[2];  // by context id
  for (std::uint32_t rank : {0u, 1u}) {
    Registry registry;
    REQUIRE(registry.open({kJob, rank}));
    for (const std::uint32_t id : rank == 0 ? std::vector{4u, 5u, 6u} : std::vector{6u, 4u, 5u}) {
      const auto& row = registry.rows()[Made(group, id).add_to(registry)];
      keys[rank][id] = row.key;
      ordinal_keys[rank][id] = row.ordinal_key;
    }
    CHECK(registry.rows().size() == 3);
  }
  CHECK(keys[0] == keys[1]);
  CHECK(ordinal_keys[0][4] == ordinal_keys[1][6]);  // the first that either met
  CHECK(ordinal_keys[0] != ordinal_keys[1]);
}

TEST_CASE("a communicator made before or after another is freed differs from it on every rank") {
  const FakeGroup group(fake_world(kJob, 2));
  std::uint64_t keys[2][2], ordinal_keys[2][2];
  for (std::uint32_t rank : {0u, 1u}) {
    Registry registry;
    REQUIRE(registry.open({kJob, rank}));
    const std::uint32_t first = Made(group, 4).add_to(registry);
    if (rank == 0) registry.retire(first);
    const std::uint32_t second = Made(group, 5).add_to(registry);
    if (rank == 1) registry.retire(first);
    for (const std::uint32_t kind : {first, second}) {
      keys[rank][kind == second] = registry.rows()[kind].key;
      ordinal_keys[rank][kind == second] = registry.rows()[kind].ordinal_key;
    }
  }
  for (const int i : {0, 1}) CHECK(keys[0][i] == keys[1][i]);
  CHECK(keys[0][0] != keys[0][1]);
  CHECK(ordinal_keys[0][0] == ordinal_keys[0][1]);  // one after the other: only the keys differ
  CHECK(ordinal_keys[1][0] != ordinal_keys[1][1]);
}

TEST_CASE(
    "communicators made from others that threads made are distinguished by the parent's key") {
  const FakeGroup group(fake_world(kJob, 2));
  std::uint64_t keys[2][2];
  for (std::uint32_t rank : {0u, 1u}) {
    Registry registry;
    REQUIRE(registry.open({kJob, rank}));
    std::uint32_t parents[2];
    for (const std::uint32_t id : {4u + rank, 5u - rank}) {
      parents[id - 4] = Made(group, id).add_to(registry);
    }
    for (const std::uint32_t i : {0u, 1u}) {  // one after the other, with one context id
      const std::uint32_t child = Made(group, 6).add_to(registry, parents[i]);
      keys[rank][i] = registry.rows()[child].key;
      CHECK(registry.rows()[child].parent_key == registry.rows()[parents[i]].key);
      registry.retire(child);
    }
  }
  CHECK(keys[0][0] == keys[1][0]);
  CHECK(keys[0][1] == keys[1][1]);
  CHECK(keys[0][0] != keys[0][1]);
}

TEST_CASE("2,000 communicators made and freed in turn are one row with 2,000 instances") {
  const FakeGroup group(fake_world(kJob, 4));
  const FakeCommunicator comm(group, 0);
  Registry registry;
  REQUIRE(registry.open({kJob, 0}));
  const std::uint32_t world =
      registry.add(comm.address(), "predefined", kNoKind, profile::kPredefined);
  for (int i = 0; i < 2000; ++i) {
    const std::uint32_t kind = registry.add(comm.address(), "MPI_Comm_dup", world, 0);
    REQUIRE(kind == 1);
    registry.retire(kind);
  }
  CHECK(registry.rows().size() == 2);
  CHECK(registry.rows()[1].instances == 2000);
  CHECK(registry.rows()[1].parent_key == registry.rows()[0].key);
}

TEST_CASE("the ordinal returned first is reused first, and one in use is not") {
  const FakeGroup group(fake_world(kJob, 2));
  Registry registry;
  REQUIRE(registry.open({kJob, 0}));
  const std::uint32_t first = Made(group, 4).add_to(registry);
  const std::uint32_t second = Made(group, 5).add_to(registry);
  CHECK(first != second);
  registry.retire(first);
  CHECK(Made(group, 4).add_to(registry) == first);
  CHECK(Made(group, 6).add_to(registry) == 2);
  CHECK(registry.rows()[first].instances == 2);
  CHECK(registry.rows()[second].instances == 1);
  registry.retire(first);
  // Another communicator has context id 4 meanwhile.
  const std::uint32_t later = Made(group, 7).add_to(registry);
  CHECK(later == 3);
  CHECK(registry.rows()[later].ordinal_key == registry.rows()[first].ordinal_key);
  CHECK(registry.rows()[second].ordinal_key != registry.rows()[first].ordinal_key);
}

TEST_CASE("a kind that had several ordinals has no ordinal key from then on") {
  const FakeGroup group(fake_world(kJob, 2));
  Registry registry;
  REQUIRE(registry.open({kJob, 0}));
  const std::uint32_t first = Made(group, 4).add_to(registry);
  const std::uint32_t second = Made(group, 5).add_to(registry);
  registry.retire(first);
  registry.retire(second);
  CHECK(Made(group, 5).add_to(registry) == second);
  CHECK(registry.rows()[second].ordinal_key == 0);
  CHECK(registry.rows()[first].ordinal_key != 0);
  registry.retire(second);
  Made(group, 4).add_to(registry);
  CHECK(Made(group, 5).add_to(registry) == second);
  CHECK(registry.rows()[second].ordinal_key == 0);
  CHECK(registry.rows().size() == 2);
}

TEST_CASE("a million communicators with few alive take as few rows as context ids") {
  const FakeGroup group(fake_world(kJob, 4));
  Registry registry;
  REQUIRE(registry.open({kJob, 0}));
  constexpr std::uint32_t kAlive = 8;
  std::vector<std::uint32_t> alive(kAlive, kNoKind);
  std::uint32_t random = 1;
  for (int i = 0; i < 1'000'000; ++i) {  // in an order in which threads might free them
    random = random * 1664525 + 1013904223;
    const std::uint32_t id = random >> 16 & (kAlive - 1);
    if (alive[id] != kNoKind) registry.retire(alive[id]);
    alive[id] = Made(group, id).add_to(registry);
  }
  CHECK(registry.rows().size() == kAlive);
}

TEST_CASE("what each process makes of its own MPI_COMM_SELF has one key everywhere") {
  std::uint64_t key[2];
  for (std::uint32_t rank : {0u, 1u}) {
    const FakeGroup self({Identity{kJob, rank}});
    FakeCommunicator comm(self, 0);
    comm.index(5 + rank);  // each process takes its next free one
    Registry registry;
    REQUIRE(registry.open({kJob, rank}));
    const auto alone = registry.add(comm.address(), "predefined", kNoKind,
                                    profile::kPredefined | profile::kPerProcess);
    const auto copy = registry.add(comm.address(), "MPI_Comm_dup", alone, 0);
    CHECK((registry.rows()[copy].flags & profile::kPerProcess) != 0);
    key[rank] = registry.rows()[copy].key;
  }
  CHECK(key[0] == key[1]);
}

TEST_CASE("both sides of an intercommunicator share its key, with their own group's key") {
  const FakeGroup low({{kJob, 0}, {kJob, 1}}), high({{kJob, 2}, {kJob, 3}, {kJob, 4}});
  const FakeCommunicator at_low(low, high, 1), at_high(high, low, 2);
  Registry of_low, of_high;
  REQUIRE(of_low.open({kJob, 1}));
  REQUIRE(of_high.open({kJob, 4}));
  of_low.add(at_low.address(), "MPI_Intercomm_create", kNoKind, 0);
  of_high.add(at_high.address(), "MPI_Intercomm_create", kNoKind, 0);
  const profile::CommunicatorRow& a = of_low.rows()[0];
  const profile::CommunicatorRow& b = of_high.rows()[0];
  CHECK(a.key == b.key);
  CHECK(a.group_key != b.group_key);
  CHECK(a.size == 2);
  CHECK(a.remote_size == 3);
  CHECK(b.size == 3);
  CHECK((a.flags & profile::kIntercommunicator) != 0);
  CHECK(of_low.foreign_members().size() == 0);
}

TEST_CASE("connect and accept are two ends of one communicator") {
  const FakeGroup here(fake_world(kJob, 1)), there(fake_world(kOtherJob, 1));
  const FakeCommunicator server(here, there, 0), client(there, here, 0);
  Registry of_server, of_client;
  REQUIRE(of_server.open({kJob, 0}));
  REQUIRE(of_client.open({kOtherJob, 0}));
  of_server.add(server.address(), "MPI_Comm_accept", kNoKind, 0);
  of_client.add(client.address(), "MPI_Comm_connect", kNoKind, 0);
  CHECK(of_server.rows()[0].key == of_client.rows()[0].key);
}

TEST_CASE("members of another world are listed once, by the first member of this world") {
  const FakeGroup group({{kOtherJob, 7}, {kJob, 1}, {kOtherJob, 8}, {kJob, 0}});
  for (std::uint32_t rank : {0u, 1u}) {
    const FakeCommunicator comm(group, rank == 1 ? 1 : 3);
    Registry registry;
    REQUIRE(registry.open({kJob, rank}));
    registry.add(comm.address(), "MPI_Intercomm_merge", kNoKind, 0);
    if (rank == 0) {
      CHECK(registry.foreign_members().size() == 0);
      continue;
    }
    REQUIRE(registry.foreign_members().size() == 2);
    const profile::ForeignMemberRow& second = registry.foreign_members()[1];
    CHECK(second.remote == 0);
    CHECK(second.position == 2);
    CHECK(second.job == kOtherJob);
    CHECK(second.rank == 8);
  }
}

TEST_CASE(
    "names, visibility and descriptions are written, and long text is cut with its terminator") {
  const FakeGroup group(fake_world(kJob, 2));
  FakeCommunicator comm(group, 0);
  Registry registry;
  REQUIRE(registry.open({kJob, 0}));
  const std::string long_name(200, 'm');
  const std::uint32_t kind = registry.add(comm.address(), long_name, kNoKind, profile::kInternal);
  const profile::CommunicatorRow& row = registry.rows()[kind];
  CHECK(std::string(row.made_by) == long_name.substr(0, sizeof row.made_by - 1));
  comm.name("first");
  registry.keep_name(kind, comm.address());
  comm.name("later");
  registry.keep_name(kind, comm.address());
  CHECK(std::string(row.name) == "first");
  registry.mark_visible(kind);
  CHECK((row.flags & profile::kInternal) == 0);
  registry.describe(kind, "MPI_Win_create", "");
  CHECK(std::string(row.made_by) == "MPI_Win_create");
  CHECK(std::string(row.name).empty());
}

TEST_CASE("a cleared registry starts again") {
  const FakeGroup group(fake_world(kJob, 2));
  const FakeCommunicator comm(group, 0);
  Registry registry;
  REQUIRE(registry.open({kJob, 0}));
  registry.add(comm.address(), "MPI_Comm_dup", kNoKind, 0);
  const std::uint64_t key = registry.rows()[0].key;
  registry.clear();
  CHECK(registry.rows().size() == 0);
  CHECK(registry.add(comm.address(), "MPI_Comm_dup", kNoKind, 0) == 0);
  CHECK(registry.rows()[0].key == key);
}

}  // namespace
}  // namespace fathom::rankmap
