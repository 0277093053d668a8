// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/advice.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>

#include "base/seconds.h"
#include "cli/terminal/units.h"
#include "mpi/meaning.h"
#include "mpi/wait_kind.h"
#include "profile/pair_sums.h"

namespace fathom::cli {
namespace {

using profile::Coverage;
using profile::Totals;

// Thresholds for a warning. Below kFewMessages messages no patterns are reported.
constexpr double kUneven = 2.0;        // busiest rank over the mean
constexpr double kDominantPair = 0.5;  // share of one pair in all bytes
constexpr double kMostlyTiny = 0.5;    // share of tiny messages in all messages
constexpr std::uint64_t kFewMessages = 1000;
constexpr std::uint64_t kFewBytes = 1'000'000;

std::string amount(std::uint64_t messages, std::uint64_t bytes) {
  return fmt::format("{} message{} ({})", grouped(messages), messages == 1 ? "" : "s",
                     human_bytes(static_cast<double>(bytes)));
}

std::string by_whom(const char* side, const Totals& totals) {
  return totals.witness.empty() ? side : fmt::format("{} ({})", side, printable(totals.witness));
}

std::string differences(const Coverage& coverage) {
  if (coverage.differences.empty()) return "senders and receivers disagree";
  const profile::PairDifference* worst = &coverage.differences.front();
  const auto gap = [](const profile::PairDifference& pair) {
    return pair.sent_bytes > pair.received_bytes ? pair.sent_bytes - pair.received_bytes
                                                 : pair.received_bytes - pair.sent_bytes;
  };
  for (const auto& pair : coverage.differences) {
    if (gap(pair) > gap(*worst)) worst = &pair;
  }
  const bool receivers_lack = std::ranges::any_of(coverage.differences, [](const auto& pair) {
    return pair.sent_messages > pair.received_messages;
  });
  return fmt::format(
      "senders and receivers disagree on {} pair{}, most on {} → {}: {} sent, {} "
      "received{}",
      grouped(coverage.differences.size()), coverage.differences.size() == 1 ? "" : "s",
      worst->source, worst->destination, amount(worst->sent_messages, worst->sent_bytes),
      amount(worst->received_messages, worst->received_bytes),
      receivers_lack ? "; the missing messages were not seen waiting at the receiver: they "
                       "may have been in flight, or received without being counted"
                     : "");
}

std::string sum_of(const profile::NotVisible& hole) {
  const std::string where = hole.communicator == profile::kNone
                                ? ""
                                : fmt::format(" on communicator {}", hole.communicator);
  return fmt::format("not visible: {}{} through {} ({} call{}): {}", printable(hole.function),
                     where, printable(hole.module), grouped(hole.calls), hole.calls == 1 ? "" : "s",
                     printable(hole.reason));
}

std::string list_of_silent_ranks(const RunSummary& summary, std::size_t& count) {
  std::string list;
  count = 0;
  for (const profile::Rank& rank : summary.header.ranks) {
    if (rank.reported || !rank.world.empty()) continue;
    if (++count <= 5) list += fmt::format("{}{}", count > 1 ? ", " : "", rank.rank);
  }
  return count > 5 ? list + ", …" : list;
}

void about_the_run(const RunSummary& summary, std::vector<Remark>& remarks) {
  const Coverage& coverage = summary.header.coverage;
  if (!coverage.cut_short.empty()) {
    remarks.push_back(
        {"cut-short", fmt::format("the run was cut short ({}); what it would have sent "
                                  "after that is missing",
                                  printable(coverage.cut_short))});
  }
  std::size_t silent = 0;
  const std::string names = list_of_silent_ranks(summary, silent);
  if (silent > 0) {
    remarks.push_back(
        {"silent-ranks",
         fmt::format("{} rank{} left no counts ({}); what the others sent to and got "
                     "from {} is known",
                     silent, silent == 1 ? "" : "s", names, silent == 1 ? "it" : "them")});
  }
  const std::uint64_t sized =
      std::accumulate(summary.sizes.begin(), summary.sizes.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const SizeBin& bin) { return sum + bin.messages; });
  if (sized > 0 && sized < summary.total.messages) {
    remarks.push_back(
        {"unknown-sizes",
         fmt::format("the sizes of {} of the {} messages are not known: each is recorded where "
                     "it is received, and those receivers left no counts",
                     grouped(summary.total.messages - sized), grouped(summary.total.messages))});
  }
  if (coverage.lost_messages > 0) {
    remarks.push_back({"lost", fmt::format("{} messages could not be counted because memory ran "
                                           "out; give the job more memory",
                                           grouped(coverage.lost_messages))});
  }
  for (const profile::TraceLoss& loss : coverage.trace_lost) {
    remarks.push_back({"trace-lost", printable(profile::sentence(loss, "the trace"))});
  }
  if (coverage.unreceived.messages > 0) {
    std::string where;
    if (!coverage.unreceived_pairs.empty()) {
      const auto top =
          profile::top_pairs(coverage.unreceived_pairs, 1, profile::Metric::kMessages)[0];
      where = fmt::format(", most on {} → {}", top.source, top.destination);
    }
    remarks.push_back(
        {"unreceived",
         fmt::format("{} sent and never received{}{}",
                     amount(coverage.unreceived.messages, coverage.unreceived.bytes), where,
                     coverage.cut_short.empty()
                         ? ": look for a missing receive"
                         : "; in flight when the run ended, or a receive is missing")});
  }
}

// The class of a collective's messages has the name of its function.
const char* tiny_advice(const std::string& class_name) {
  const mpi::Meaning& meaning = mpi::meaning_of(class_name);
  if (meaning.group != mpi::Group::kCollective) return "send fewer, larger messages";
  return meaning.flow == mpi::Flow::kBarrier
             ? "remove the barriers that the program does not need"
             : "combine several of its calls into one with more data";
}

void about_the_pattern(const RunSummary& summary, std::vector<Remark>& remarks) {
  if (summary.total.messages >= kFewMessages) {
    const auto all = static_cast<double>(summary.total.messages);
    const auto tiny = static_cast<double>(summary.tiny_messages);
    if (tiny / all > kMostlyTiny) {
      remarks.push_back(
          {"tiny-messages",
           fmt::format(
               "{} of the messages carry {} bytes or less, most in {}: latency matters, not "
               "bandwidth; {}",
               percent(tiny, all), kTinyBytes, printable(summary.tiny_class),
               tiny_advice(summary.tiny_class))});
    }
  }
  if (summary.total.bytes < kFewBytes || summary.ranks <= 2) return;
  const bool by_sender = summary.imbalance_sent >= summary.imbalance_received;
  const double worst = by_sender ? summary.imbalance_sent : summary.imbalance_received;
  const auto& ranks = by_sender ? summary.top_senders : summary.top_receivers;
  if (worst >= kUneven && !ranks.empty()) {
    remarks.push_back(
        {"imbalance",
         fmt::format("rank {} {} {:.1f} × the mean of all ranks: spread its part of the "
                     "problem over more ranks, or use a collective instead of one hub",
                     ranks[0].rank, by_sender ? "sends" : "receives", worst)});
  }
  if (summary.top_pairs.empty()) return;
  const profile::PairCount& top = summary.top_pairs[0];
  const auto share = static_cast<double>(top.bytes) / static_cast<double>(summary.total.bytes);
  if (share >= kDominantPair && top.source != top.destination) {
    remarks.push_back({"dominant-pair",
                       fmt::format("{} → {} carries {} of all bytes: {}", top.source,
                                   top.destination, percent(share, 1),
                                   profile::on_one_host(summary.header, top.source, top.destination)
                                       ? "bind these two ranks to the same socket"
                                       : "place these two ranks on one host")});
  }
}

using namespace std::string_literals;

std::string why_unknown(const RunSummary& summary) {
  const Coverage& coverage = summary.header.coverage;
  if (coverage.waits) return "";
  return summary.rank_times.empty() ? coverage.waits_unknown : profile::why_no_waits(coverage);
}

// Says what is missing where it is more than the page's smallest share.
void about_waits(const RunSummary& summary, std::vector<Remark>& remarks) {
  constexpr double kMatters = 0.01;
  const Coverage& coverage = summary.header.coverage;
  if (const std::string why = why_unknown(summary); !why.empty()) {
    remarks.push_back(
        {kAboutWaits + "unknown"s,
         "who waits for whom and the critical path are not known: " + printable(why)});
  }
  if (!coverage.waits || summary.rank_times.empty()) return;
  const double least = kMatters * summary.all_ranks_seconds();
  const profile::WaitCoverage& waits = *coverage.waits;
  if (base::seconds(waits.left_out_ns) > least) {
    const bool for_want_of_memory = static_cast<double>(waits.threshold_ns) > mpi::kShortestWait_ns;
    remarks.push_back(
        {kAboutWaits + "left-out"s,
         fmt::format("left out of the waits: {} calls shorter than {}, {} in total{}",
                     grouped(waits.left_out), human_time(base::seconds(waits.threshold_ns)),
                     human_seconds(base::seconds(waits.left_out_ns)),
                     for_want_of_memory ? ", for want of memory (FATHOM_WAITS_MEMORY)" : "")});
  }
  if (base::seconds(waits.unresolved_ns) > least) {
    remarks.push_back(
        {kAboutWaits + "unresolved"s,
         fmt::format("left out of the waits: {} calls that may have waited, {} in total, because "
                     "it is not known when the other ranks sent, received or arrived",
                     grouped(waits.unresolved),
                     human_seconds(base::seconds(waits.unresolved_ns)))});
  }
}

// Other sources are those of importers.
bool counted_by_fathom(const profile::Header& header) {
  return header.source == "peruse" || header.source == "pml" || header.source == "mpi_t";
}

}  // namespace

