// SPDX-License-Identifier: BSD-3-Clause
// Verdicts on jobs that hang: each cause, with its culprits and what the sentence names.
#include "live/verdict/verdict.h"

#include <doctest/doctest.h>

#include "made_job.h"

namespace fathom::live {
namespace {

using Ranks = std::vector<std::int32_t>;

Verdict verdict_on(const MadeJob& job) { return judge(job.state, job.earlier()); }

void check(const Verdict& verdict, Cause cause, const Ranks& culprits) {
  CAPTURE(verdict.text);
  CHECK(std::string(name_of(verdict.cause)) == name_of(cause));
  CHECK(verdict.culprits == culprits);
}

void names(const Verdict& verdict, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    CAPTURE(verdict.text);
    CAPTURE(part);
    CHECK(verdict.text.find(part) != std::string::npos);
  }
}

TEST_CASE("a collective waits for a rank that waits for a rank that computes") {
  MadeJob job(64);
  for (int rank = 0; rank < 64; ++rank) {
    if (rank != 5 && rank != 9) job.collective(rank, "MPI_Allreduce", 18204);
  }
  job.receive(5, 9, 7);
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kSlowRank, {9});
  CHECK_FALSE(verdict.hung);
  CHECK(verdict.victims.size() == 63);
  names(verdict, {"62 of 64 ranks have been in MPI_Allreduce #18,204 on MPI_COMM_WORLD "
                  "(solver.c:221) for 41 s",
                  "it has been computing for 42 s, since its call at solver.c:10"});
}

TEST_CASE("the chain to a rank that died is told") {
  MadeJob job(8);
  for (int rank = 0; rank < 8; ++rank) job.collective(rank, "MPI_Allreduce", 3);
  job.thread(5) = {};
  job.receive(5, 2, 7).calls = 7;
  job.thread(2) = {};
  job.receive(2, 3, 4);
  job.rank(3).state = ProcessState::kGone;
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kProcessGone, {3});
  CHECK(verdict.hung);
  CHECK(verdict.victims == Ranks{0, 1, 2, 4, 5, 6, 7});
  names(verdict, {"its process is gone (process 1003 on node1)"});
}

TEST_CASE("a member waits for another one that is in the collective already") {
  MadeJob job(4);
  for (int rank = 0; rank < 3; ++rank) job.collective(rank, "MPI_Barrier", 3);
  job.receive(3, 0, 7);
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kMissingParticipant, {3});
  CHECK(verdict.hung);
  names(verdict, {"3 of 4 ranks have been in MPI_Barrier #3 on MPI_COMM_WORLD",
                  "rank 3 is not there", "MPI_Recv from 0, tag 7 (halo.c:88)"});
}

TEST_CASE("a member of a collective has left MPI") {
  MadeJob job(4);
  for (int rank = 0; rank < 3; ++rank) job.collective(rank, "MPI_Barrier", 3);
  job.call(3, "MPI_Finalize", "main.c:99");
  job.rank(3).state = ProcessState::kFinalizing;
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kProcessFinalizing, {3});
  CHECK(verdict.hung);
  CHECK(verdict.victims == Ranks{0, 1, 2});
  names(verdict, {"rank 3 is not there: it is in MPI_Finalize (main.c:99)"});
}

TEST_CASE("different collectives on one communicator") {
  MadeJob job(4);
  for (int rank = 0; rank < 3; ++rank) job.collective(rank, "MPI_Allreduce", 5);
  job.collective(3, "MPI_Barrier", 5);
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kDifferentCollectives, {3});
  CHECK(verdict.hung);
  names(verdict, {"ranks 0-2 in MPI_Allreduce (solver.c:221)", "rank 3 in MPI_Barrier"});
}

TEST_CASE("a root that left its broadcast is in the next collective, where the others are not") {
  MadeJob job(4);
  for (int rank = 1; rank < 4; ++rank) job.collective(rank, "MPI_Allreduce", 5);
  job.collective(0, "MPI_Barrier", 6);
  check(verdict_on(job), Cause::kDifferentCollectives, {0});
}

TEST_CASE("different roots") {
  MadeJob job(4);
  for (int rank = 0; rank < 4; ++rank)
    job.collective(rank, "MPI_Reduce", 5).root = rank == 2 ? 1 : 0;
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kDifferentRoots, {2});
  names(verdict, {"ranks 0, 1, 3 with root 0", "rank 2 with root 1"});
}

