// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/traffic_issues.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>

#include "analysis/results/finding_kinds.h"
#include "analysis/traffic/class_traffic.h"
#include "analysis/traffic/histograms.h"
#include "analysis/traffic/percent.h"
#include "analysis/traffic/structure.h"
#include "base/order/sort_stably.h"
#include "mpi/meaning.h"
#include "profile/pair_sums.h"

namespace fathom::analysis {
namespace {

// The least that a small message costs its sender and receiver together. A profile has no times, so
// without this bound every program with small messages would get a warning.
constexpr double kMessageSeconds = 1e-6;
constexpr double kWorthSeconds = 0.01;  // fraction of the run that small messages must cost

std::string times(double ratio) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", ratio);
  return text;
}

class Issues {
 public:
  explicit Issues(const Input& input)
      : profile_(*input.profile),
        limits_(input.thresholds),
        structure_(structure_of(profile_, input.trace)),
        classes_(traffic_by_class(profile_)) {}

  std::vector<Finding> find() {
    small_messages();
    if (enough_bytes() && enough_ranks()) {
      imbalance();
      link_hotspot();
      for (const ClassTraffic& traffic : classes_) root_bottleneck(traffic);
    }
    if (enough_bytes()) global_collectives();
    barriers();
    return std::move(findings_);
  }

 private:
  bool enough_ranks() const { return static_cast<double>(structure_.ranks) >= limits_.few_ranks; }
  bool enough_bytes() const {
    return static_cast<double>(structure_.all.bytes) >= limits_.few_bytes;
  }

  Finding& add(FindingKind kind, double score, std::uint64_t count) {
    Finding finding;
    finding.kind = name_of(kind);
    finding.strength = std::clamp(score, 0.0, 1.0);
    finding.severity = severity_of(finding.strength);
    finding.confidence = profile_.coverage.verdict == "exact" ? 1 : 0.8;
    finding.count = count;
    findings_.push_back(std::move(finding));
    return findings_.back();
  }

  // Pairs of the class with a small mean message size, most messages first; if sizes mix on every
  // pair, the pairs with most messages.
  std::vector<RankPair> small_pairs(const std::string& class_name) const {
    profile::Selection selection;
    selection.classes = {{class_name}};
    const std::vector<profile::PairCount> all = profile::sum_pairs(profile_, selection);
    std::vector<profile::PairCount> small = all;
    std::erase_if(small, [&](const profile::PairCount& pair) {
      return pair.bytes == 0 ||
             static_cast<double>(pair.bytes) >=
                 limits_.small_message_bytes * static_cast<double>(pair.messages);
    });
    std::vector<RankPair> list;
    for (const auto& pair :
         profile::top_pairs(small.empty() ? all : small, kMostListed, profile::Metric::kMessages)) {
      list.push_back({pair.source, pair.destination});
    }
    return list;
  }

  std::string class_with_most_small() const {
    std::string name;
    std::uint64_t most = 0;
    for (const profile::MessageSizes& sizes : profile_.message_sizes) {
      const auto small = analysis::small_messages(with_data(histogram_of(sizes).rows),
                                                  limits_.small_message_bytes);
      if (small.messages <= most) continue;
      most = small.messages;
      name = sizes.class_name;
    }
    return name;
  }

  // Empty messages are signals, which larger messages would not save.
  static std::vector<SizeRow> with_data(std::vector<SizeRow> rows) {
    std::erase_if(rows, [](const SizeRow& row) { return row.high == 0; });
    return rows;
  }

  void small_messages() {
    const SmallMessages small = analysis::small_messages(with_data(histogram_of_all(profile_)),
                                                         limits_.small_message_bytes);
    if (static_cast<double>(small.messages) < limits_.few_messages) return;
    const double share =
        static_cast<double>(small.messages) / static_cast<double>(small.of_messages);
    const double byte_share = small.of_bytes > 0 ? small.bytes / small.of_bytes : 0;
    if (share >= limits_.small_message_share)
      small_message_finding(FindingKind::kSmallMessagePressure, share, small, share, byte_share);
    if (byte_share >= limits_.small_message_overhead_share) {
      small_message_finding(FindingKind::kSmallMessageOverhead, byte_share, small, share,
                            byte_share);
    }
  }