Exactness exactness(const RunSummary& summary) {
  const Coverage& coverage = summary.header.coverage;
  const std::string senders = by_whom("senders", coverage.sent);
  const std::string receivers = by_whom("receivers", coverage.received);
  if (coverage.verdict == "exact" && coverage.received.messages == 0) {
    return {Trust::kExact,
            fmt::format("exact: {} and {} agree that nothing was sent", senders, receivers)};
  }
  if (coverage.verdict == "exact") {
    const std::string pairs = !summary.chosen.empty()
                                  ? "every pair"
                                  : fmt::format("all {} pairs", grouped(summary.pairs));
    return {Trust::kExact, fmt::format("exact: the {} counted by {} and by {} agree on {}",
                                       amount(coverage.received.messages, coverage.received.bytes),
                                       senders, receivers, pairs)};
  }
  if (coverage.verdict == "one-witness") {
    const bool by_senders = !coverage.sent.witness.empty() || coverage.received.witness.empty();
    const Totals& totals = by_senders ? coverage.sent : coverage.received;
    return {Trust::kLimited,
            fmt::format("counted once: {} by {}; there was no second witness to check them against",
                        amount(totals.messages, totals.bytes), by_senders ? senders : receivers)};
  }
  if (coverage.verdict == "differs") {
    return {Trust::kBroken, fmt::format("not exact: {}", differences(coverage))};
  }
  if (coverage.verdict == "incomplete") {
    return {Trust::kBroken,
            fmt::format("incomplete: {} counted by {}, {} by {}; ranks are missing, counts were "
                        "lost, or messages were exchanged while nothing was counted",
                        amount(coverage.sent.messages, coverage.sent.bytes), senders,
                        amount(coverage.received.messages, coverage.received.bytes), receivers)};
  }
  return {Trust::kLimited, "not checked: the profile does not say how its counts were verified"};
}

std::vector<Remark> limits(const RunSummary& summary) {
  std::vector<Remark> remarks;
  if (summary.chosen.empty() && summary.rank_times.empty()) {
    remarks.push_back({kNotTimed, std::string("calls were not timed") +
                                      (counted_by_fathom(summary.header)
                                           ? "; without --no-time, fathom run shows where time goes"
                                           : "")});
  }
  for (const profile::StepDown& step : summary.header.coverage.steps_down) {
    remarks.push_back({"step-down", fmt::format("source {} was not used: {}",
                                                printable(step.source), printable(step.reason))});
  }
  for (const profile::NotVisible& hole : summary.header.coverage.not_visible) {
    remarks.push_back({"not-visible", sum_of(hole)});
  }
  about_waits(summary, remarks);
  for (const std::string& note : summary.header.coverage.notes) {
    remarks.push_back({kNote, printable(note)});
  }
  return remarks;
}

std::vector<Remark> warnings(const RunSummary& summary) {
  std::vector<Remark> remarks;
  about_the_run(summary, remarks);
  about_the_pattern(summary, remarks);
  return remarks;
}

}  // namespace fathom::cli
