// SPDX-License-Identifier: BSD-3-Clause
// Joining messages and collectives: cases written by hand where the order matters, and random ones
// compared with a plain simulation of MPI's matching.
#include "analysis/engine/joined_job.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <map>
#include <random>

#include "base/flat_map.h"
#include "test/unit/engine/joined_job.h"
#include "trace/join/channels.h"

namespace fathom::analysis {
namespace {

using test::Joined;
using test::MadeJob;

trace::ChannelEnd end(std::uint64_t time_ns, std::uint32_t step) {
  return {time_ns, time_ns, 0, step};
}

TEST_CASE("a flat map holds what std::map holds") {
  std::mt19937 random(5);
  base::FlatMap<std::uint64_t, int> flat;
  std::map<std::uint64_t, int> plain;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t key = random() % 700;
    if (random() % 3 == 0) {
      CHECK(flat.erase(key) == (plain.erase(key) == 1));
    } else {
      flat[key] = i;
      plain[key] = i;
    }
  }
  CHECK(flat.size() == plain.size());
  for (const auto& [key, value] : plain) {
    REQUIRE(flat.find(key) != nullptr);
    CHECK(*flat.find(key) == value);
  }
}

TEST_CASE("receives take messages in posting order even if the second completes first") {
  trace::Channels channels;
  trace::Channels::Joined joined;
  const trace::Channels::Key key{0, 1, 7};
  const auto first = channels.post(key), second = channels.post(key);
  channels.send(key, end(1, 100), joined);
  channels.send(key, end(2, 101), joined);
  channels.receive(key, second, end(5, 1), joined);
  CHECK(joined.empty());  // the first may still get it
  channels.receive(key, first, end(9, 0), joined);
  REQUIRE(joined.size() == 2);
  CHECK(joined[0].sent.step == 100);
  CHECK(joined[0].received.step == 0);
  CHECK(joined[1].sent.step == 101);
  CHECK(joined[1].received.step == 1);
}

TEST_CASE("messages of which one end came before the window do not shift the others") {
  const trace::Channels::Key key{0, 1, 7};
  for (const bool sent_before : {true, false}) {
    trace::Channels channels;
    trace::Channels::Joined joined;
    channels.open(key, sent_before ? 12 : 5, sent_before ? 10 : 7);
    channels.open({0, 2, 7}, 3, 3);
    // Two ends are alone: receives of what was sent before, or sends of what was received before.
    for (std::uint32_t i = 0; i < 5; ++i) {
      if (sent_before || i < 3) channels.receive_now(key, end(10 + i, i), joined);
      if (!sent_before || i < 3) channels.send(key, end(10 + i, 100 + i), joined);
    }
    REQUIRE(joined.size() == 3);
    for (std::uint32_t i = 0; i < 3; ++i) {
      CHECK(joined[i].sent.step == 100 + i + (sent_before ? 0 : 2));
      CHECK(joined[i].received.step == i + (sent_before ? 2 : 0));
    }
    CHECK(channels.unmatched().sends == (sent_before ? 0 : 2));
    CHECK(channels.unmatched().receives == (sent_before ? 2 : 0));
  }
}

TEST_CASE("a receive posted before a late trace comes before those that were posted in it") {
  const trace::Channels::Key key{0, 1, 7};
  for (const bool late : {true, false}) {
    trace::Channels channels;
    trace::Channels::Joined joined;
    if (late) channels.begins_late();
    channels.open(key, 4, 4);
    const auto in_it = channels.post(key);
    channels.send(key, end(1, 100), joined);
    channels.send(key, end(2, 101), joined);
    channels.receive_now(key, end(3, 0), joined, true);  // of a request that nobody saw posted
    CHECK(joined.size() == (late ? 1 : 0));
    channels.receive(key, in_it, end(4, 1), joined);
    REQUIRE(joined.size() == 2);
    // Elsewhere such a request is one that was posted last.
    CHECK(joined[0].received.step == (late ? 0 : 1));
    CHECK(joined[0].sent.step == 100);
  }
}

TEST_CASE("an earlier wildcard delays a receive until the wildcard matches or is cancelled") {
  for (const bool cancelled : {false, true}) {
    trace::Channels channels;
    trace::Channels::Joined joined;
    const trace::Channels::Key key{0, 1, 7};
    const auto wild = channels.post({0, trace::kAnySource, trace::kAnyTag});
    const auto named = channels.post(key);
    channels.send(key, end(1, 100), joined);
    channels.receive(key, named, end(5, 1), joined);
    CHECK(joined.empty());
    if (cancelled) {
      channels.withdraw(wild, joined);
    } else {
      channels.receive({0, 2, 7}, wild, end(6, 0), joined);
    }
    REQUIRE(joined.size() == 1);
    CHECK(joined[0].sent.step == 100);
    CHECK(joined[0].received.step == 1);
  }
}

TEST_CASE("a loss separates earlier from later messages on either side") {
  const trace::Channels::Key key{0, 1, 7};
  for (const bool at_source : {false, true}) {
    CAPTURE(at_source);
    trace::Channels channels;
    trace::Channels::Joined joined;
    if (!at_source) {
      channels.send(key, end(1, 100), joined);  // its receive is lost
      channels.loss_here(10, joined);
      channels.send(key, end(20, 101), joined);
      channels.receive_now(key, end(21, 1), joined);
    } else {
      channels.receive_now(key, end(5, 0), joined);  // its send is lost
      channels.loss_at_source(1, 10, joined);
      channels.receive_now(key, end(21, 1), joined);
      channels.send(key, end(20, 101), joined);
    }
    REQUIRE(joined.size() == 1);
    CHECK(joined[0].sent.step == 101);
    CHECK(joined[0].received.step == 1);
    CHECK(channels.unmatched().sends == (at_source ? 0 : 1));
    CHECK(channels.unmatched().receives == (at_source ? 1 : 0));
  }
}

// One receiver as MPI has it: a list of posted receives, a list of kept messages.
struct Simulated {
  struct Receive {
    trace::Channels::Posted posted;
    std::uint32_t number;
  };
  static bool fits(const trace::Channels::Key& posted, const trace::Channels::Key& key) {
    return (posted.source == trace::kAnySource || posted.source == key.source) &&
           (posted.tag == trace::kAnyTag || posted.tag == key.tag);
  }
  std::list<Receive> posted;
  std::list<std::pair<trace::Channels::Key, std::uint32_t>> kept;
};

TEST_CASE("messages are joined as MPI matched them, whichever side is seen first") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Simulated world;
    trace::Channels channels;
    trace::Channels::Joined joined;
    std::map<std::uint32_t, std::uint32_t> truth;  // receive -> send
    struct Arrived {
      trace::Channels::Key key;
      trace::Channels::Posted posted;
      std::uint32_t receive;
    };
    std::vector<Arrived> arrived;  // reported late, in any order
    std::vector<std::pair<trace::Channels::Key, std::uint32_t>> sends;
    const auto match = [&](const Simulated::Receive& receive, const trace::Channels::Key& key,
                           std::uint32_t send) {
      truth[receive.number] = send;
      arrived.push_back({key, receive.posted, receive.number});
    };
    for (std::uint32_t i = 0; i < 300; ++i) {
      const trace::Channels::Key key{0, static_cast<std::int32_t>(random() % 3),
                                     static_cast<std::int32_t>(random() % 2)};
      if (random() % 2 == 0) {
        sends.emplace_back(key, i);
        const auto found = std::find_if(world.posted.begin(), world.posted.end(),
                                        [&](const Simulated::Receive& receive) {
                                          return Simulated::fits(receive.posted.key, key);
                                        });
        if (found == world.posted.end()) {
          world.kept.emplace_back(key, i);
        } else {
          match(*found, key, i);
          world.posted.erase(found);
        }
      } else {
        trace::Channels::Key wanted = key;
        if (random() % 4 == 0) wanted.source = trace::kAnySource;
        if (random() % 4 == 0) wanted.tag = trace::kAnyTag;
        const Simulated::Receive receive{channels.post(wanted), i};
        const auto found = std::find_if(
            world.kept.begin(), world.kept.end(),
            [&](const auto& message) { return Simulated::fits(wanted, message.first); });
        if (found == world.kept.end()) {
          world.posted.push_back(receive);
        } else {
          match(receive, found->first, found->second);
          world.kept.erase(found);
        }
      }
      while (!arrived.empty() && random() % 3 == 0) {  // completions are reported in another order
        const std::size_t which = random() % arrived.size();
        const Arrived late = arrived[which];
        arrived.erase(arrived.begin() + static_cast<std::ptrdiff_t>(which));
        channels.receive(late.key, late.posted, end(i, late.receive), joined);
      }
      while (!sends.empty() && random() % 3 == 0) {
        channels.send(sends.front().first, end(i, sends.front().second), joined);
        sends.erase(sends.begin());
      }
    }
    for (const Simulated::Receive& receive : world.posted)
      channels.withdraw(receive.posted, joined);
    for (const Arrived& late : arrived)
      channels.receive(late.key, late.posted, end(999, late.receive), joined);
    for (const auto& [key, send] : sends) channels.send(key, end(999, send), joined);
    CHECK(joined.size() == truth.size());
    for (const trace::JoinedEnds& one : joined) CHECK(truth[one.received.step] == one.sent.step);
    CHECK(channels.unmatched().sends == world.kept.size());
    CHECK(channels.unmatched().receives == 0);
  }
}