  void small_message_finding(FindingKind kind, double score, const SmallMessages& small,
                             double share, double byte_share) {
    Finding& finding = add(kind, score, small.messages);
    const double seconds = profile_.application.seconds *
                           static_cast<double>(std::max<std::int64_t>(structure_.ranks, 1));
    const double part =
        seconds > 0 ? static_cast<double>(small.messages) * kMessageSeconds / seconds : 1;
    if (part < kWorthSeconds) finding.severity = Severity::kInfo;
    finding.where.class_name = class_with_most_small();
    finding.pairs = small_pairs(finding.where.class_name);
    for (const RankPair& pair : finding.pairs) finding.culprits.push_back(pair.source);
    sort_unique(finding.culprits);
    finding.evidence = {{"share_of_messages", share},
                        {"share_of_bytes", byte_share},
                        {"small_below_bytes", limits_.small_message_bytes},
                        {"part_of_run_at_1_us_each", part}};
    finding.summary = percent(share) + " of the messages with data are smaller than " +
                      std::to_string(static_cast<std::uint64_t>(limits_.small_message_bytes)) +
                      " B and carry " + percent(byte_share) +
                      " of the bytes: latency matters, not bandwidth";
    const std::string& most = finding.where.class_name;
    finding.advice =
        mpi::meaning_of(most).group == mpi::Group::kCollective
            ? "combine several calls of " + most + " into one with more data"
            : "send fewer, larger messages: pack what goes to the same rank together, or use a "
              "collective";
  }

  static void sort_unique(std::vector<std::int64_t>& ranks) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  }

  // Ranks above twice the mean, largest first.
  template <typename Of>
  std::vector<std::int64_t> busy_ranks(double mean, Of of) const {
    std::vector<RankTraffic> ranks = structure_.per_rank;
    std::erase_if(
        ranks, [&](const RankTraffic& rank) { return static_cast<double>(of(rank)) < 2 * mean; });
    base::sort_stably(ranks, [&](const auto& a, const auto& b) { return of(a) > of(b); });
    ranks.resize(std::min(ranks.size(), kMostListed));
    std::vector<std::int64_t> list;
    for (const RankTraffic& rank : ranks) list.push_back(rank.rank);
    return list;
  }

  std::vector<RankPair> pairs_of(const std::vector<std::int64_t>& ranks) const {
    std::vector<RankPair> pairs;
    for (const TopLink& link : structure_.top_links) {
      const auto is_one = [&](std::int64_t rank) {
        return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
      };
      if (is_one(link.pair.source) || is_one(link.pair.destination))
        pairs.push_back({link.pair.source, link.pair.destination});
    }
    return pairs;
  }

  void imbalance() {
    const Spread& touch = structure_.touch;
    if (touch.cv >= limits_.rank_traffic_cv) {
      Finding& finding = add(FindingKind::kRankTrafficImbalance, touch.cv / 2, 0);
      finding.culprits =
          busy_ranks(touch.mean, [](const RankTraffic& r) { return r.touch_bytes(); });
      describe_imbalance(finding, "sends and receives", touch);
      return;
    }
    const bool sending = structure_.out.imbalance >= structure_.in.imbalance;
    const Spread& worst = sending ? structure_.out : structure_.in;
    if (worst.imbalance < limits_.communication_imbalance) return;
    Finding& finding = add(FindingKind::kCommunicationImbalance, 1 - 1 / worst.imbalance, 0);
    finding.culprits = busy_ranks(
        worst.mean, [&](const RankTraffic& r) { return sending ? r.out.bytes : r.in.bytes; });
    describe_imbalance(finding, sending ? "sends" : "receives", worst);
  }

