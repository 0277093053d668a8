// SPDX-License-Identifier: BSD-3-Clause
// What the writer writes, the reader reads back: every field, block by block.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "profile/reader.h"
#include "profile/writer.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/profile/sample.h"

namespace fathom::profile {
namespace {

using test::contents;
using test::Scratch;

TEST_CASE("a profile read and written again is the same file, byte for byte") {
  Scratch folder;
  REQUIRE(write_profile(test::sample_profile(), folder / "first.json"));
  auto loaded = load_profile(folder / "first.json");
  REQUIRE_MESSAGE(loaded, loaded.error().message);
  REQUIRE(write_profile(*loaded, folder / "second.json"));
  CHECK(contents(folder / "first.json") == contents(folder / "second.json"));
}

TEST_CASE("every field survives a round trip") {
  Scratch folder;
  const Profile sample = test::sample_profile();
  REQUIRE(write_profile(sample, folder / "profile.json"));
  auto loaded = load_profile(folder / "profile.json");
  REQUIRE_MESSAGE(loaded, loaded.error().message);

  CHECK(loaded->world_size == 4);
  CHECK(loaded->source == "peruse");
  CHECK(loaded->application.executable == sample.application.executable);
  CHECK(loaded->application.arguments == sample.application.arguments);
  CHECK(loaded->application.started_unix_ns == sample.application.started_unix_ns);
  CHECK(loaded->application.seconds == sample.application.seconds);
  CHECK(loaded->mpi.library == "Open MPI");
  CHECK(loaded->mpi.version == "4.1.4");
  CHECK(loaded->mpi.pml == "ob1");

  REQUIRE(loaded->ranks.size() == 5);
  CHECK(loaded->ranks[1].rank == 1);
  CHECK(loaded->ranks[1].host == "n1");
  CHECK(loaded->ranks[1].pid == 101);
  CHECK(loaded->ranks[1].seconds == sample.ranks[1].seconds);
  CHECK(loaded->ranks[1].rank_in_world == kNone);
  CHECK(loaded->ranks[1].reported);
  CHECK_FALSE(loaded->ranks[3].reported);
  CHECK(loaded->ranks[4].world == "spawned 1");
  CHECK(loaded->ranks[4].rank_in_world == 0);

  REQUIRE(loaded->communicators.size() == 2);
  CHECK(loaded->communicators[0].parent == kNone);
  CHECK(loaded->communicators[0].instances == 1);
  const Communicator& child = loaded->communicators[1];
  CHECK(child.id == 1);
  CHECK(child.made_by == "MPI_Comm_spawn");
  CHECK(child.parent == 0);
  CHECK(child.internal);
  CHECK(child.instances == 3);
  CHECK(child.world_ranks == sample.communicators[1].world_ranks);
  CHECK(child.remote_world_ranks == sample.communicators[1].remote_world_ranks);

  REQUIRE(loaded->performance_variables.size() == 1);
  CHECK(loaded->performance_variables[0].description == "how long, in messages");
  CHECK(loaded->performance_variables[0].bound_to == "communicator 0");
  CHECK(loaded->performance_variables[0].rank == sample.performance_variables[0].rank);
  CHECK(loaded->performance_variables[0].values == sample.performance_variables[0].values);

  REQUIRE(loaded->traffic.size() == 3);
  for (std::size_t at = 0; at < 3; ++at) {
    CHECK(loaded->traffic[at].class_name == sample.traffic[at].class_name);
    CHECK(loaded->traffic[at].hidden == sample.traffic[at].hidden);
    CHECK(loaded->traffic[at].communicator == sample.traffic[at].communicator);
    CHECK(loaded->traffic[at].phase == sample.traffic[at].phase);
    CHECK(loaded->traffic[at].source == sample.traffic[at].source);
    CHECK(loaded->traffic[at].destination == sample.traffic[at].destination);
    CHECK(loaded->traffic[at].bytes == sample.traffic[at].bytes);
    CHECK(loaded->traffic[at].messages == sample.traffic[at].messages);
  }
  REQUIRE(loaded->message_sizes.size() == 2);
  for (std::size_t at = 0; at < 2; ++at) {
    CHECK(loaded->message_sizes[at].class_name == sample.message_sizes[at].class_name);
    CHECK(loaded->message_sizes[at].hidden == sample.message_sizes[at].hidden);
    CHECK(loaded->message_sizes[at].size == sample.message_sizes[at].size);
    CHECK(loaded->message_sizes[at].messages == sample.message_sizes[at].messages);
    CHECK(loaded->message_sizes[at].bin_low == sample.message_sizes[at].bin_low);
    CHECK(loaded->message_sizes[at].bin_messages == sample.message_sizes[at].bin_messages);
  }

  const Coverage& coverage = loaded->coverage;
  CHECK(coverage.verdict == "differs");
  CHECK(coverage.sent.bytes == 16300);
  CHECK(coverage.sent.messages == 180);
  CHECK(coverage.sent.witness == "pml");
  CHECK(coverage.received.messages == 177);
  CHECK(coverage.received.witness == "peruse");
  CHECK(coverage.unreceived.bytes == 120);
  REQUIRE(coverage.unreceived_pairs.size() == 1);
  CHECK(coverage.unreceived_pairs[0].source == 2);
  CHECK(coverage.unreceived_pairs[0].destination == 3);
  CHECK(coverage.unreceived_pairs[0].bytes == 120);
  CHECK(coverage.unreceived_pairs[0].messages == 2);
  REQUIRE(coverage.differences.size() == 1);
  CHECK(coverage.differences[0].source == 1);
  CHECK(coverage.differences[0].destination == 0);
  CHECK(coverage.differences[0].sent_bytes == 10);
  CHECK(coverage.differences[0].sent_messages == 2);
  CHECK(coverage.differences[0].received_bytes == 8);
  CHECK(coverage.differences[0].received_messages == 1);
  REQUIRE(coverage.not_visible.size() == 2);
  CHECK(coverage.not_visible[0].communicator == 0);
  CHECK(coverage.not_visible[0].function == "MPI_Bcast");
  CHECK(coverage.not_visible[0].module == "coll/sm");
  CHECK(coverage.not_visible[0].calls == 7);
  CHECK(coverage.not_visible[0].reason == "shared memory, no messages");
  CHECK(coverage.not_visible[1].communicator == kNone);
  REQUIRE(coverage.steps_down.size() == 1);
  CHECK(coverage.steps_down[0].source == "peruse");
  CHECK(coverage.steps_down[0].reason == "this Open MPI was built without PERUSE.");
  CHECK(coverage.lost_messages == 3);
  CHECK(coverage.cut_short == "rank 3 called MPI_Abort");
  CHECK(coverage.notes == std::vector<std::string>{"One note."});
}

TEST_CASE("the trace's losses survive a round trip") {
  Scratch folder;
  Profile profile;
  profile.coverage.trace_lost = {{"memory", "", 2, 3},
                                 {"unwritten", "No space left on device", 1, 1ull << 63}};
  REQUIRE(write_profile(profile, folder / "lost.json"));
  auto loaded = load_profile(folder / "lost.json");
  REQUIRE_MESSAGE(loaded, loaded.error().message);
  const std::vector<TraceLoss>& lost = loaded->coverage.trace_lost;
  REQUIRE(lost.size() == 2);
  CHECK(lost[0].reason == "memory");
  CHECK(lost[0].error.empty());
  CHECK(lost[0].ranks == 2);
  CHECK(lost[1].error == "No space left on device");
  CHECK(lost[1].records == 1ull << 63);
}

TEST_CASE("rows are sorted by pair, and long traffic is split into blocks") {
  Scratch folder;
  Profile profile;
  profile.world_size = 70'000;
  profile.communicators.resize(1);
  Traffic ring;
  ring.class_name = kPointToPoint;
  for (std::int64_t rank = 69'999; rank >= 0; --rank) {
    ring.source.push_back(rank);
    ring.destination.push_back((rank + 1) % 70'000);
    ring.bytes.push_back(static_cast<std::uint64_t>(rank));
    ring.messages.push_back(1);
  }
  profile.traffic = {ring};
  REQUIRE(write_profile(profile, folder / "ring.json"));
  auto loaded = load_profile(folder / "ring.json");
  REQUIRE_MESSAGE(loaded, loaded.error().message);
  REQUIRE(loaded->traffic.size() == 2);
  CHECK(loaded->traffic[0].source.size() == kBlockRows);
  CHECK(loaded->traffic[1].source.size() == 70'000 - kBlockRows);
  std::int64_t expected = 0;
  for (const Traffic& block : loaded->traffic) {
    for (std::size_t row = 0; row < block.source.size(); ++row, ++expected) {
      REQUIRE(block.source[row] == expected);
      REQUIRE(block.bytes[row] == static_cast<std::uint64_t>(expected));
    }
  }
}

TEST_CASE("text that is not UTF-8 is written as UTF-8") {
  Scratch folder;
  Profile profile;
  profile.application.executable =
      "caf\xE9 \xC3\xA9 \xED\xA0\x80 \xF0\x9F\x98\x80 \xC0\xAF end\xE2\x82";
  REQUIRE(write_profile(profile, folder / "text.json"));
  auto loaded = load_profile(folder / "text.json");
  REQUIRE_MESSAGE(loaded, loaded.error().message);
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(loaded->application.executable == "caf" + bad + " \xC3\xA9 " + bad + bad + bad +
                                              " \xF0\x9F\x98\x80 " + bad + bad + " end" + bad +
                                              bad);
}

}  // namespace
}  // namespace fathom::profile