TEST_CASE("different sizes") {
  MadeJob job(4);
  for (int rank = 0; rank < 4; ++rank)
    job.collective(rank, "MPI_Allreduce", 5).bytes = rank == 1 ? 80000 : 8;
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kDifferentSizes, {1});
  names(verdict, {"rank 1 with 80,000 bytes", "ranks 0, 2, 3 with 8 bytes"});
}

TEST_CASE("a collective that the others have left") {
  MadeJob job(4);
  for (int rank = 0; rank < 3; ++rank) job.collective(rank, "MPI_Barrier", 6);
  for (const char* function : {"MPI_Bcast", "MPI_Alltoallv"}) {
    job.collective(3, function, 5).bytes = 4000;
    Verdict verdict = verdict_on(job);
    check(verdict, Cause::kDifferentSizes, {3});
    CHECK(verdict.hung);
    names(verdict, {"Rank 3 has been in ", " with 4,000 bytes for ", "which ranks 0-2 have left"});
    job.thread(3).since_s = 5;  // the message may be long
    verdict = verdict_on(job);
    CHECK(verdict.cause != Cause::kDifferentSizes);
    CHECK_FALSE(verdict.hung);
    job.thread(3).since_s = 60;
    JobState earlier = job.earlier();
    earlier.ranks[3].received += 1;  // messages still flow
    CHECK(judge(job.state, earlier).cause != Cause::kDifferentSizes);
  }
}

TEST_CASE("a cycle of receives, and ranks that wait for it") {
  MadeJob job(4);
  job.receive(0, 1, 5);
  job.receive(1, 0, 5);
  job.receive(2, 0, 9);
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kCycleOfReceives, {0, 1});
  CHECK(verdict.hung);
  CHECK(verdict.victims == Ranks{0, 1, 2});
  names(verdict, {"Ranks 0, 1 wait for each other",
                  "rank 0 is in MPI_Recv from 1, tag 5 (halo.c:88)", "1 more rank waits for them"});
}

TEST_CASE("a ring of rendezvous sends") {
  MadeJob job(8);
  for (int rank = 0; rank < 8; ++rank) job.send(rank, (rank + 1) % 8, 1);
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kCycleOfSends, {0, 1, 2, 3, 4, 5, 6, 7});
  names(verdict, {"Ranks 0-7 wait for each other", "and so on for 3 more"});
}

TEST_CASE("a cycle of a send and a receive with another tag names the tag") {
  MadeJob job(2);
  job.send(0, 1, 8);
  job.receive(1, 0, 7);
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kUnmatchedMessage, {0});
  names(verdict,
        {"Rank 1 has been in MPI_Recv from 0, tag 7", "rank 0 has sent 1 message with tag 8"});
}

TEST_CASE("a cycle of a send and a receive") {
  MadeJob job(3);
  job.send(0, 1, 8);
  job.receive(1, 2, 7);
  job.receive(2, 0, 9);
  check(verdict_on(job), Cause::kCycle, {0, 1, 2});
}

TEST_CASE("a message went to another rank, or on another communicator") {
  MadeJob job(4);
  job.receive(1, 0, 7);
  job.collective(0, "MPI_Barrier", 1);
  job.collective(2, "MPI_Barrier", 1);
  job.collective(3, "MPI_Barrier", 1);
  job.sent(0, 2, 7, 1);
  Verdict verdict = verdict_on(job);
  check(verdict, Cause::kUnmatchedMessage, {0});
  names(verdict, {"rank 0 has sent 1 message with tag 7 to rank 2 instead"});
  job.rank(0).channels.clear();
  job.state.communicators.push_back({2, "solver", {0, 1}, {}});
  job.sent(0, 1, 7, 3, 2);
  verdict = verdict_on(job);
  check(verdict, Cause::kUnmatchedMessage, {0});
  names(verdict, {"3 messages on solver instead", "the receive is on MPI_COMM_WORLD"});
}

TEST_CASE("a stopped process") {
  MadeJob job(4);
  for (int rank = 0; rank < 3; ++rank) job.collective(rank, "MPI_Barrier", 3);
  job.rank(3).state = ProcessState::kStopped;
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kProcessStopped, {3});
  CHECK(verdict.hung);
  names(verdict, {"rank 3 is not there: its process is stopped (process 1003 on node1)"});
}

