// SPDX-License-Identifier: BSD-3-Clause
// The engine's interface: sharing, callbacks by name and direction, steps of other processes,
// gathered results.
#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "analysis/engine/engine.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/engine/made_job.h"

namespace fathom::analysis {
namespace {

using test::MadeJob;

// Two analysis processes as threads of this one.
class Meeting {
 public:
  explicit Meeting(std::size_t size) : size_(size), sent_(size) {}
  std::vector<Transport::Bytes> exchange(std::size_t rank, std::vector<Transport::Bytes> outgoing) {
    std::unique_lock lock(mutex_);
    sent_[rank] = std::move(outgoing);
    wait(lock);
    std::vector<Transport::Bytes> incoming;
    for (auto& from : sent_) incoming.push_back(from[rank]);
    wait(lock);  // before anybody sends again
    return incoming;
  }

 private:
  void wait(std::unique_lock<std::mutex>& lock) {
    const std::size_t round = round_;
    if (++here_ == size_) {
      here_ = 0;
      ++round_;
      all_here_.notify_all();
    } else {
      all_here_.wait(lock, [&] { return round_ != round; });
    }
  }
  const std::size_t size_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::size_t here_ = 0, round_ = 0;
  std::vector<std::vector<Transport::Bytes>> sent_;
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(Meeting& meeting, std::size_t rank, std::size_t size)
      : meeting_(meeting), rank_(rank), size_(size) {}
  std::size_t rank() const override { return rank_; }
  std::size_t size() const override { return size_; }
  void begin_exchange(std::vector<Bytes> outgoing) override { outgoing_ = std::move(outgoing); }
  std::vector<Bytes> finish_exchange() override {
    return meeting_.exchange(rank_, std::move(outgoing_));
  }
  void barrier() override { exchange(std::vector<Bytes>(size_)); }

