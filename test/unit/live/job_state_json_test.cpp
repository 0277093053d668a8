// SPDX-License-Identifier: BSD-3-Clause
// The state of a job as JSON: what was written is read, and what is no such state is refused.
#include "live/job_state_json.h"

#include <doctest/doctest.h>

#include "made_job.h"

namespace fathom::live {
namespace {

JobState whole_state() {
  MadeJob job(3);
  job.receive(0, kAnyone, kAnyone);
  job.send(1, 2, 7).pending_left_out = 3;
  job.collective(2, "MPI_Bcast", 4).root = 1;
  job.thread(2).pending.push_back({RequestKind::kCollective, kUnknown, kUnknown, kWorld, 0});
  job.thread(0).root = kNobody;
  job.rank(2).state = ProcessState::kStopped;
  job.rank(2).collectives = {{kWorld, 4}};
  job.rank(1).unexpected = 5;
  job.rank(1).queues = QueueAccess::kRead;
  job.rank(2).queues = QueueAccess::kNotPermitted;
  job.state.communicators.push_back({~0ULL, "inter", {0}, {1, 2}});
  job.state.pairs.push_back({0, 1, "p2p", 3, 300, 2, 200});
  job.state.hosts_late = {"node2"};
  job.state.taken_at_s = 1.5e9;
  return job.state;
}

TEST_CASE("what was written is read") {
  const JobState state = whole_state();
  const std::string text = json_of(state);
  const auto read = parse_job_state(text, "made.json");
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
  CHECK(json_of(*read) == text);
  CHECK(read->communicators[1].id == ~0ULL);
  CHECK(read->communicators[1].remote == std::vector<std::int32_t>{1, 2});
  CHECK(read->ranks[0].threads[0].pending[0].peer == kAnyone);
  CHECK(read->ranks[0].threads[0].root == kNobody);
  CHECK(read->ranks[2].threads[0].pending[0].peer == kUnknown);
  CHECK(read->ranks[2].threads[0].pending[0].kind == RequestKind::kCollective);
  CHECK(read->ranks[2].state == ProcessState::kStopped);
  CHECK(read->ranks[1].channels[0].tag == 7);
  CHECK(read->ranks[1].unexpected == 5);
  CHECK_FALSE(read->ranks[2].unexpected);
  CHECK(text.find("\"unexpected\": null") != std::string::npos);
  CHECK(read->ranks[2].queues == QueueAccess::kNotPermitted);
}

TEST_CASE("members of a later version are ignored") {
  CHECK(parse_job_state(R"({"schema":"fathom-live/1","x":[{"y":1}],"ranks":[{"rank":2,"z":{}}]})",
                        "f")
            .ok());
}

TEST_CASE("what is no state of a job is refused with its place") {
  const auto refused = [](const char* text, const char* part) {
    const auto read = parse_job_state(text, "f.json");
    REQUIRE_FALSE(read.ok());
    CAPTURE(read.error().message);
    CHECK(read.error().message.find(part) != std::string::npos);
  };
  refused("{}", "not the state of a running job");
  refused("[]", "f.json");
  refused("", "f.json");
  refused(R"({"schema":"fathom-profile/1"})", "not the state of a running job");
  refused(R"({"schema":"fathom-live/1","ranks":[{"state":"asleep"}]})", "\"asleep\"");
  refused(R"({"schema":"fathom-live/1","ranks":[{"rank":-1}]})", "rank");
  refused(R"({"schema":"fathom-live/1","ranks":[{"rank":99999999999}]})", "rank");
  refused(R"({"schema":"fathom-live/1","communicators":[{"members":[99999999999]}]})", "members");
  refused(R"({"schema":"fathom-live/1","ranks":[{"threads":[{"pending":[{"peer":"all"}]}]}]})",
          "\"all\"");
  const std::string whole = json_of(whole_state());
  for (std::size_t length = 0; length + 2 < whole.size(); length += 7)
    CHECK_FALSE(parse_job_state(std::string_view(whole).substr(0, length), "cut").ok());
}

}  // namespace
}  // namespace fathom::live
