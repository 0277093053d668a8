// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/pyrite/issue_tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/order/sort_stably.h"
#include "base/seconds.h"

namespace fathom::analysis {
namespace {

struct IssueSummary {
  std::uint64_t total_events = 0;  // calls
  std::uint64_t canonical_transfer_events = 0, canonical_transfer_bytes = 0;
  std::uint64_t completion_events = 0, barrier_events = 0, collective_events = 0;
  double estimated_runtime = 0;
  double pair_density = 0, avg_out_peers = 0, avg_in_peers = 0;
};

IssueSummary summary_of(const IssueReport& report) {
  IssueSummary summary;
  for (const RankCalls& rank : report.counts.ranks) {
    summary.total_events += rank.calls;
    summary.completion_events += rank.completions;
    summary.barrier_events += rank.barriers;
    summary.collective_events += rank.collectives;
  }
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const LinkCounts& link : report.counts.links) {
    summary.canonical_transfer_events += link.messages;
    summary.canonical_transfer_bytes += link.bytes;
    if (link.source != link.destination) pairs.insert({link.source, link.destination});
  }
  summary.estimated_runtime = base::seconds(report.counts.end_ns - report.counts.begin_ns);
  const auto ranks = static_cast<double>(report.counts.ranks.size()),
             count = static_cast<double>(pairs.size());
  if (ranks > 1) summary.pair_density = count / (ranks * (ranks - 1));
  if (ranks > 0) summary.avg_out_peers = summary.avg_in_peers = count / ranks;
  return summary;
}

void lay_out_summary(const IssueSummary& summary, Section& section) {
  section.figure("total_events", summary.total_events);
  section.figure("canonical_transfer_events", summary.canonical_transfer_events);
  section.figure("canonical_transfer_bytes", summary.canonical_transfer_bytes);
  section.figure("completion_events", summary.completion_events);
  section.figure("barrier_events", summary.barrier_events);
  section.figure("collective_events", summary.collective_events);
  section.figure("estimated_runtime", summary.estimated_runtime);
  section.figure("pair_density", summary.pair_density);
  section.figure("avg_out_peers", summary.avg_out_peers);
  section.figure("avg_in_peers", summary.avg_in_peers);
}

void lay_out_ranks(const std::vector<IssueRank>& ranks, Table& table) {
  add_column(table, "rank", ranks, [](const IssueRank& r) { return r.rank; });
  add_column(table, "events", ranks, [](const IssueRank& r) { return r.calls.calls; });
  add_column(table, "completion_events", ranks,
             [](const IssueRank& r) { return r.calls.completions; });
  add_column(table, "barrier_events", ranks, [](const IssueRank& r) { return r.calls.barriers; });
  add_column(table, "collective_events", ranks,
             [](const IssueRank& r) { return r.calls.collectives; });
  add_column(table, "global_collective_events", ranks,
             [](const IssueRank& r) { return r.calls.global_collectives; });
  add_column(table, "rooted_collective_events", ranks,
             [](const IssueRank& r) { return r.calls.rooted_collectives; });
  add_column(table, "canonical_bytes_out", ranks, [](const IssueRank& r) { return r.bytes_out; });
  add_column(table, "canonical_bytes_in", ranks, [](const IssueRank& r) { return r.bytes_in; });
  add_column(table, "canonical_messages_out", ranks,
             [](const IssueRank& r) { return r.messages_out; });
  add_column(table, "canonical_messages_in", ranks,
             [](const IssueRank& r) { return r.messages_in; });
  add_column(table, "distinct_out_peers", ranks, [](const IssueRank& r) { return r.peers_out; });
  add_column(table, "distinct_in_peers", ranks, [](const IssueRank& r) { return r.peers_in; });
  add_column(table, "completion_request_count", ranks,
             [](const IssueRank& r) { return r.calls.completed_requests; });
  add_column(table, "touch_bytes", ranks, [](const IssueRank& r) { return r.touch_bytes(); });
}

void lay_out_links(const std::vector<IssueLink>& links, Table& table) {
  add_column(table, "comm", links, [](const IssueLink& l) { return std::int64_t{l.communicator}; });
  add_column(table, "sender", links, [](const IssueLink& l) { return l.source; });
  add_column(table, "receiver", links, [](const IssueLink& l) { return l.destination; });
  add_column(table, "messages", links, [](const IssueLink& l) { return l.messages; });
  add_column(table, "bytes", links, [](const IssueLink& l) { return l.bytes; });
  add_column(table, "first_time", links,
             [](const IssueLink& l) { return base::seconds(l.first_ns); });
  add_column(table, "last_time", links,
             [](const IssueLink& l) { return base::seconds(l.last_ns); });
}

void lay_out_windows(const IssueCounts& counts, Table& table) {
  std::vector<std::size_t> numbers(counts.windows.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  const double begin = base::seconds(counts.begin_ns),
               width = (base::seconds(counts.end_ns) - begin) /
                       static_cast<double>(std::max<std::size_t>(numbers.size(), 1));
  add_column(table, "t_start", numbers,
             [&](std::size_t i) { return begin + width * static_cast<double>(i); });
  add_column(table, "t_end", numbers,
             [&](std::size_t i) { return begin + width * static_cast<double>(i + 1); });
  add_column(table, "events", counts.windows, [](const WindowCounts& w) { return w.calls; });
  add_column(table, "canonical_transfer_events", counts.windows,
             [](const WindowCounts& w) { return w.messages; });
  add_column(table, "canonical_transfer_bytes", counts.windows,
             [](const WindowCounts& w) { return w.bytes; });
  add_column(table, "completion_events", counts.windows,
             [](const WindowCounts& w) { return w.completions; });
  add_column(table, "barrier_events", counts.windows,
             [](const WindowCounts& w) { return w.barriers; });
  add_column(table, "collective_events", counts.windows,
             [](const WindowCounts& w) { return w.collectives; });
}

void lay_out_found(const std::vector<Finding>& issues, Table& table) {
  add_column(table, "type", issues, [](const Finding& f) { return f.kind; });
  add_column(table, "severity", issues,
             [](const Finding& f) { return std::string(name_of(f.severity)); });
  add_column(table, "score", issues, [](const Finding& f) { return f.strength; });
  add_column(table, "seconds", issues, [](const Finding& f) { return f.seconds.value_or(0); });
  add_column(table, "description", issues, [](const Finding& f) { return f.summary; });
}

// The widest barriers, in order of time.
std::vector<Barrier> barriers_in_order(const IssueReport& report) {
  std::vector<Barrier> barriers = report.barriers.worst;
  base::sort_stably(barriers,
                    [](const Barrier& a, const Barrier& b) { return a.first_ns < b.first_ns; });
  return barriers;
}

}  // namespace

std::vector<IssueRank> ranks_of(const IssueReport& report, const trace::Definitions& definitions) {
  // A map, because links may lead to ranks that left no calls.
  std::map<std::int64_t, IssueRank> ranks;
  for (const RankCalls& calls : report.counts.ranks) {
    const std::int64_t rank = definitions.processes[calls.process].rank;
    ranks[rank].rank = rank;
    ranks[rank].calls = calls;
  }
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const LinkCounts& link : report.counts.links) {
    IssueRank& source = ranks[link.source];
    IssueRank& destination = ranks[link.destination];
    std::tie(source.rank, destination.rank) = std::tie(link.source, link.destination);
    source.bytes_out += link.bytes;
    source.messages_out += link.messages;
    destination.bytes_in += link.bytes;
    destination.messages_in += link.messages;
    if (link.source != link.destination) pairs.insert({link.source, link.destination});
  }
  for (const auto& [source, destination] : pairs) {
    ++ranks[source].peers_out;
    ++ranks[destination].peers_in;
  }
  std::vector<IssueRank> list;
  for (const auto& [number, rank] : ranks) list.push_back(rank);
  return list;
}

