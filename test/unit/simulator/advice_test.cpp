// SPDX-License-Identifier: BSD-3-Clause
// Placements that consider the traffic, their gain, and the lower bounds that none can beat.
#include "simulator/placement/advisor.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "base/random.h"
#include "simulator/placement/launcher_files.h"
#include "simulator/placement/registry.h"
#include "simulator/placement/spectrum.h"
#include "simulator/routing/registry.h"
#include "test/unit/simulator/networks.h"

namespace fathom::simulator {
namespace {

using test::job_of;
using test::two_level_tree;

std::vector<HostId> all_hosts(const Network& network) {
  std::vector<HostId> hosts;
  for (HostId host = 0; host < network.host_count(); ++host) hosts.push_back(host);
  return hosts;
}

// Ranks i and j send each other if i mod groups == j mod groups: block placement splits every
// group.
Job interleaved(std::int64_t ranks, std::int64_t groups) {
  std::vector<profile::PairCount> pairs;
  for (std::int64_t source = 0; source < ranks; ++source) {
    for (std::int64_t destination = 0; destination < ranks; ++destination) {
      if (source != destination && source % groups == destination % groups)
        pairs.push_back({source, destination, 100, 1});
    }
  }
  return job_of(ranks, std::move(pairs));
}

Job drawn(std::int64_t ranks, std::size_t pairs, std::uint64_t seed) {
  base::Random random(seed);
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> bytes;
  const auto rank = [&] {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(ranks)));
  };
  for (std::size_t pair = 0; pair < pairs; ++pair)
    bytes[{rank(), rank()}] += 1 + random.below(1000);
  std::vector<profile::PairCount> list;
  for (const auto& [ends, sum] : bytes) list.push_back({ends.first, ends.second, sum, 1});
  return job_of(ranks, std::move(list));
}

Scores scores_of(const Network& network, const Job& job, const Placement& placement) {
  const auto scores = evaluate(network, job, placement, **find_router("dmodk"), 1, true);
  REQUIRE_MESSAGE(scores, scores.error().message);
  return *scores;
}

TEST_CASE("groups of ranks that communicate are put on one host each") {
  const Network network = two_level_tree(2, 2, 2, 4);  // 4 hosts of 4 slots
  const Job job = interleaved(16, 4);
  const std::vector<HostId> hosts = all_hosts(network);
  CHECK(scores_of(network, job,
                  *place_processes(**find_placement("block"),
                                   {network, job, hosts, 1}))[Objective::kHostBytes] > 0);
  for (const char* name : {"bisection", "treematch", "search"}) {
    CAPTURE(name);
    const auto placement = place_processes(**find_placement(name), {network, job, hosts, 1});
    REQUIRE(placement);
    CHECK(scores_of(network, job, *placement)[Objective::kHostBytes] == 0);
  }
}

TEST_CASE("pairs of hosts that communicate are put on one switch") {
  const Network network = two_level_tree(4, 2, 2, 1);  // 8 hosts of one slot, two to a switch
  const Job job = interleaved(8, 4);                   // pairs i, i + 4
  const std::vector<HostId> hosts = all_hosts(network);
  for (const char* name : {"bisection", "treematch", "search"}) {
    CAPTURE(name);
    const Placement placement = *place_processes(**find_placement(name), {network, job, hosts, 1});
    for (std::size_t rank = 0; rank < 4; ++rank)
      CHECK(placement[rank] / 2 == placement[rank + 4] / 2);
  }
}

TEST_CASE("no placement puts more processes on a host than it has slots") {
  NetworkBuilder builder("uneven");
  const auto left = builder.add_switch("left"), right = builder.add_switch("right");
  builder.add_cable(left, right, 1, 0);
  std::vector<std::uint32_t> slots = {3, 1, 4, 2, 5};
  for (std::size_t host = 0; host < slots.size(); ++host) {
    builder.add_cable(builder.add_host("n" + std::to_string(host), slots[host]),
                      host < 2 ? left : right, 1, 0);
  }
  const Network network = *builder.build();
  const std::vector<HostId> hosts = {4, 0, 2, 1, 3};
  for (std::int64_t ranks = 1; ranks <= 15; ++ranks) {
    const Job job = drawn(ranks, 40, static_cast<std::uint64_t>(ranks));
    for (const PlacementRow& row : placements()) {
      CAPTURE(row.name);
      CAPTURE(ranks);
      const auto placement = place_processes(row, {network, job, hosts, 1});
      REQUIRE(placement);
      REQUIRE(placement->size() == static_cast<std::size_t>(ranks));
      std::vector<std::uint32_t> used(5, 0);
      for (const HostId host : *placement) ++used[host];
      for (std::size_t host = 0; host < 5; ++host) CHECK(used[host] <= slots[host]);
    }
  }
}