TEST_CASE("two communicators used in different orders") {
  MadeJob job(2);
  job.state.communicators.push_back({2, "a", {0, 1}, {}});
  job.state.communicators.push_back({3, "b", {0, 1}, {}});
  job.collective(0, "MPI_Barrier", 1, 2);
  job.collective(1, "MPI_Barrier", 1, 3);
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kCycleOfCollectives, {0, 1});
  names(verdict, {"MPI_Barrier #1 on a (solver.c:221), where rank 1 is missing"});
}

TEST_CASE("any source: stuck only if every rank is") {
  MadeJob job(3);
  job.receive(0, kAnyone, kAnyone);
  job.receive(1, 0, 1);
  check(verdict_on(job), Cause::kSlowRank, {2});
  job.receive(2, 0, 1);
  Verdict verdict = verdict_on(job);
  CHECK(verdict.hung);
  check(verdict, Cause::kCycleOfReceives, {0, 1, 2});
  job.sent(1, 0, 4, 1);  // it has only to be taken
  CHECK(verdict_on(job).cause == Cause::kLibrary);
}

TEST_CASE("Waitany needs any request, Waitall needs all") {
  MadeJob job(3);
  ThreadState& thread = job.call(0, "MPI_Waitany", "main.c:1");
  thread.pending = {{RequestKind::kReceive, 1, 5, kWorld, 8},
                    {RequestKind::kReceive, 2, 5, kWorld, 8}};
  job.receive(1, 0, 5);
  CHECK_FALSE(verdict_on(job).hung);  // rank 2 computes, and may send
  thread.function = "MPI_Waitall";
  thread.waits_for_all = true;
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kCycleOfReceives, {0, 1});
  names(verdict, {"MPI_Waitall, receiving from 1, tag 5 (main.c:1)"});
}

TEST_CASE("a polling loop that does nothing else takes part in a deadlock") {
  MadeJob job(2);
  job.call(0, "MPI_Test", "poll.c:7").pending = {{RequestKind::kReceive, 1, 5, kWorld, 8}};
  job.receive(1, 0, 5);
  JobState earlier = job.earlier();
  job.thread(0).calls += 1'000'000;
  job.thread(0).since_s = 1e-7;
  CHECK(judge(job.state, earlier).hung);
  earlier.ranks[0].mpi_s = job.rank(0).mpi_s - 0.2;  // it computes between its tests
  CHECK_FALSE(judge(job.state, earlier).hung);
}

TEST_CASE("a loop that works between its tests is not hung where ranks share processors") {
  MadeJob job(2);
  job.call(0, "MPI_Test", "poll.c:7").pending = {{RequestKind::kReceive, 1, 5, kWorld, 8}};
  job.receive(1, 0, 5);
  JobState earlier = job.earlier();
  job.thread(0).since_s = 1e-7;
  job.thread(0).calls += 40;  // MPI_Test gives the processor to others: it takes most of the time
  CHECK_FALSE(judge(job.state, earlier).hung);
  job.thread(0).calls += 4'000;
  CHECK(judge(job.state, earlier).hung);
}

TEST_CASE("everyone is in the collective, and it does not end") {
  MadeJob job(4);
  for (int rank = 0; rank < 4; ++rank) job.collective(rank, "MPI_Allreduce", 18);
  const Verdict verdict = verdict_on(job);
  CHECK(verdict.cause == Cause::kLibrary);
  CHECK(verdict.hung);
  names(verdict, {"4 of 4 ranks have been in MPI_Allreduce #18", "although nobody is missing"});
  JobState earlier = job.earlier();
  for (RankState& rank : earlier.ranks) rank.sent += 1;  // messages still flow
  for (RankState& rank : job.state.ranks) rank.sent += 9;
  CHECK_FALSE(judge(job.state, earlier).hung);
}

TEST_CASE("a rank that neither computes nor communicates is told from one that computes") {
  MadeJob job(4);
  for (int rank = 0; rank < 3; ++rank) job.collective(rank, "MPI_Barrier", 3);
  JobState earlier = job.earlier();
  earlier.ranks[3].processor_s = job.rank(3).processor_s;
  const Verdict verdict = judge(job.state, earlier);
  check(verdict, Cause::kIdleRank, {3});
  CHECK_FALSE(verdict.hung);
  names(verdict, {"uses no processor"});
}

