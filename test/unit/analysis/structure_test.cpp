// SPDX-License-Identifier: BSD-3-Clause
// Structure, blocks, roots and issues of matrices whose answers are known.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/traffic/blocks.h"
#include "analysis/traffic/class_traffic.h"
#include "analysis/traffic/structure.h"
#include "analysis/traffic/traffic_issues.h"

namespace fathom::analysis {
namespace {

using Pairs = std::vector<profile::PairCount>;

profile::Profile job(std::int64_t ranks, const std::string& class_name, const Pairs& pairs) {
  profile::Profile profile;
  profile.world_size = ranks;
  profile.coverage.verdict = "exact";
  profile.application.seconds = 1;
  profile::Traffic block{class_name, class_name != profile::kPointToPoint, 0, "", {}, {}, {}, {}};
  profile::MessageSizes sizes{class_name, block.hidden, {}, {}, {}, {}};
  for (const profile::PairCount& pair : pairs) {
    block.source.push_back(pair.source);
    block.destination.push_back(pair.destination);
    block.bytes.push_back(pair.bytes);
    block.messages.push_back(pair.messages);
    sizes.size.push_back(pair.messages > 0 ? pair.bytes / pair.messages : 0);
    sizes.messages.push_back(pair.messages);
  }
  profile.traffic.push_back(block);
  profile.message_sizes.push_back(sizes);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    profile.ranks.emplace_back();
    profile.ranks.back().rank = rank;
    profile.ranks.back().host = rank < ranks / 2 ? "a" : "b";
  }
  return profile;
}

std::vector<std::string> kinds(const profile::Profile& profile) {
  Input input;
  input.profile = &profile;
  const auto outcome = traffic_issues(input);
  std::vector<std::string> list;
  for (const Finding& finding : outcome->findings) list.push_back(finding.kind);
  std::sort(list.begin(), list.end());
  return list;
}

using Kinds = std::vector<std::string>;

TEST_CASE("the structure of four ranks equals the one worked out by hand") {
  // 0 -> 1: 6 MB, 1 -> 0: 2 MB, 2 -> 3: 4 MB, 0 to itself: 8 MB
  const auto profile =
      job(4, "point-to-point",
          {{0, 0, 8'000'000, 1}, {0, 1, 6'000'000, 3}, {1, 0, 2'000'000, 1}, {2, 3, 4'000'000, 4}});
  const Structure found = structure_of(profile, nullptr);
  CHECK(found.pairs == 3);
  CHECK(found.density == doctest::Approx(0.25));
  CHECK(found.all.bytes == 20'000'000);
  CHECK(found.to_itself.bytes == 8'000'000);
  CHECK(found.out.mean == 5'000'000);
  CHECK(found.out.imbalance == doctest::Approx(14.0 / 5));
  CHECK(found.out.cv == doctest::Approx(std::sqrt((81.0 + 9 + 1 + 25) / 4) / 5));
  CHECK(found.peers.mean == doctest::Approx(0.75));
  CHECK(found.top_links[0].share == doctest::Approx(0.4));
  CHECK(found.shape.bandwidth == 1);
  CHECK(found.shape.within_8 == 1);
  REQUIRE(found.locality.size() == 1);  // hosts a: 0, 1; b: 2, 3
  CHECK(found.locality[0].inside.bytes == 12'000'000);
  CHECK(found.locality[0].known.bytes == 12'000'000);
  CHECK(found.blocks.count == 2);
  CHECK(found.blocks.share_inside == 1);
  CHECK(found.blocks.modularity == doctest::Approx(1 - (4.0 / 9 + 1.0 / 9)));
}

TEST_CASE("four cliques joined in a ring are four blocks") {
  Pairs pairs;
  for (std::int64_t clique = 0; clique < 4; ++clique) {
    for (std::int64_t a = 0; a < 5; ++a) {
      for (std::int64_t b = 0; b < 5; ++b) {
        if (a != b)
          pairs.push_back({4 * a + clique, 4 * b + clique, 100, 1});  // ranks of a clique lie apart
      }
    }
    pairs.push_back({clique, (clique + 1) % 4, 10, 1});
  }
  const Blocks blocks = blocks_of(pairs);
  CHECK(blocks.count == 4);
  for (std::size_t i = 0; i < blocks.ranks.size(); ++i)
    CHECK(blocks.block[i] == blocks.ranks[i] % 4);
  CHECK(blocks.share_inside == doctest::Approx(8000.0 / 8040));
}

TEST_CASE("the root of collectives is found whatever the algorithm") {
  const auto of = [](const char* name, const Pairs& pairs) {
    ClassTraffic traffic;
    traffic.class_name = name;
    traffic.pairs = pairs;
    for (const auto& pair : pairs) traffic.bytes += pair.bytes;
    return root_share(traffic);
  };
  const Pairs binomial = {{0, 1, 10, 1}, {0, 2, 10, 1}, {1, 3, 10, 1}};
  CHECK(of("MPI_Bcast", binomial).rank == 0);
  CHECK(of("MPI_Bcast", binomial).share == doctest::Approx(1));
  const Pairs reduce = {{1, 0, 10, 1}, {2, 0, 10, 1}, {3, 1, 10, 1}};
  CHECK(of("MPI_Reduce", reduce).rank == 0);
  CHECK(of("MPI_Reduce", reduce).share == doctest::Approx(1));
  const Pairs gather = {
      {1, 0, 20, 1}, {2, 0, 10, 1}, {3, 1, 10, 1}};  // binomial: 1 passes on what 3 sent
  CHECK(of("MPI_Gather", gather).rank == 0);
  CHECK(of("MPI_Gather", gather).share == doctest::Approx(1));
  const Pairs chain = {{2, 3, 10, 1}, {3, 0, 10, 1}, {0, 1, 10, 1}};
  CHECK(of("MPI_Ibcast", chain).rank == 2);
  // Rank 0 three times, rank 1 once, each to all directly.
  const Pairs turns = {{0, 1, 30, 3}, {0, 2, 30, 3}, {0, 3, 30, 3},
                       {1, 0, 10, 1}, {1, 2, 10, 1}, {1, 3, 10, 1}};
  CHECK(of("MPI_Bcast", turns).share == doctest::Approx(0.75));
  CHECK(of("MPI_Scatter", turns).share == doctest::Approx(0.75));
}

TEST_CASE("an even exchange has no issue") {
  Pairs pairs;
  for (std::int64_t a = 0; a < 8; ++a) {
    for (std::int64_t b : {(a + 1) % 8, (a + 7) % 8}) pairs.push_back({a, b, 10'000'000, 1000});
  }
  CHECK(kinds(job(8, "point-to-point", pairs)).empty());
}

TEST_CASE("two ranks are no hot spot, and a short ping-pong is no pressure") {
  CHECK(kinds(job(2, "point-to-point", {{0, 1, 50'000'000, 50}, {1, 0, 50'000'000, 50}})).empty());
  CHECK(kinds(job(2, "point-to-point", {{0, 1, 400, 50}, {1, 0, 400, 50}})).empty());
  CHECK(kinds(job(2, "point-to-point", {{0, 1, 50'000'000, 50}})).empty());
}

TEST_CASE("many small messages from one rank are reported with their sender") {
  const auto profile = job(4, "point-to-point", {{0, 1, 80'000, 10'000}, {2, 3, 2'000'000, 2}});
  Input input;
  input.profile = &profile;
  const auto outcome = traffic_issues(input);
  REQUIRE(outcome->findings.size() >= 1);
  const Finding& finding = outcome->findings[0];
  CHECK(finding.kind == "small-message-pressure");
  CHECK(finding.count == 10'000);
  CHECK(finding.culprits == std::vector<std::int64_t>{0});
  CHECK(finding.pairs == std::vector<RankPair>{{0, 1}});
  CHECK(finding.severity == Severity::kInfo);  // 10 ms of 4 s
  CHECK(!finding.seconds);
}

TEST_CASE("small messages that carry most of the data are an overhead") {
  const Kinds found =
      kinds(job(4, "point-to-point", {{0, 1, 80'000, 10'000}, {1, 2, 80'000, 10'000}}));
  CHECK(found == Kinds{"small-message-overhead", "small-message-pressure"});
}

TEST_CASE("a hub is an imbalance, and its heaviest link a hot spot") {
  const auto profile = job(
      8, "point-to-point",
      {{0, 1, 9'000'000, 10}, {0, 2, 1'000'000, 10}, {0, 3, 1'000'000, 10}, {0, 4, 1'000'000, 10}});
  Input input;
  input.profile = &profile;
  const auto outcome = traffic_issues(input);
  CHECK(kinds(profile) == Kinds{"link-hotspot", "rank-traffic-imbalance"});
  for (const Finding& finding : outcome->findings) CHECK(finding.culprits[0] == 0);
  CHECK(outcome->findings[1].victims == std::vector<std::int64_t>{1});
}

std::string advice(const profile::Profile& profile, const char* kind) {
  Input input;
  input.profile = &profile;
  const auto outcome = traffic_issues(input);
  for (const Finding& finding : outcome->findings) {
    if (finding.kind == kind) return finding.advice;
  }
  return "";
}

TEST_CASE("ranks on one host are not advised to move to one host") {
  // Ranks 0 and 1 are on one host, 2 and 3 on another.
  CHECK(advice(job(4, "point-to-point", {{0, 1, 9'000'000, 10}, {2, 3, 1'000'000, 10}}),
               "link-hotspot")
            .starts_with("bind these two ranks to the same socket"));
  CHECK(advice(job(4, "point-to-point", {{0, 2, 9'000'000, 10}, {1, 3, 1'000'000, 10}}),
               "link-hotspot")
            .starts_with("place these two ranks on one host"));
}

TEST_CASE("small messages of a collective are not advised to use a collective") {
  const Pairs pairs = {{0, 1, 80'000, 10'000}, {2, 3, 2'000'000, 2}};
  CHECK(advice(job(4, "MPI_Allreduce", pairs), "small-message-pressure") ==
        "combine several calls of MPI_Allreduce into one with more data");
  CHECK(advice(job(4, "point-to-point", pairs), "small-message-pressure")
            .ends_with("or use a collective"));
}

TEST_CASE("a rank that only sends more than the others is an imbalance") {
  // All receive equally; 0 sends 8 of the 15 parts.
  Pairs pairs;
  for (std::int64_t to = 1; to < 9; ++to) pairs.push_back({0, to, 1'000'000, 10});
  for (std::int64_t from = 1; from < 9; ++from)
    pairs.push_back({from, from % 8 + 1, 1'000'000, 10});
  CHECK(kinds(job(9, "point-to-point", pairs)) == Kinds{"communication-imbalance"});
}

TEST_CASE("collectives are reported by root, barriers and all-to-all") {
  Pairs gather, exchange, barrier;
  for (std::int64_t rank = 1; rank < 8; ++rank) gather.push_back({rank, 0, 1'000'000, 10});
  for (std::int64_t a = 0; a < 8; ++a) {
    barrier.push_back({a, (a + 1) % 8, 0, 1000});
    for (std::int64_t b = 0; b < 8; ++b) {
      if (a != b) exchange.push_back({a, b, 1'000'000, 10});
    }
  }
  const auto root = kinds(job(8, "MPI_Gather", gather));
  CHECK(std::count(root.begin(), root.end(), "collective-root-bottleneck") == 1);
  CHECK(kinds(job(8, "MPI_Barrier", barrier)) == Kinds{"synchronization-heavy"});
  CHECK(kinds(job(8, "MPI_Alltoall", exchange)) == Kinds{"global-collective-heavy"});
}

TEST_CASE("only collectives of all ranks are called global") {
  for (const std::int64_t members : {4, 8}) {
    Pairs exchange;
    for (std::int64_t a = 0; a < members; ++a) {
      for (std::int64_t b = 0; b < members; ++b) {
        if (a != b) exchange.push_back({a, b, 1'000'000, 10});
      }
    }
    profile::Profile profile = job(8, "MPI_Alltoall", exchange);
    profile.communicators.emplace_back();
    profile.communicators.back().id = 7;
    for (std::int64_t rank = 0; rank < members; ++rank)
      profile.communicators.back().world_ranks.push_back(rank);
    for (profile::Traffic& block : profile.traffic) block.communicator = 7;
    const auto found = kinds(profile);
    CHECK(std::count(found.begin(), found.end(), "global-collective-heavy") == (members == 8));
  }
}

TEST_CASE("a profile without traffic is analysed") {
  CHECK(kinds(job(4, "point-to-point", {})).empty());
  const Structure found = structure_of(job(0, "point-to-point", {}), nullptr);
  CHECK(found.density == 0);
  CHECK(found.blocks.count == 0);
}

}  // namespace
}  // namespace fathom::analysis