std::vector<Step> of(const Joined& joined, std::uint32_t process, StepKind kind) {
  std::vector<Step> found;
  for (std::uint32_t i = 0; i < joined->steps().size(process); ++i) {
    if (joined->steps().at(process, i).kind == kind)
      found.push_back(joined->steps().at(process, i));
  }
  return found;
}

TEST_CASE("a job's steps hold calls, messages with both ends, and completions") {
  MadeJob made(2);
  made.isend(0, 100, 66, 1, 5, 1000);
  made.wait(0, 130, 150, 66);
  made.irecv(1, 50, 77, 0, 5, 1000);
  made.wait_receive(1, 70, 270, 77, 0, 5, 1000);
  const Joined joined(made);
  CHECK(joined->summary().messages == 1);
  const auto sends = of(joined, 0, StepKind::kSend), receives = of(joined, 1, StepKind::kReceive);
  REQUIRE(sends.size() == 1);
  REQUIRE(receives.size() == 1);
  CHECK(sends[0].end_ns == 50);  // when the receive was posted
  CHECK(sends[0].has(kByRequest));
  CHECK(receives[0].end_ns == 100);  // when the send was entered
  CHECK(receives[0].partner == 0);
  CHECK(joined->steps().at(0, receives[0].partner_step).kind == StepKind::kSend);
  const auto done = of(joined, 1, StepKind::kDone);
  REQUIRE(done.size() == 1);
  CHECK(joined->steps().at(1, done[0].partner_step).kind == StepKind::kReceive);
  const auto calls = of(joined, 1, StepKind::kCall);
  REQUIRE(calls.size() == 2);
  CHECK(calls[1].time_ns == 70);
  CHECK(calls[1].end_ns == 270);
  CHECK(joined->site_address(1, calls[1]) != 0);
}