std::vector<IssueLink> top_links_of(const IssueReport& report,
                                    const trace::Definitions& definitions) {
  std::vector<IssueLink> links;
  for (const LinkCounts& one : report.counts.links) {  // by communicator, source, destination
    const bool same = !links.empty() && std::tie(links.back().communicator, links.back().source,
                                                 links.back().destination) ==
                                            std::tie(one.communicator, one.source, one.destination);
    if (!same)
      links.push_back(
          {one.communicator, one.source, one.destination, 0, 0, one.first_ns, one.last_ns, {}});
    IssueLink& link = links.back();
    link.bytes += one.bytes;
    link.messages += one.messages;
    link.first_ns = std::min(link.first_ns, one.first_ns);
    link.last_ns = std::max(link.last_ns, one.last_ns);
    link.calls.emplace_back(definitions.classes[one.message_class], one.messages);
  }
  base::sort_stably(links,
                    [](const IssueLink& a, const IssueLink& b) { return a.bytes > b.bytes; });
  constexpr std::size_t kTop = 20;
  links.resize(std::min(links.size(), kTop));
  return links;
}

std::vector<IssueRoot> roots_of(const IssueReport& report, const trace::Definitions& definitions) {
  std::vector<IssueRoot> roots;
  for (const RootCounts& row : report.counts.roots) {  // by root
    if (roots.empty() || roots.back().root != row.root) roots.emplace_back().root = row.root;
    roots.back().calls += row.calls;
    roots.back().bytes += row.bytes;
    roots.back().functions.emplace_back(definitions.functions[row.function].name, row.calls);
  }
  base::sort_stably(roots,
                    [](const IssueRoot& a, const IssueRoot& b) { return a.bytes > b.bytes; });
  return roots;
}

void lay_out_issues(const IssueReport& report, const trace::Definitions& definitions,
                    Section& section) {
  lay_out_summary(summary_of(report), section);
  const std::vector<IssueRank> ranks = ranks_of(report, definitions);
  lay_out_found(report.issues, section.table("issues"));
  lay_out_ranks(ranks, section.table("per_rank"));
  lay_out_links(top_links_of(report, definitions), section.table("top_links"));
  Table& roots = section.table("collective_roots");
  const std::vector<IssueRoot> found = roots_of(report, definitions);
  add_column(roots, "root", found, [](const IssueRoot& r) { return r.root; });
  add_column(roots, "events", found, [](const IssueRoot& r) { return r.calls; });
  add_column(roots, "bytes", found, [](const IssueRoot& r) { return r.bytes; });
  Table& spreads = section.table("barrier_spreads");
  const std::vector<Barrier> barriers = barriers_in_order(report);
  add_column(spreads, "comm", barriers,
             [](const Barrier& b) { return std::int64_t{b.communicator}; });
  add_column(spreads, "barrier_index", barriers,
             [](const Barrier& b) { return std::uint64_t{b.sequence}; });
  add_column(spreads, "t_min", barriers,
             [](const Barrier& b) { return base::seconds(b.first_ns); });
  add_column(spreads, "t_max", barriers, [](const Barrier& b) { return base::seconds(b.last_ns); });
  add_column(spreads, "spread", barriers,
             [](const Barrier& b) { return base::seconds(b.spread_ns()); });
  lay_out_windows(report.counts, section.table("time_windows"));
}

}  // namespace fathom::analysis
