// SPDX-License-Identifier: BSD-3-Clause
// The frame that analyses plug into: ranking, thresholds, scope, histograms.
#include <doctest/doctest.h>

#include <vector>

#include "analysis/results/finding.h"
#include "analysis/scope/profile_scope.h"
#include "analysis/scope/thresholds.h"
#include "analysis/time/shared_processors.h"
#include "analysis/traffic/histograms.h"
#include "test/unit/profile/sample.h"

namespace fathom::analysis {
namespace {

Finding finding(const char* kind, std::optional<double> seconds, double strength) {
  Finding made;
  made.kind = kind;
  made.seconds = seconds;
  made.strength = strength;
  made.severity = severity_of(strength);
  return made;
}

TEST_CASE("findings are sorted by seconds, then by severity and strength") {
  std::vector<Finding> list = {finding("a", {}, 0.7), finding("b", 0.1, 0.1), finding("c", {}, 0.9),
                               finding("d", 2.0, 0.0), finding("e", {}, 0.75)};
  rank_findings(list);
  std::string order;
  for (const Finding& entry : list) order += entry.kind;
  CHECK(order == "dbcea");
}

TEST_CASE("severity follows the cost") {
  CHECK(severity_of_cost(0.1) == Severity::kCritical);
  CHECK(severity_of_cost(0.09) == Severity::kWarning);
  CHECK(severity_of_cost(0.03) == Severity::kWarning);
  CHECK(severity_of_cost(0.029) == Severity::kInfo);
}

TEST_CASE("Pyrite's severity follows the score") {
  CHECK(severity_of(0.85) == Severity::kCritical);
  CHECK(severity_of(0.84) == Severity::kWarning);
  CHECK(severity_of(0.59) == Severity::kInfo);
}

TEST_CASE("thresholds are set by name, and unknown names are refused") {
  Thresholds thresholds;
  CHECK(set_threshold(thresholds, "link_share=0.5"));
  CHECK(thresholds.link_share == 0.5);
  for (const char* bad :
       {"link_share", "link_share=", "link_share=x", "link_share=-1", "link_share=1e999", "=1"}) {
    CHECK_MESSAGE(!set_threshold(thresholds, bad), bad);
  }
  CHECK(thresholds.link_share == 0.5);
}

TEST_CASE("processes that share processors are reported host by host") {
  trace::Definitions job;
  const auto add = [&job](const char* host, const char* affinity) {
    trace::Process& process = job.processes.emplace_back();
    process.host = host;
    process.affinity = affinity;
  };
  for (int i = 0; i < 4; ++i) add("crowded", "0-1");
  add("bound", "0"), add("bound", "1-2"), add("bound", "2,4");
  add("single", "7"), add("single", "7");
  add("unknown", ""), add("unknown", "0");
  add("damaged", "3-1"), add("damaged", "0-99999999"), add("damaged", "1,"), add("damaged", "x");
  const std::vector<std::string> said = shared_processors(nullptr, &job).sentences;
  REQUIRE(said.size() == 2);
  CHECK(said[0] ==
        "4 processes shared 2 processors on host crowded: a process that others waited for may "
        "itself have "
        "waited for a processor");
  CHECK(said[1].starts_with("2 processes shared 1 processor on host single:"));
}

TEST_CASE("what threads waited for a processor counts, and lowers the confidence of findings") {
  profile::Profile measured;
  for (int rank = 0; rank < 3; ++rank) {
    profile::Rank& row = measured.ranks.emplace_back();
    row.rank = rank;
    row.host = rank < 2 ? "hybrid" : "quiet";
    row.seconds = 10;
  }
  measured.ranks[0].processor_wait_seconds = 0.5;
  measured.ranks[1].processor_wait_seconds = 8;
  measured.ranks[2].processor_wait_seconds = 0.1;  // 1 %: not worth a word
  const SharedProcessors shared = shared_processors(&measured, nullptr);
  REQUIRE(shared.sentences.size() == 1);
  CHECK(shared.sentences[0] ==
        "on host hybrid, rank 1 waited 8 s of its 10 s for a processor: a process that others "
        "waited for may itself have waited for a processor");

  const auto confidence = [&](std::int64_t culprit, std::optional<double> seconds) {
    Finding finding;
    finding.seconds = seconds;
    finding.culprits = {culprit};
    limit_finding(finding, shared);
    CHECK(finding.evidence.size() == (finding.confidence < 1 ? 1 : 0));
    return finding.confidence;
  };
  CHECK(confidence(0, 1.0) == doctest::Approx(0.95));
  CHECK(confidence(1, 1.0) == 0.5);
  CHECK(confidence(2, 1.0) == 1);
  CHECK(confidence(1, std::nullopt) == 1);  // about traffic, not time
}

TEST_CASE("processes that did not wait for a processor although they shared it are no caution") {
  trace::Definitions job;
  profile::Profile measured;
  for (int rank = 0; rank < 2; ++rank) {
    trace::Process& process = job.processes.emplace_back();
    process.rank = rank;
    process.host = "sleepers";
    process.affinity = "0";
    profile::Rank& row = measured.ranks.emplace_back();
    row.rank = rank;
    row.seconds = 10;
    row.processor_wait_seconds = 0.01;
  }
  CHECK(shared_processors(&measured, &job).sentences.empty());
  CHECK(shared_processors(nullptr, &job).sentences.size() == 1);
}

TEST_CASE("a scope of ranks keeps pairs with one of them at either end") {
  Scope scope;
  scope.ranks = {4};
  const auto part = restrict_profile(test::sample_profile(), scope);
  REQUIRE(part);
  std::size_t rows = 0;
  for (const profile::Traffic& block : part->traffic) {
    for (std::size_t i = 0; i < block.source.size(); ++i, ++rows) {
      CHECK((block.source[i] == 4 || block.destination[i] == 4));
    }
  }
  CHECK(rows > 0);
  CHECK(part->message_sizes.empty());
  scope.ranks = {5};
  CHECK(!restrict_profile(test::sample_profile(), scope));
}

TEST_CASE("a bin of sizes counts as small messages if all of it is small") {
  profile::MessageSizes sizes{"point-to-point", false,    {8, 1023, 1024}, {10, 5, 1},
                              {256, 512, 1024}, {2, 3, 4}};
  const ClassHistogram histogram = histogram_of(sizes);
  REQUIRE(histogram.rows.size() == 6);
  CHECK(histogram.rows.back().messages_up_to == 1);
  CHECK(histogram.rows.back().bytes_up_to == 1);
  const SmallMessages small = small_messages(histogram.rows, 1024);
  CHECK(small.messages == 10 + 5 + 2 + 3);
  CHECK(small.of_messages == 25);
  CHECK(small.bytes == doctest::Approx(80 + 5115 + 2 * 384 + 3 * 768));
}

}  // namespace
}  // namespace fathom::analysis