TEST_CASE("collectives know whom each member had to wait for") {
  MadeJob made(3);
  const std::uint64_t entered[] = {100, 300, 200};
  for (int rank = 0; rank < 3; ++rank) {
    std::uint64_t now = entered[rank];
    for (const char* function : {"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Scan"}) {
      made.collective(rank, now, now + 50, function,
                      function[4] == 'B' && function[5] == 'a' ? -1 : 1);
      now += 1000;
    }
  }
  const Joined joined(made);
  CHECK(joined->summary().collectives == 12);
  const auto at = [&](std::uint32_t process, std::size_t which) {
    return of(joined, process, StepKind::kCollective)[which];
  };
  CHECK(at(0, 0).end_ns == 300);
  CHECK(at(0, 0).partner == 1);
  CHECK(at(1, 0).partner == 1);
  CHECK(at(2, 0).bytes == 150);    // the first left
  CHECK(at(0, 1).end_ns == 1300);  // the root
  CHECK(at(1, 1).partner == kNobody);
  CHECK(at(0, 2).partner == kNobody);
  CHECK(at(1, 2).end_ns == 2200);  // the last of the others
  CHECK(at(1, 2).partner == 2);
  CHECK(at(0, 3).partner == kNobody);
  CHECK(at(1, 3).partner == 0);
  CHECK(at(2, 3).partner == 1);
  CHECK(at(2, 3).end_ns == 3300);
}