 private:
  Meeting& meeting_;
  std::size_t rank_, size_;
  std::vector<Bytes> outgoing_;
};

void chain(MadeJob& made) {
  made.send(0, 10, 20, 1);
  made.receive(1, 10, 30, 0);
  made.send(1, 40, 50, 2);
  made.receive(2, 10, 60, 1);
}

std::string written(MadeJob& made, const test::Scratch& scratch) {
  made.written(scratch / "run");
  return scratch / "run";
}

TEST_CASE(
    "callbacks are chosen by name and direction, and backward a receive comes before its send") {
  MadeJob made(3);
  chain(made);
  const test::Scratch scratch;
  auto opened = Engine::open(written(made, scratch));
  REQUIRE(opened.ok());
  Engine& engine = **opened;
  CHECK_FALSE(engine.parallel());
  std::string seen;
  const auto note = [&](char what) {
    return [&seen, what](const Visit& at, const Step&) {
      seen += what + std::to_string(at.process) + " ";
    };
  };
  engine.on(Direction::kForward, Moment::kSend, "sends", note('s'));
  engine.on(Direction::kForward, Moment::kReceive, "receives", note('r'));
  engine.on(Direction::kBackward, Moment::kSend, "sends", note('S'));
  engine.on(Direction::kBackward, Moment::kReceive, "receives", note('R'));
  auto called = engine.run(Direction::kForward);
  REQUIRE(called.ok());
  CHECK(*called == 4);
  CHECK(seen == "s0 r1 s1 r2 ");
  seen.clear();
  CHECK(engine.run(Direction::kBackward).ok());
  CHECK(seen == "R2 S1 R1 S0 ");
  seen.clear();
  CHECK(engine.remove(Direction::kForward, "sends"));
  CHECK_FALSE(engine.remove(Direction::kForward, "sends"));
  CHECK(engine.run(Direction::kForward).ok());
  CHECK(seen == "r1 r2 ");
}

TEST_CASE(
    "two processes share the job by a custom mapping, fetch each other's steps, and then work "
    "alone") {
  MadeJob made(3);
  chain(made);
  const test::Scratch scratch;
  const std::string run = written(made, scratch);
  Meeting meeting(2);
  // Doctest's checks work in one thread only, so these values are checked afterwards.
  struct Seen {
    std::vector<std::uint64_t> loads;
    std::vector<std::uint32_t> received, gathered_rows;
    bool own = false, unfetched = true, fetched = false, parallel = false, alone = false;
    std::uint64_t time_ns = 0, called_alone = 0;
  };
  Seen seen[2];
  const auto work = [&](std::size_t rank) {
    ThreadTransport transport(meeting, rank, 2);
    auto opened = Engine::open(run, &transport);
    Engine& engine = **opened;
    engine.set_mapping([](const std::vector<std::uint64_t>&, std::size_t) {
      return Mapping{1, 0, 1};
    });
    engine.on(Direction::kForward, Moment::kReceive, "receives",
              [&](const Visit& at, const Step&) { seen[rank].received.push_back(at.process); });
    seen[rank].parallel = engine.parallel();
    seen[rank].loads = *engine.loads();
    (void)engine.run(Direction::kForward);
    engine.barrier();
    const std::uint32_t other = rank == 0 ? 0 : 1;  // a process of the other's
    seen[rank].own = engine.step(rank == 0 ? 1 : 0, 0) != nullptr;
    seen[rank].unfetched = engine.step(other, 0) == nullptr;
    engine.want(other, 0);
    engine.want(other, 1'000'000);  // there is none
    (void)engine.fetch();
    const Step* step = engine.step(other, 0);
    seen[rank].fetched = step != nullptr && engine.step(other, 1'000'000) == nullptr;
    seen[rank].time_ns = step ? step->time_ns : 0;
    seen[rank].gathered_rows = engine.gather(seen[rank].received);
    engine.set_parallel(false);
    seen[rank].alone = !engine.parallel();
    seen[rank].called_alone = *engine.run(Direction::kForward);
  };
  std::thread second([&] { work(1); });
  work(0);
  second.join();
  for (const Seen& one : seen) {
    CHECK(one.parallel);
    CHECK(one.own);
    CHECK(one.unfetched);
    CHECK(one.fetched);
    CHECK(one.time_ns == 10);
    CHECK(one.loads.size() == 2);
    CHECK(one.alone);
    CHECK(one.called_alone == 2);  // each all of it
  }
  CHECK(seen[0].loads == seen[1].loads);
  CHECK(seen[0].loads[0] == 6);  // of process 1
  CHECK(seen[0].loads[1] == 6);
  CHECK(seen[0].gathered_rows == std::vector<std::uint32_t>{1, 2});
  CHECK(seen[1].gathered_rows.empty());
}

TEST_CASE("a mapping that omits a process or names an unknown owner is refused") {
  MadeJob made(3);
  chain(made);
  const test::Scratch scratch;
  const trace::Trace trace = made.written(scratch / "run");
  SingleProcess alone;
  for (const Mapping& wrong : {Mapping{0, 0}, Mapping{0, 1, 0}}) {
    JoinOptions options;
    options.mapping = [&](const std::vector<std::uint64_t>&, std::size_t) { return wrong; };
    CHECK_FALSE(join_job(trace, alone, options).ok());
  }
  CHECK(join_job(trace, alone, {}).ok());
}

TEST_CASE("a strategy is asked once, and steps wanted before the join are fetched") {
  MadeJob made(3);
  chain(made);
  const test::Scratch scratch;
  const std::string run = written(made, scratch);
  Meeting meeting(2);
  int asked[2] = {0, 0};
  bool fetched[2] = {false, false}, forgotten[2] = {false, false};
  const auto work = [&](std::size_t rank) {
    ThreadTransport transport(meeting, rank, 2);
    auto opened = Engine::open(run, &transport);
    Engine& engine = **opened;
    engine.set_mapping([&](const std::vector<std::uint64_t>&, std::size_t) {
      ++asked[rank];
      return Mapping{1, 0, 1};
    });
    const std::uint32_t other = rank == 0 ? 0 : 1;
    engine.want(other, 0);
    (void)engine.fetch();
    fetched[rank] = engine.step(other, 0) != nullptr;
    engine.forget();
    forgotten[rank] = engine.step(other, 0) == nullptr;
  };
  std::thread second([&] { work(1); });
  work(0);
  second.join();
  for (const std::size_t rank : {0, 1}) {
    CHECK(asked[rank] == 1);
    CHECK(fetched[rank]);
    CHECK(forgotten[rank]);
  }
}

TEST_CASE("a mapping that differs between two processes is refused at both") {
  MadeJob made(3);
  chain(made);
  const test::Scratch scratch;
  const std::string run = written(made, scratch);
  Meeting meeting(2);
  std::string said[2];
  const auto work = [&](std::size_t rank) {
    ThreadTransport transport(meeting, rank, 2);
    auto opened = Engine::open(run, &transport);
    const std::uint32_t other = rank == 0 ? 1 : 0;
    (*opened)->set_mapping([&](const std::vector<std::uint64_t>&, std::size_t) {
      return Mapping{other, other, other};
    });
    if (const auto job = (*opened)->job(); !job) said[rank] = job.error().message;
  };
  std::thread second([&] { work(1); });
  work(0);
  second.join();
  for (const std::string& error : said)
    CHECK(error == "the mapping is not the same at every analysis process");
}

TEST_CASE("a run that does not exist is an error") {
  CHECK_FALSE(Engine::open("/nowhere/at/all").ok());
}

}  // namespace
}  // namespace fathom::analysis