TEST_CASE("a rank without recent samples is not called stuck") {
  MadeJob job(4);
  for (int rank = 0; rank < 3; ++rank) job.receive(rank, 3, 1);
  job.receive(3, 0, 1);
  CHECK(verdict_on(job).hung);
  job.rank(3).sample_age_s = 12;
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kNotSeen, {3});
  CHECK_FALSE(verdict.hung);
  names(verdict, {"node1 has sent no sample of it for 12 s"});
}

TEST_CASE("the core with most victims is told, the others are counted") {
  MadeJob job(6);
  job.receive(0, 1, 1);
  job.receive(1, 0, 1);
  job.receive(2, 3, 1);
  job.receive(3, 2, 1);
  job.receive(4, 3, 1);
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kCycleOfReceives, {2, 3});
  CHECK(verdict.further == 1);
}

// ---- slow, but alive

TEST_CASE("a cycle that one sample shows is no deadlock if a rank has moved") {
  MadeJob job(2);
  job.receive(0, 1, 5);
  job.receive(1, 0, 5);
  const JobState earlier = job.earlier();
  job.thread(1).calls += 1;
  CHECK_FALSE(judge(job.state, earlier).hung);
  job.thread(1).calls -= 1;
  job.thread(1).since_s = 0.1;
  CHECK_FALSE(judge(job.state, earlier).hung);
}

TEST_CASE("a message that is on its way breaks the cycle") {
  MadeJob job(2);
  job.receive(0, 1, 5);
  job.receive(1, 0, 5);
  job.sent(1, 0, 5, 4);
  job.received(0, 1, 5, 3);
  check(verdict_on(job), Cause::kLibrary, {0});
}

TEST_CASE("a large message whose sender computes is on its way") {
  MadeJob job(2);
  job.receive(0, 1, 5);
  job.sent(1, 0, 5, 4);
  job.received(0, 1, 5, 3);
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kSlowRank, {1});
  CHECK_FALSE(verdict.hung);
  names(verdict, {"rank 1 has begun to send it, and has to call MPI to go on"});
}

TEST_CASE("messages that wait at a slow rank are told") {
  MadeJob job(2);
  job.receive(0, 1, 5);
  job.rank(0).unexpected = 0;
  job.rank(1).unexpected = 1;
  names(verdict_on(job), {"since its call at solver.c:10, while 1 message waits unexpected there"});
  job.rank(1).unexpected = 1200;
  names(verdict_on(job), {"while 1,200 messages wait unexpected there"});
  job.rank(1).unexpected.reset();
  CHECK(verdict_on(job).text.find("unexpected") == std::string::npos);
}

TEST_CASE("a non-blocking collective waits for members that compute meanwhile") {
  MadeJob job(3);
  for (int rank = 0; rank < 2; ++rank) {
    job.collective(rank, "MPI_Wait", 4).waits_for_all = true;
    job.thread(rank).pending = {{RequestKind::kCollective, kUnknown, kUnknown, kWorld, 8}};
  }
  job.rank(2).collectives = {{kWorld, 4}};
  Verdict verdict = verdict_on(job);
  check(verdict, Cause::kSlowRank, {2});
  names(verdict, {"rank 2 has to call MPI for it to go on"});
  job.rank(2).collectives = {{kWorld, 3}};
  verdict = verdict_on(job);
  names(verdict, {"rank 2 is not there: it has been computing"});
}

TEST_CASE("a pipeline waits for its first rank, which computes") {
  MadeJob job(16);
  for (int rank = 1; rank < 16; ++rank) job.receive(rank, rank - 1, 3);
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kSlowRank, {0});
  CHECK_FALSE(verdict.hung);
  CHECK(verdict.victims.size() == 15);
}

TEST_CASE("a rank that left a broadcast is not missing from it") {
  MadeJob job(4);
  for (int rank = 1; rank < 3; ++rank) job.collective(rank, "MPI_Bcast", 4).root = 0;
  job.rank(0).collectives = {{kWorld, 4}};
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kSlowRank, {3});
}