TEST_CASE("a process that lost records leaves the collectives, and the rest is joined") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    made.collective(rank, 100, 150, "MPI_Barrier");
    if (rank == 1) made.add(1, trace::EventKind::kLost, 160).count = 3;
    made.collective(rank, 200, 250, "MPI_Barrier");
    made.send(rank, 300, 310, 1 - rank);
    made.receive(rank, 320, 340, 1 - rank);
  }
  const Joined joined(made);
  CHECK(joined->summary().collectives == 2);
  CHECK(joined->summary().left_out_parts == 1);
  CHECK(joined->summary().messages == 2);
  CHECK(joined->summary().processes[1].lost_records == 3);
}

TEST_CASE("after a pause at the same operation everywhere, collectives are joined again") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    made.collective(rank, 100, 150, "MPI_Barrier");
    if (rank == 1) made.collective(rank, 160, 170, "MPI_Barrier");  // not seen at rank 0
    made.add(rank, trace::EventKind::kPause, 180).code = 1;
    made.add(rank, trace::EventKind::kResume, 190);
    made.collective(rank, 200, 250, "MPI_Barrier");
  }
  const Joined joined(made);
  CHECK(joined->summary().collectives == 4);
  CHECK(joined->summary().left_out_parts == 1);
  CHECK(of(joined, 1, StepKind::kCollective).back().end_ns == 200);
}

TEST_CASE("persistent requests, cancelled receives and sends with one number are joined") {
  MadeJob made(2);
  // Two sends complete at once get the same number from Open MPI.
  made.isend(0, 100, 5, 1, 1);
  made.isend(0, 110, 5, 1, 2);
  made.enter(0, 120, "MPI_Waitall");
  made.complete(0, 130, 5);
  made.complete(0, 130, 5);
  made.leave(0, 140, "MPI_Waitall");
  made.irecv(1, 100, 7, 0, 9);
  made.enter(1, 110, "MPI_Wait").request = 7;
  made.complete(1, 115, 7, true);
  made.leave(1, 120, "MPI_Wait");
  made.receive(1, 130, 150, 0, 2);
  made.receive(1, 160, 170, 0, 1);
  const Joined joined(made);
  CHECK(joined->summary().messages == 2);
  const auto done = of(joined, 0, StepKind::kDone);
  REQUIRE(done.size() == 2);
  CHECK(done[0].partner_step != done[1].partner_step);
  CHECK(joined->steps().at(0, done[0].partner_step).number == 1);
  REQUIRE(of(joined, 1, StepKind::kDone).size() == 1);
  CHECK(of(joined, 1, StepKind::kDone)[0].has(kCancelled));
}

TEST_CASE("a message that arrives before it was sent is reported as a clock error") {
  MadeJob made(2);
  made.definitions.processes[1].host = "n2";
  made.send(0, 1000, 1010, 1);
  made.receive(1, 400, 700, 0);
  const Joined joined(made);
  CHECK(joined->summary().processes[1].clock_errors == 1);
  CHECK(joined->summary().processes[1].worst_clock_error_ns == 1001 - 699);
  CHECK(joined->uncertainty_ns(0, 1) == 302);
}