// All placements of six ranks on three hosts of two slots.
TEST_CASE("no placement is below the lower bounds, and the search finds the best one here") {
  const Network network = two_level_tree(3, 1, 1, 2);
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Job job = drawn(6, 4 + seed, seed);
    const std::vector<HostId> hosts = all_hosts(network);
    const Scores bounds = lower_bounds(network, job, hosts, PlaceCosts(network, job, hosts));
    Placement placement = {0, 0, 1, 1, 2, 2};
    double best = -1;
    do {
      const Scores scores = scores_of(network, job, placement);
      for (std::size_t at = 0; at < 4; ++at)
        CHECK(bounds.value[at] <= scores.value[at] * (1 + 1e-12));
      const double hop_bytes = scores[Objective::kHopBytes];
      best = best < 0 ? hop_bytes : std::min(best, hop_bytes);
    } while (std::next_permutation(placement.begin(), placement.end()));
    const auto found = place_processes(**find_placement("search"), {network, job, hosts, 1});
    CHECK(scores_of(network, job, *found)[Objective::kHopBytes] <= 1.1 * best);
  }
}

TEST_CASE("the spectrum of a ring gives the expected bound") {
  std::vector<profile::PairCount> pairs;
  for (std::int64_t rank = 0; rank < 12; ++rank) pairs.push_back({rank, (rank + 1) % 12, 10, 1});
  const std::vector<double> spectrum = laplacian_spectrum(RankGraph(job_of(12, pairs)));
  std::vector<double> expected;
  for (int k = 0; k < 12; ++k)
    expected.push_back(20 - 20 * std::cos(2 * std::numbers::pi * k / 12));
  std::sort(expected.begin(), expected.end());
  for (std::size_t k = 0; k < 12; ++k)
    CHECK(spectrum[k] == doctest::Approx(expected[k]).epsilon(1e-9).scale(1));
  CHECK(cut_bound(spectrum, {6, 6}) <= 20);  // two cuts of 10
  CHECK(cut_bound(spectrum, {6, 6}) > 5);
  CHECK(cut_bound(spectrum, {12}) == doctest::Approx(0).scale(1));
  CHECK(cut_bound(spectrum, {12, 12}) == doctest::Approx(0).scale(1));
}

TEST_CASE("a block-diagonal matrix has a spectrum too") {
  const std::vector<double> spectrum =
      laplacian_spectrum(RankGraph(interleaved(12, 3)));  // three cliques of four
  for (std::size_t k = 0; k < 3; ++k) CHECK(spectrum[k] == doctest::Approx(0).scale(100));
  for (std::size_t k = 3; k < 12; ++k) CHECK(spectrum[k] == doctest::Approx(4 * 200));
  CHECK(cut_bound(spectrum, {4, 4, 4}) == 0);  // not the rounding of eigenvalues
}

TEST_CASE("advice is never worse than the present placement, and its numbers can be checked") {
  const Network network = two_level_tree(4, 2, 2, 4);
  const Job job = drawn(32, 200, 5);
  Placement present;
  for (HostId rank = 0; rank < 32; ++rank) present.push_back(rank % 8);
  for (const Objective objective :
       {Objective::kCongestion, Objective::kTime, Objective::kHopBytes, Objective::kHostBytes}) {
    const AdviceRequest request{network,
                                job,
                                all_hosts(network),
                                present,
                                {*find_router("dmodk"), *find_router("greedy-max")},
                                objective,
                                1,
                                {}};
    const auto advice = advise(request);
    REQUIRE_MESSAGE(advice, advice.error().message);
    CHECK(advice->candidates.front().places == present);
    const Candidate& best = advice->candidates[1];
    CHECK(best.scores[objective] <= advice->candidates.front().scores[objective]);
    CHECK(advice->bounds[objective] <= best.scores[objective]);
    const auto again = evaluate(network, job, best.places, **find_router(best.routing), 1,
                                objective == Objective::kTime);
    CHECK((*again)[objective] == best.scores[objective]);
    CHECK(advise(request)->candidates[1].places == best.places);  // the same seed, the same advice
  }
}

TEST_CASE("placements are written in the launchers' formats") {
  const Network network = two_level_tree(1, 1, 2, 2);
  const Placement present = {0, 0, 1, 1}, better = {1, 0, 0, 1};
  const auto text = [&](const char* name) {
    return *(*find_placement_format(name))->text(network, better, present);
  };
  CHECK(text("rankfile") ==
        "rank 0=n1 slot=0\nrank 1=n0 slot=0\nrank 2=n0 slot=1\nrank 3=n1 slot=1\n");
  CHECK(text("host") == "n1,n0,n0,n1\n");
  CHECK(text("slurm") == "n1\nn0\nn0\nn1\n");
  CHECK(text("permutation") == "2\n1\n0\n3\n");
  CHECK(usage_of(**find_placement_format("slurm"), "my/ranks") ==
        "start the job with SLURM_HOSTFILE=my/ranks srun --distribution=arbitrary");
  CHECK(usage_of(**find_placement_format("host"), "FILE") ==
        "start the job with mpirun --map-by seq --host \"$(cat FILE)\"");
  const Placement other = {0, 0, 0, 1};
  CHECK_FALSE((*find_placement_format("permutation"))->text(network, other, present));
  CHECK(find_placement_format("anywhere").error().message ==
        "there is no format 'anywhere'; there are rankfile, host, slurm, permutation");
}

}  // namespace
}  // namespace fathom::simulator