  void describe_imbalance(Finding& finding, const char* what, const Spread& spread) {
    finding.pairs = pairs_of(finding.culprits);
    const std::string who = finding.culprits.empty()
                                ? "the busiest rank"
                                : "rank " + std::to_string(finding.culprits[0]);
    for (const RankTraffic& rank : structure_.per_rank) {
      if (!finding.culprits.empty() && rank.rank == finding.culprits[0])
        finding.count = rank.out.messages + rank.in.messages;
    }
    finding.evidence = {
        {"imbalance", spread.imbalance}, {"cv", spread.cv}, {"mean_bytes", spread.mean}};
    finding.summary =
        who + " " + what + " " + times(spread.imbalance) + " times the bytes of the mean rank";
    finding.advice =
        "spread its part of the problem over more ranks, or use a collective instead of one hub";
  }

  void link_hotspot() {
    if (structure_.top_links.empty()) return;
    const TopLink& top = structure_.top_links[0];
    if (top.share < limits_.link_share || top.pair.source == top.pair.destination) return;
    Finding& finding = add(FindingKind::kLinkHotspot, 2 * top.share, top.pair.messages);
    finding.culprits = {top.pair.source};
    finding.victims = {top.pair.destination};
    finding.pairs = {{top.pair.source, top.pair.destination}};
    finding.evidence = {
        {"top_link_share", top.share}, {"bytes", top.pair.bytes}, {"density", structure_.density}};
    finding.summary = "rank " + std::to_string(top.pair.source) + " sends rank " +
                      std::to_string(top.pair.destination) + " " + percent(top.share) +
                      " of all bytes";
    finding.advice =
        profile::on_one_host(profile_, top.pair.source, top.pair.destination)
            ? "bind these two ranks to the same socket, or split what one of them holds"
            : "place these two ranks on one host, or split what one of them holds";
  }

  void root_bottleneck(const ClassTraffic& traffic) {
    const double part =
        static_cast<double>(traffic.bytes) / static_cast<double>(structure_.all.bytes);
    if (!is_rooted_collective(traffic.class_name) || part < limits_.collective_byte_share) return;
    const RootShare root = root_share(traffic);
    if (root.ranks < limits_.few_ranks || root.share < limits_.root_share) return;
    Finding& finding = add(FindingKind::kCollectiveRootBottleneck, root.share, root.count);
    finding.culprits = {root.rank};
    finding.where.class_name = finding.where.function = traffic.class_name;
    if (traffic.communicators.size() == 1)
      finding.where.communicator = *traffic.communicators.begin();
    for (const auto& pair :
         profile::top_pairs(traffic.pairs, kMostListed, profile::Metric::kBytes)) {
      if (pair.source == root.rank || pair.destination == root.rank)
        finding.pairs.push_back({pair.source, pair.destination});
    }
    finding.evidence = {
        {"top_root", root.rank}, {"top_root_share", root.share}, {"share_of_bytes", part}};
    finding.summary = "rank " + std::to_string(root.rank) + " is the root of " +
                      percent(root.share) + " of " + traffic.class_name + ", which carries " +
                      percent(part) + " of all bytes";
    finding.advice =
        mpi::meaning_of(traffic.class_name).flow == mpi::Flow::kFromRoot
            ? "have each rank read or compute its part itself, or share the root's work among "
              "several ranks"
            : "keep the data distributed instead of collecting it at one rank "
              "(MPI_Reduce_scatter, MPI_Alltoall, parallel IO), or use several roots";
  }

  // The global collectives on communicators that no rank lacks.
  profile::Profile on_all_ranks() const {
    profile::Profile part;
    std::set<std::int64_t> smaller;
    for (const profile::Communicator& entry : profile_.communicators) {
      const std::size_t members = entry.world_ranks.size() + entry.remote_world_ranks.size();
      if (members > 0 && static_cast<std::int64_t>(members) < structure_.ranks)
        smaller.insert(entry.id);
    }
    for (const profile::Traffic& block : profile_.traffic) {
      if (is_global_collective(block.class_name) && !smaller.contains(block.communicator))
        part.traffic.push_back(block);
    }
    return part;
  }

