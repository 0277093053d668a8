// SPDX-License-Identifier: BSD-3-Clause
// Schedulers on cases worked out by hand, and the results of several jobs on one cluster.
#include "simulator/scheduling/scheduled_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>

#include "simulator/jobs/patterns.h"
#include "simulator/placement/registry.h"
#include "simulator/routing/bisection.h"
#include "simulator/routing/registry.h"
#include "simulator/scheduling/free_slots.h"
#include "simulator/scheduling/registry.h"
#include "test/unit/simulator/networks.h"

namespace fathom::simulator {
namespace {

using test::job_of;
using test::two_level_tree;

struct Asked {
  std::int64_t ranks;
  double submit_s, duration_s;
  double request_s = 0;      // 0: as long as it runs
  Placement placement = {};  // empty: wherever there is room
};

std::vector<Arrival> arrivals_of(const std::vector<Asked>& jobs) {
  std::vector<Arrival> arrivals;
  for (const Asked& job : jobs) {
    arrivals.push_back({std::make_shared<Job>(job_of(job.ranks, {})), job.submit_s, job.duration_s,
                        job.request_s > 0 ? job.request_s : job.duration_s, 1});
    if (!job.placement.empty())
      arrivals.back().given_placement = std::make_shared<Placement>(job.placement);
  }
  return arrivals;
}

SystemChoice choice_of(const char* scheduler) {
  SystemChoice choice;
  choice.scheduler = *find_scheduler(scheduler);
  choice.selector = *find_selector("linear");
  choice.placement = *find_placement("block");
  choice.router = *find_router("dmodk");
  choice.until_s = std::numeric_limits<double>::infinity();
  return choice;
}

ScheduledRun run(const Network& network, const std::vector<Arrival>& arrivals,
                 const SystemChoice& choice) {
  auto result = run_scheduled(network, arrivals, choice);
  REQUIRE_MESSAGE(result, result.error().message);
  return std::move(*result);
}

std::vector<double> starts(const char* scheduler, const std::vector<Asked>& jobs) {
  const Network network = two_level_tree(1, 1, 4);  // four slots
  std::vector<double> result;
  for (const JobOutcome& job : run(network, arrivals_of(jobs), choice_of(scheduler)).jobs) {
    result.push_back(job.start_s);
  }
  return result;
}

using Times = std::vector<double>;

TEST_CASE(
    "first come, first served starts all that fit, but nothing before its turn (the reference: one "
    "for each that ends)") {
  CHECK(starts("fcfs", {{3, 0, 10}, {4, 1, 5}, {1, 2, 1}}) == Times{0, 10, 15});
  CHECK(starts("fcfs", {{4, 0, 10}, {1, 1, 5}, {1, 2, 5}, {1, 3, 5}}) == Times{0, 10, 10, 10});
  CHECK(starts("fcfs", {{1, 0, 5}, {1, 0, 5}, {2, 0, 5}}) == Times{0, 0, 0});
}

TEST_CASE("EASY backfills a job that ends before the first in the queue can start") {
  CHECK(starts("easy", {{3, 0, 10}, {4, 1, 5}, {1, 2, 8}}) == Times{0, 10, 2});
}

TEST_CASE("EASY does not backfill a job that would delay the first in the queue") {
  CHECK(starts("easy", {{3, 0, 10}, {4, 1, 5}, {1, 2, 9}}) == Times{0, 10, 15});
}

TEST_CASE("EASY backfills a longer job on slots that the first in the queue leaves over") {
  CHECK(starts("easy", {{3, 0, 10}, {3, 1, 5}, {1, 2, 9}}) == Times{0, 10, 2});
  // One slot is left over: the second of two such jobs must wait.
  CHECK(starts("easy", {{2, 0, 10}, {3, 1, 5}, {1, 2, 9}, {1, 3, 9}}) == Times{0, 10, 2, 11});
}

TEST_CASE("EASY may delay the second in the queue, conservative backfill delays none") {
  const std::vector<Asked> jobs = {{3, 0, 10}, {2, 1, 10}, {4, 2, 5}, {1, 3, 30}};
  CHECK(starts("easy", jobs) == Times{0, 10, 33, 3});
  CHECK(starts("conservative", jobs) == Times{0, 10, 20, 25});
}

TEST_CASE("conservative backfill starts what delays nobody") {
  CHECK(starts("conservative", {{3, 0, 10}, {4, 1, 5}, {1, 2, 8}}) == Times{0, 10, 2});
  CHECK(starts("conservative", {{3, 0, 10}, {4, 1, 5}, {1, 2, 9}}) == Times{0, 10, 15});
}

TEST_CASE("reservations move forward when a job ends earlier than it requested") {
  const std::vector<Asked> jobs = {{3, 0, 5, 10}, {2, 1, 10}, {4, 2, 5}, {1, 3, 30}};
  CHECK(starts("conservative", jobs) == Times{0, 5, 15, 20});
}

// Two slots are taken until 10 and two until 20: job 1, of four, is promised 20, job 2, of two, 10.
// When the latter pair is free at 2 already, job 1 could have 10, were it not for job 2: made anew
// in order of arrival, the reservations would move job 2 back to 15.
TEST_CASE("a reservation never moves back when others move forward") {
  const auto scheduler = (*find_scheduler("conservative"))->make();
  const std::vector<QueuedJob> queue = {{1, 4, 4, 5}, {2, 2, 2, 10}};
  const std::vector<RunningJob> running = {{2, 10}, {2, 20}};
  CHECK_FALSE(scheduler->next({0, 0, queue, running}));
  const std::vector<RunningJob> later = {{2, 10}};
  const auto next = scheduler->next({2, 2, queue, later});
  REQUIRE(next);
  CHECK(*next == 1);
}

// Job 0 has hosts 0 and 1 of the four until 10; job 1 must have 1 and 2.
TEST_CASE("a job with a rank file waits for its hosts even while others are free") {
  const std::vector<Asked> jobs = {{2, 0, 10}, {2, 1, 5, 0, {2, 1}}, {1, 2, 1}};
  CHECK(starts("fcfs", jobs) == Times{0, 10, 10});
  CHECK(starts("easy", jobs) == Times{0, 10, 2});
  CHECK(starts("conservative", jobs) == Times{0, 10, 2});
  const Network network = two_level_tree(1, 1, 4);
  const ScheduledRun done =
      run(network, arrivals_of({{2, 0, 10, 0, {3, 1}}, {2, 0, 10}}), choice_of("fcfs"));
  CHECK(done.jobs[0].start_s == 0);
  CHECK(done.jobs[1].start_s == 0);  // on hosts 0 and 2
}

TEST_CASE("no backfilled job keeps a host that a rank file names for too long") {
  // Job 2 would fit next to job 1, but it gets host 1 and ends after job 0.
  const std::vector<Asked> jobs = {{1, 0, 10}, {2, 1, 5, 0, {0, 1}}, {1, 2, 9}};
  CHECK(starts("easy", jobs) == Times{0, 10, 10});
  CHECK(starts("conservative", jobs) == Times{0, 10, 10});
  // Two that must have the same hosts follow each other, late or not.
  for (const char* scheduler : {"fcfs", "easy", "conservative"}) {
    CAPTURE(scheduler);
    CHECK(starts(scheduler, {{2, 0, 10, 4, {0, 1}}, {2, 1, 5, 0, {1, 0}}, {2, 2, 5, 0, {0, 3}}}) ==
          Times{0, 10, 15});
  }
}

bool share_a_host(const Placement& one, const Placement& other) {
  return std::any_of(one.begin(), one.end(), [&](HostId host) {
    return std::find(other.begin(), other.end(), host) != other.end();
  });
}

// Jobs of one to five processes, half of them with rank files; some request less time than they
// take.
std::vector<Asked> drawn_jobs(std::uint32_t seed, std::uint32_t hosts) {
  std::mt19937 random(seed);
  std::vector<Asked> jobs;
  for (int number = 0; number < 80; ++number) {
    Asked job{1 + static_cast<std::int64_t>(random() % 5), 1.5 * number,
              1.0 + static_cast<double>(random() % 9)};
    job.request_s = job.duration_s + static_cast<double>(random() % 3) - 1;
    const bool is_bound = random() % 2 == 0;
    while (is_bound && static_cast<std::int64_t>(job.placement.size()) < job.ranks) {
      const HostId host = random() % hosts;
      if (!share_a_host(job.placement, {host})) job.placement.push_back(host);
    }
    jobs.push_back(job);
  }
  return jobs;
}

TEST_CASE("random jobs with rank files all end and share no host, in first-come order") {
  const Network network = two_level_tree(2, 2, 4);
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    const std::vector<Asked> jobs = drawn_jobs(seed, network.host_count());
    for (const std::string scheduler : {"fcfs", "easy", "conservative"}) {
      CAPTURE(scheduler);
      CAPTURE(seed);
      const std::vector<JobOutcome> done =
          run(network, arrivals_of(jobs), choice_of(scheduler.c_str())).jobs;
      for (std::size_t one = 0; one < jobs.size(); ++one) {
        REQUIRE(done[one].end_s != kNotYet);
        if (one > 0 && scheduler == "fcfs") CHECK(done[one].start_s >= done[one - 1].start_s);
        for (std::size_t other = 0; other < one; ++other) {
          const bool together =
              done[one].start_s < done[other].end_s && done[other].start_s < done[one].end_s;
          if (together) CHECK_FALSE(share_a_host(jobs[one].placement, jobs[other].placement));
        }
      }
    }
  }
}

TEST_CASE("a job that exceeds its request delays others and stops nothing") {
  CHECK(starts("easy", {{4, 0, 20, 5}, {4, 1, 5}, {1, 2, 1}}) == Times{0, 20, 25});
  CHECK(starts("conservative", {{4, 0, 20, 5}, {4, 1, 5}, {1, 2, 1}}) == Times{0, 20, 25});
}

TEST_CASE("the earliest gap of free slots that is long and wide enough is found") {
  const std::vector<RunningJob> running = {{2, 10}, {1, 20}};
  FreeSlots free({5, 1, {}, running});
  CHECK(free.earliest(5, 100, 1) == 5);
  CHECK(free.earliest(5, 1, 3) == 10);
  CHECK(free.earliest(5, 1, 4) == 20);
  free.take(12, 4, 3);
  CHECK(free.earliest(5, 2, 3) == 10);
  CHECK(free.earliest(5, 3, 3) == 16);
  CHECK_FALSE(free.fits(11, 3, 2));
  free.give_back(12, 4, 3);
  CHECK(free.fits(11, 3, 2));
}

TEST_CASE("hosts that differ in slots never give more than they have") {
  NetworkBuilder builder("uneven");
  const auto leaf = builder.add_switch("leaf");
  for (std::uint32_t slots : {1u, 4u, 2u, 3u}) {
    builder.add_cable(builder.add_host("n" + std::to_string(slots), slots), leaf, 1, 0);
  }
  const Network network = *builder.build();
  const auto jobs =
      arrivals_of({{4, 0, 5}, {3, 0, 5}, {5, 0, 5}, {10, 1, 1}, {2, 1, 3}, {1, 1, 2}});
  for (const char* scheduler : {"fcfs", "easy", "conservative"}) {
    const ScheduledRun result = run(network, jobs, choice_of(scheduler));
    CHECK(result.busy_slots.max() <= 10);
    for (const JobOutcome& job : result.jobs) CHECK(job.end_s != kNotYet);
  }
}

TEST_CASE("a mean over time counts from the first value to the end (the reference: 1.333)") {
  TimeWeighted value;
  value.change(10, 1);
  value.change(20, 3);
  value.finish(30);
  CHECK(value.mean() == doctest::Approx(2.0));
  CHECK(value.deviation() == doctest::Approx(1.0));
  value.finish(50);  // the last value counts until the end
  CHECK(value.mean() == doctest::Approx(2.5));
  CHECK(value.max() == 3);
}

// Hosts n0, n1 | n2, n3; a job of four sends 100 bytes from n0 to n2, over the tree's one core.
std::vector<Arrival> sending(const std::vector<std::pair<double, double>>& submit_and_duration) {
  const auto job = std::make_shared<Job>(job_of(4, {{0, 2, 100, 1}}));
  std::vector<Arrival> arrivals;
  for (const auto& [submit_s, duration_s] : submit_and_duration) {
    arrivals.push_back({job, submit_s, duration_s, duration_s, 1});
  }
  return arrivals;
}

TEST_CASE("link loads over time have a maximum, a mean, and snapshots in between") {
  const Network network = two_level_tree(2, 1, 2);
  SystemChoice choice = choice_of("fcfs");
  choice.until_s = 20;
  choice.snapshots_s = {0, 3, 6, 20};
  std::vector<double> seen;
  const LinkId up = network.find_link(network.find_node("edge1"), network.find_node("core1"));
  choice.snapshot = [&](double, const LinkUse& use) -> base::Status {
    seen.push_back(use.bytes[up]);
    return base::Done{};
  };
  const auto arrivals = sending({{1, 4}, {2, 100}});
  ScheduledRun result = run(network, arrivals, choice);
  CHECK(seen == Times{0, 100, 100, 100});
  CHECK(result.jobs[1].start_s == 5);
  CHECK(result.jobs[1].end_s == kNotYet);
  CHECK(result.links.peak_bytes(up) == 100);
  CHECK(result.links.mean_bytes(up) == doctest::Approx(100.0 * 19 / 20));
  CHECK(result.max_congestion.mean() == doctest::Approx(95));
  CHECK(result.jobs[0].wait_s(arrivals[0]) == 0);
  CHECK(result.jobs[0].slow_down(arrivals[0]) == 1);
}

// The reference keeps the routes of answers after the job has ended: here 2 → 0, over core1, which
// the second job would then share with its own 3 → 1.
TEST_CASE("a job's routes end with it (the reference: stale return routes)") {
  const Network network = two_level_tree(2, 2, 2);
  SystemChoice choice = choice_of("fcfs");
  choice.router = *find_router("greedy-max");
  choice.until_s = 10;
  choice.snapshots_s = {5};
  std::vector<double> bytes;
  choice.snapshot = [&](double, const LinkUse& use) -> base::Status {
    bytes = use.bytes;
    return base::Done{};
  };
  const auto one_way = std::make_shared<Job>(job_of(4, {{0, 2, 100, 1}}));
  const auto answering = std::make_shared<Job>(job_of(4, {{2, 0, 40, 1}, {3, 1, 50, 1}}));
  run(network, {{answering, 4, 9, 9, 1}}, choice);
  const std::vector<double> alone = bytes;
  run(network, {{one_way, 0, 1, 1, 1}, {answering, 4, 9, 9, 1}}, choice);
  CHECK(bytes == alone);
  const NodeId edge = network.find_node("edge2");
  CHECK(bytes[network.find_link(edge, network.find_node("core1"))] == 50);
  CHECK(bytes[network.find_link(edge, network.find_node("core2"))] == 40);
}

TEST_CASE("wait, response, slow-down and bounded slow-down follow their definitions") {
  const JobOutcome job{30, 35, 0, 1};
  const Arrival arrival{nullptr, 10, 5, 5, 1};
  CHECK(job.wait_s(arrival) == 20);
  CHECK(job.response_s(arrival) == 25);
  CHECK(job.slow_down(arrival) == 5);
  CHECK(job.bounded_slow_down(arrival) == 2.5);  // 25 s over 10 s
}

// Two jobs of two ranks each across the one core link, which both need for all they send.
TEST_CASE("two jobs on one link take twice as long as alone in the flow model") {
  const Network network = two_level_tree(2, 1, 2);
  const auto job = std::make_shared<Job>(job_of(2, {{0, 1, 100, 1}}));
  SystemChoice choice = choice_of("fcfs");
  choice.selector = *find_selector("fragmented");
  choice.model = RunModel::kFlow;
  const std::vector<Arrival> both = {{job, 0, 0, 100, 1}, {job, 0, 0, 100, 1}};
  ScheduledRun result = run(network, both, choice);
  for (const JobOutcome& one : result.jobs) {
    CHECK(one.alone_s == doctest::Approx(100));
    CHECK(one.run_s() == doctest::Approx(200));
  }
  const LinkId up = network.find_link(network.find_node("edge1"), network.find_node("core1"));
  CHECK(result.usage->total_bytes(up) == doctest::Approx(200));
  // With computation of its own before, the second sends after the first.
  const std::vector<Arrival> apart = {{job, 0, 0, 100, 1}, {job, 0, 100, 200, 1}};
  result = run(network, apart, choice);
  CHECK(result.jobs[0].run_s() == doctest::Approx(100));
  CHECK(result.jobs[1].run_s() == doctest::Approx(200));
  CHECK(result.jobs[1].alone_s == doctest::Approx(200));
}

TEST_CASE("a job larger than the cluster is refused by name") {
  const auto result =
      run_scheduled(two_level_tree(1, 1, 4), arrivals_of({{5, 0, 1}}), choice_of("fcfs"));
  REQUIRE_FALSE(result);
  CHECK(result.error().message ==
        std::string(
            "job 'job' has 5 processes; cluster 'tree' has 4 slots; take a larger cluster, or ") +
            kMoreSlots);
}

TEST_CASE("selections by switches prefer the hosts that leave the least over") {
  const Network network = two_level_tree(3, 1, 4);  // hosts 0-3, 4-7, 8-11
  const auto select = [&](const char* name, std::int64_t ranks, std::vector<char> busy) {
    return *select_hosts(**find_selector(name), {network, ranks, busy, 1});
  };
  using Hosts = std::vector<HostId>;
  // Free: one, four and three hosts of the switches; three fit on the last, best.
  const std::vector<char> busy = {1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0};
  CHECK(select("switches", 3, busy) == Hosts{9, 10, 11});
  CHECK(select("linear", 3, busy) == Hosts{9, 10, 11});
  CHECK(select("switches", 5, busy) == Hosts{3, 4, 5, 6, 7});  // two switches, nothing left over
  CHECK(select("switches", 6, busy) == Hosts{4, 5, 6, 7, 9, 10});
  CHECK(select("contiguous", 4, busy) == Hosts{4, 5, 6, 7});
  CHECK(select("linear", 4, busy) == Hosts{3, 4, 5, 6});  // the run of five, from its start
  CHECK(select("contiguous", 5, busy) == Hosts{3, 4, 5, 6, 7});
  CHECK(select("contiguous", 7, busy) == select("switches", 7, busy));  // no run is that long
  CHECK(select("fragmented", 4, busy) == Hosts{3, 4, 9, 5});
}

TEST_CASE("patterns send to the ranks that their names say") {
  const auto partners = [](const char* name, std::int64_t ranks, std::int64_t of) {
    std::vector<std::int64_t> result;
    const Job job = *make_pattern(**find_pattern(name), ranks, 8, 1);
    for (const auto& pair : job.pairs) {
      if (pair.source == of) result.push_back(pair.destination);
    }
    return result;
  };
  using Ranks = std::vector<std::int64_t>;
  CHECK(partners("ring", 5, 4) == Ranks{0});
  CHECK(partners("shift", 6, 1) == Ranks{4});
  CHECK(partners("all-to-all", 4, 2) == Ranks{0, 1, 3});
  CHECK(partners("gather", 4, 0).empty());
  CHECK(partners("halo2d", 12, 0) == Ranks{1, 2, 3, 9});  // 4 rows of 3
  CHECK(partners("halo3d", 27, 13) == Ranks{4, 10, 12, 14, 16, 22});
  CHECK(partners("butterfly", 8, 5) == Ranks{1, 4, 7});
  CHECK(partners("transpose", 9, 1) == Ranks{3});
  std::vector<int> received(100, 0);
  const Job permutation = *make_pattern(**find_pattern("permutation"), 100, 8, 3);
  for (const auto& pair : permutation.pairs) {
    ++received[static_cast<std::size_t>(pair.destination)];
  }
  for (const int count : received) CHECK(count <= 1);
}

TEST_CASE("the bisection is the cables between leaves and spines that separate the halves") {
  const Bisection cut =
      bisection_of(two_level_tree(4, 2, 4));  // two leaves a half, two cables each
  CHECK(cut.links.size() == 8);
  CHECK(cut.capacity_Bps == 8);
  CHECK(bisection_of(two_level_tree(2, 4, 2)).capacity_Bps == 4);  // the hosts' own links are fewer
  CHECK(bisection_of(two_level_tree(1, 1, 1)).links.empty());
  const Network full = two_level_tree(4, 4, 4);  // links of hosts are as wide as those above
  for (const LinkId link : bisection_of(full).links) CHECK(full.joins_switches(link));
  CHECK(bisection_of(full).capacity_Bps == 16);
}

}  // namespace
}  // namespace fathom::simulator