TEST_CASE("ranks that finalize wait for one that computes") {
  MadeJob job(4);
  for (int rank = 0; rank < 3; ++rank) {
    job.call(rank, "MPI_Finalize", "main.c:9");
    job.rank(rank).state = ProcessState::kFinalizing;
  }
  const Verdict verdict = verdict_on(job);
  check(verdict, Cause::kSlowRank, {3});
  CHECK_FALSE(verdict.hung);
}

TEST_CASE("a job in which everyone computes moves") {
  const Verdict verdict = verdict_on(MadeJob(4));
  CHECK(verdict.cause == Cause::kNothing);
  names(verdict, {"Nothing is stuck: 4 of 4 ranks"});
}

TEST_CASE("a job that has ended is not stuck") {
  MadeJob job(4);
  for (int rank = 0; rank < 4; ++rank) job.rank(rank).state = ProcessState::kEnded;
  CHECK_FALSE(verdict_on(job).hung);
}

TEST_CASE("another thread of the process may send") {
  MadeJob job(2);
  job.receive(0, 1, 5);
  job.receive(1, 0, 5);
  ThreadState worker;
  worker.thread = 1;
  job.rank(1).threads.push_back(worker);
  CHECK_FALSE(verdict_on(job).hung);
}

TEST_CASE("what a call waits for may be unknown") {
  MadeJob job(2);
  job.call(0, "MPI_Win_lock", "rma.c:5");
  const Verdict verdict = verdict_on(job);
  CHECK(verdict.cause == Cause::kUnexplained);
  CHECK_FALSE(verdict.hung);
}

TEST_CASE("of several requests, one that may be complete proves nothing") {
  MadeJob job(3);
  ThreadState& thread = job.call(0, "MPI_Waitall", "main.c:1");
  thread.waits_for_all = true;
  thread.pending = {{RequestKind::kReceive, 1, 5, kWorld, 8},
                    {RequestKind::kReceive, 2, 5, kWorld, 8}};
  job.receive(1, 0, 9);
  CHECK(verdict_on(job).hung);
  for (const int sender : {1, 2}) {
    job.sent(sender, 0, 5, 4);
    job.received(0, sender, 5, 4);
  }
  const Verdict verdict = verdict_on(job);  // rank 1 may have sent, and rank 2 computes
  check(verdict, Cause::kSlowRank, {2});
  CHECK_FALSE(verdict.hung);
}

TEST_CASE("a blocking send is counted when it returns") {
  MadeJob job(2);
  for (int rank = 0; rank < 2; ++rank) {
    ThreadState& thread = job.call(rank, "MPI_Send", "halo.c:80");
    thread.pending = {{RequestKind::kSend, 1 - rank, 5, kWorld, 1 << 20}};
    job.sent(rank, 1 - rank, 5, 7);
    job.received(rank, 1 - rank, 5, 7);
  }
  check(verdict_on(job), Cause::kCycleOfSends, {0, 1});
}

TEST_CASE("a blocking send with another tag is a near miss") {
  MadeJob job(2);
  job.send(0, 1, 8);
  job.rank(0).channels.clear();
  job.receive(1, 0, 7);
  check(verdict_on(job), Cause::kUnmatchedMessage, {0});
}

TEST_CASE("a rank that only polls is told from one that sleeps") {
  MadeJob job(2);
  job.collective(0, "MPI_Barrier", 3);
  JobState earlier = job.earlier();
  earlier.ranks[1].mpi_s = job.rank(1).mpi_s - 1.2;
  check(judge(job.state, earlier), Cause::kPollingRank, {1});
}

TEST_CASE("a member of the world that was never seen is named") {
  MadeJob job(4);
  for (int rank = 0; rank < 3; ++rank) job.collective(rank, "MPI_Barrier", 3);
  job.state.ranks.pop_back();
  job.state.communicators[0].members[3] = kUnknown;
  check(verdict_on(job), Cause::kNotSeen, {3});
}

TEST_CASE("nonsense is judged without harm") {
  MadeJob job(3);
  job.receive(0, 17, 5);
  job.receive(1, 1, 5);
  job.collective(2, "MPI_Barrier", 1, 99);
  (void)verdict_on(job);
  CHECK(judge({}, {}).cause == Cause::kNothing);
}

}  // namespace
}  // namespace fathom::live