  template <typename IsOne>
  static ClassTraffic sum_of(IsOne is_one, const std::vector<ClassTraffic>& classes) {
    ClassTraffic sum;
    std::uint64_t most = 0;
    for (const ClassTraffic& traffic : classes) {
      if (!is_one(traffic.class_name)) continue;
      sum.bytes += traffic.bytes;
      sum.messages += traffic.messages;
      if (traffic.messages < most) continue;
      most = traffic.messages;
      sum.class_name = traffic.class_name;
      sum.communicators = traffic.communicators;
      sum.pairs = traffic.pairs;
    }
    return sum;
  }

  Finding& collective_finding(FindingKind kind, double share, const ClassTraffic& sum) {
    Finding& finding = add(kind, share, sum.messages);
    finding.where.class_name = finding.where.function = sum.class_name;
    if (sum.communicators.size() == 1) finding.where.communicator = *sum.communicators.begin();
    for (const profile::PairCount& pair : sum.pairs) finding.victims.push_back(pair.destination);
    sort_unique(finding.victims);
    finding.victims.resize(std::min(finding.victims.size(), kMostListed));
    for (const auto& pair :
         profile::top_pairs(sum.pairs, kMostListed, profile::Metric::kMessages)) {
      finding.pairs.push_back({pair.source, pair.destination});
    }
    return finding;
  }

  void barriers() {
    const ClassTraffic sum = sum_of(is_barrier, classes_);
    if (static_cast<double>(sum.messages) < limits_.few_messages) return;
    const double share =
        static_cast<double>(sum.messages) / static_cast<double>(structure_.all.messages);
    if (share < limits_.synchronization_share) return;
    Finding& finding = collective_finding(FindingKind::kSynchronizationHeavy, share, sum);
    finding.evidence = {{"share_of_messages", share}};
    finding.summary = percent(share) + " of all messages are sent inside barriers";
    finding.advice =
        "remove barriers that the program does not need: messages and collectives already "
        "synchronise the ranks that exchange data";
  }

  void global_collectives() {
    const ClassTraffic sum = sum_of(is_global_collective, traffic_by_class(on_all_ranks()));
    const double share = static_cast<double>(sum.bytes) / static_cast<double>(structure_.all.bytes);
    if (share < limits_.global_collective_share || !enough_ranks()) return;
    Finding& finding = collective_finding(FindingKind::kGlobalCollectiveHeavy, share, sum);
    finding.evidence = {{"share_of_bytes", share}, {"bytes", sum.bytes}};
    finding.summary =
        percent(share) +
        " of all bytes move inside collectives in which all ranks exchange data, mostly " +
        sum.class_name;
    finding.advice =
        "exchange among fewer ranks (the rows and columns of a grid), use the non-blocking form "
        "and overlap it with computing, or send less: smaller types, only what has changed";
  }

  const profile::Profile& profile_;
  const Thresholds& limits_;
  const Structure structure_;
  const std::vector<ClassTraffic> classes_;
  std::vector<Finding> findings_;
};

}  // namespace

base::Result<Outcome> traffic_issues(const Input& input) {
  Outcome outcome;
  outcome.findings = Issues(input).find();
  Table& table = outcome.section.table("issues");
  add_column(table, "kind", outcome.findings, [](const Finding& f) { return f.kind; });
  add_column(table, "severity", outcome.findings,
             [](const Finding& f) { return std::string(name_of(f.severity)); });
  add_column(table, "strength", outcome.findings, [](const Finding& f) { return f.strength; });
  add_column(table, "summary", outcome.findings, [](const Finding& f) { return f.summary; });
  return outcome;
}

}  // namespace fathom::analysis