TEST_CASE("a collective left before the others' data was there is reported as a clock error") {
  const auto one = [](const char* function, std::uint64_t late_bytes) {
    MadeJob made(2);
    made.definitions.processes[1].host = "n2";
    made.collective(0, 100, 200, function);
    made.collective(1, 500, 600, function, -1, 0, late_bytes);
    const Joined joined(made);
    CHECK(joined->summary().processes[1].early_collectives == 0);
    CHECK(joined->summary().processes[0].worst_clock_error_ns == joined->uncertainty_ns(0, 1));
    return joined->summary().processes[0].early_collectives == 1 ? joined->uncertainty_ns(0, 1) : 0;
  };
  CHECK(one("MPI_Barrier", 0) == 300);
  CHECK(one("MPI_Allreduce", 8) == 300);
  CHECK(one("MPI_Allgather", 8) == 300);
  // What rank 1 does not send, or perhaps not to rank 0, rank 0 need not wait for.
  CHECK(one("MPI_Allgather", 0) == 0);
  CHECK(one("MPI_Alltoallv", 8) == 0);
}

TEST_CASE("a rooted collective shows clock errors only where the root's data go") {
  const auto error = [](const char* function, int root) {
    MadeJob made(2);
    made.definitions.processes[1].host = "n2";
    made.collective(0, 100, 200, function, root);
    made.collective(1, 500, 600, function, root);
    return Joined(made)->uncertainty_ns(0, 1);
  };
  CHECK(error("MPI_Bcast", 1) == 300);
  CHECK(error("MPI_Bcast", 0) == 0);
  CHECK(error("MPI_Gather", 0) == 300);
  CHECK(error("MPI_Gather", 1) == 0);
  CHECK(error("MPI_Scatterv", 1) == 0);
}

TEST_CASE("an empty trace and messages to ranks without a trace are joined") {
  MadeJob made(2);
  made.definitions.processes.pop_back();
  made.send(0, 10, 20, 1);
  const test::Scratch scratch;
  MadeJob alone_job(1);
  alone_job.definitions = made.definitions;
  alone_job.enter(0, 5, "MPI_Send").peer = 1;
  SingleProcess alone;
  {
    const trace::Trace trace = alone_job.written(scratch / "cut");
    auto job = join_job(trace, alone, {});
    REQUIRE(job.ok());
    CHECK((*job)->steps().size(0) == 1);
    CHECK((*job)->steps().at(0, 0).has(kCut));
  }
  MadeJob nothing(1);
  const trace::Trace trace = nothing.written(scratch / "nothing");
  auto job = join_job(trace, alone, {});
  REQUIRE(job.ok());
  CHECK((*job)->summary().events == 0);
}

TEST_CASE("the longest traces go to the emptiest owners, and none is forgotten") {
  const std::vector<std::uint64_t> loads = {5, 100, 5, 60, 50, 5};
  const Mapping mapping = longest_first(loads, 2);
  const auto sums = load_of_owners(mapping, loads, 2);
  CHECK(std::max(sums[0], sums[1]) == 115);
  for (const auto owner : longest_first(loads, 9)) CHECK(owner < 9);
}

TEST_CASE("neighbours stay together if the load is as even, otherwise the longest go first") {
  CHECK(neighbours_together({10, 10, 10, 10, 10, 10, 10, 10}, 2) ==
        Mapping{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(neighbours_together({10, 10, 10, 10, 10}, 3) == Mapping{0, 0, 1, 2, 2});
  CHECK(neighbours_together({30, 10, 10, 10}, 2) == Mapping{0, 1, 1, 1});
  const std::vector<std::uint64_t> uneven = {60, 100, 60};
  CHECK(neighbours_together(uneven, 2) == longest_first(uneven, 2));
  CHECK(neighbours_together({7, 9}, 5).size() == 2);
  for (const auto owner : neighbours_together({7, 9, 0, 0}, 5)) CHECK(owner < 5);
  CHECK(neighbours_together({}, 3).empty());
  CHECK(neighbours_together({0, 0, 0}, 1) == Mapping{0, 0, 0});
}

}  // namespace
}  // namespace fathom::analysis
