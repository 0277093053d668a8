// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/structure.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/order/sort_stably.h"
#include "profile/pair_sums.h"

namespace fathom::analysis {
namespace {

using profile::PairCount;

std::vector<RankTraffic> rank_traffic(const std::vector<PairCount>& pairs) {
  std::map<std::int64_t, RankTraffic> ranks;
  for (const PairCount& pair : pairs) {
    RankTraffic& source = ranks[pair.source];
    RankTraffic& destination = ranks[pair.destination];
    source.out.bytes += pair.bytes;
    source.out.messages += pair.messages;
    destination.in.bytes += pair.bytes;
    destination.in.messages += pair.messages;
    if (pair.source == pair.destination) continue;
    ++source.peers_out;
    ++destination.peers_in;
  }
  std::vector<RankTraffic> list;
  for (auto& [rank, traffic] : ranks) {
    traffic.rank = rank;
    list.push_back(traffic);
  }
  return list;
}

template <typename Of>
Spread spread_over(std::int64_t ranks, const std::vector<RankTraffic>& list, Of of) {
  // Ranks without traffic are missing in `list`, but count as 0.
  std::vector<double> values(static_cast<std::size_t>(ranks), 0.0);
  for (std::size_t i = 0; i < list.size(); ++i) values[i] = static_cast<double>(of(list[i]));
  return spread_of(values);
}

std::vector<TopLink> top_links(const std::vector<PairCount>& pairs, const profile::Volume& all) {
  const profile::Metric metric =
      all.bytes > 0 ? profile::Metric::kBytes : profile::Metric::kMessages;
  const auto whole = static_cast<double>(all.bytes > 0 ? all.bytes : all.messages);
  std::vector<TopLink> links;
  for (const PairCount& pair : profile::top_pairs(pairs, kTopLinks, metric)) {
    links.push_back({pair, static_cast<double>(profile::by(metric, pair)) / whole});
  }
  return links;
}

// `place_of` gives the place of a rank, or none.
Locality locality_at(const char* level, const std::vector<PairCount>& pairs,
                     const std::map<std::int64_t, std::string>& place_of) {
  Locality locality{level, {}, {}};
  for (const PairCount& pair : pairs) {
    const auto a = place_of.find(pair.source), b = place_of.find(pair.destination);
    if (pair.source == pair.destination || a == place_of.end() || b == place_of.end()) continue;
    locality.known.bytes += pair.bytes;
    locality.known.messages += pair.messages;
    if (a->second != b->second) continue;
    locality.inside.bytes += pair.bytes;
    locality.inside.messages += pair.messages;
  }
  return locality;
}

std::vector<Locality> localities(const profile::Profile& profile, const trace::Trace* trace,
                                 const std::vector<PairCount>& pairs) {
  std::map<std::int64_t, std::string> hosts, sockets;
  for (const profile::Rank& rank : profile.ranks) {
    if (!rank.host.empty()) hosts[rank.rank] = rank.host;
  }
  if (trace) {
    for (const trace::Process& process : trace->definitions().processes) {
      if (process.socket >= 0)
        sockets[process.rank] = process.host + " socket " + std::to_string(process.socket);
    }
  }
  std::vector<Locality> list;
  if (!sockets.empty()) list.push_back(locality_at("socket", pairs, sockets));
  if (!hosts.empty()) list.push_back(locality_at("host", pairs, hosts));
  return list;
}

MatrixShape shape_of(const std::vector<PairCount>& pairs) {
  MatrixShape shape;
  double bytes = 0, far = 0, near = 0;
  for (const PairCount& pair : pairs) {
    const std::int64_t distance = std::abs(pair.source - pair.destination);
    if (distance == 0) continue;
    const auto weight = static_cast<double>(pair.bytes);
    shape.bandwidth = std::max(shape.bandwidth, distance);
    bytes += weight;
    far += weight * static_cast<double>(distance);
    if (distance <= 8) near += weight;
  }
  if (bytes > 0) {
    shape.mean_distance = far / bytes;
    shape.within_8 = near / bytes;
  }
  return shape;
}

void lay_out_ranks(const Structure& found, Section& section) {
  Table& table = section.table("ranks");
  const auto& ranks = found.per_rank;
  add_column(table, "rank", ranks, [](const RankTraffic& r) { return r.rank; });
  add_column(table, "bytes_out", ranks, [](const RankTraffic& r) { return r.out.bytes; });
  add_column(table, "bytes_in", ranks, [](const RankTraffic& r) { return r.in.bytes; });
  add_column(table, "messages_out", ranks, [](const RankTraffic& r) { return r.out.messages; });
  add_column(table, "messages_in", ranks, [](const RankTraffic& r) { return r.in.messages; });
  add_column(table, "touch_bytes", ranks, [](const RankTraffic& r) { return r.touch_bytes(); });
  add_column(table, "peers_out", ranks, [](const RankTraffic& r) { return r.peers_out; });
  add_column(table, "peers_in", ranks, [](const RankTraffic& r) { return r.peers_in; });
}

template <typename Of>
void lay_out_top(const char* name, std::vector<RankTraffic> ranks, Of bytes_of, Section& section) {
  base::sort_stably(
      ranks, [&](const RankTraffic& a, const RankTraffic& b) { return bytes_of(a) > bytes_of(b); });
  ranks.resize(std::min(ranks.size(), kTopRanks));
  Table& table = section.table(name);
  add_column(table, "rank", ranks, [](const RankTraffic& r) { return r.rank; });
  add_column(table, "bytes", ranks, bytes_of);
}

void lay_out_links(const Structure& found, Section& section) {
  Table& links = section.table("top_links");
  add_column(links, "source", found.top_links, [](const TopLink& l) { return l.pair.source; });
  add_column(links, "destination", found.top_links,
             [](const TopLink& l) { return l.pair.destination; });
  add_column(links, "bytes", found.top_links, [](const TopLink& l) { return l.pair.bytes; });
  add_column(links, "messages", found.top_links, [](const TopLink& l) { return l.pair.messages; });
  add_column(links, "share", found.top_links, [](const TopLink& l) { return l.share; });
  Table& locality = section.table("locality");
  add_column(locality, "level", found.locality, [](const Locality& l) { return l.level; });
  add_column(locality, "bytes_inside", found.locality,
             [](const Locality& l) { return l.inside.bytes; });
  add_column(locality, "bytes", found.locality, [](const Locality& l) { return l.known.bytes; });
  add_column(locality, "messages_inside", found.locality,
             [](const Locality& l) { return l.inside.messages; });
  add_column(locality, "messages", found.locality,
             [](const Locality& l) { return l.known.messages; });
}

void lay_out_spread(const char* name, const Spread& spread, Section& section) {
  section.figure(std::string(name) + "_mean", spread.mean);
  section.figure(std::string(name) + "_imbalance", spread.imbalance);
  section.figure(std::string(name) + "_cv", spread.cv);
}

void lay_out(const Structure& found, Section& section) {
  section.figure("ranks", found.ranks);
  section.figure("pairs", found.pairs);
  section.figure("density", found.density);
  section.figure("bytes", found.all.bytes);
  section.figure("messages", found.all.messages);
  section.figure("bytes_to_itself", found.to_itself.bytes);
  section.figure("messages_to_itself", found.to_itself.messages);
  lay_out_spread("out", found.out, section);
  lay_out_spread("in", found.in, section);
  lay_out_spread("touch", found.touch, section);
  lay_out_spread("peers", found.peers, section);
  section.figure("dominant_link_share", found.top_links.empty() ? 0.0 : found.top_links[0].share);
  section.figure("matrix_bandwidth", found.shape.bandwidth);
  section.figure("mean_distance", found.shape.mean_distance);
  section.figure("share_within_8_of_diagonal", found.shape.within_8);
  section.figure("blocks", found.blocks.count);
  section.figure("modularity", found.blocks.modularity);
  section.figure("share_inside_blocks", found.blocks.share_inside);
  lay_out_ranks(found, section);
  lay_out_top(
      "top_ranks_by_out_bytes", found.per_rank, [](const RankTraffic& r) { return r.out.bytes; },
      section);
  lay_out_top(
      "top_ranks_by_in_bytes", found.per_rank, [](const RankTraffic& r) { return r.in.bytes; },
      section);
  lay_out_top(
      "top_ranks_by_touch_bytes", found.per_rank,
      [](const RankTraffic& r) { return r.touch_bytes(); }, section);
  lay_out_links(found, section);
  Table& blocks = section.table("rank_blocks");
  blocks.columns = {{"rank", found.blocks.ranks}, {"block", found.blocks.block}};
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  double sum = 0, squares = 0, most = 0;
  for (const double value : values) {
    sum += value;
    most = std::max(most, value);
  }
  if (values.empty() || sum == 0) return spread;
  spread.mean = sum / static_cast<double>(values.size());
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.imbalance = most / spread.mean;
  spread.cv = std::sqrt(squares / static_cast<double>(values.size())) / spread.mean;
  return spread;
}

Structure structure_of(const profile::Profile& profile, const trace::Trace* trace) {
  Structure found;
  const std::vector<PairCount> pairs = profile::sum_pairs(profile);
  found.ranks = profile::rank_count(profile);
  found.all = profile::total(pairs);
  found.density = profile::density(pairs, found.ranks);
  for (const PairCount& pair : pairs) {
    if (pair.source != pair.destination) {
      ++found.pairs;
      continue;
    }
    found.to_itself.bytes += pair.bytes;
    found.to_itself.messages += pair.messages;
  }
  found.per_rank = rank_traffic(pairs);
  const bool by_bytes = found.all.bytes > 0;
  const auto amount = [by_bytes](const profile::Volume& volume) {
    return by_bytes ? volume.bytes : volume.messages;
  };
  found.out =
      spread_over(found.ranks, found.per_rank, [&](const RankTraffic& r) { return amount(r.out); });
  found.in =
      spread_over(found.ranks, found.per_rank, [&](const RankTraffic& r) { return amount(r.in); });
  found.touch = spread_over(found.ranks, found.per_rank,
                            [&](const RankTraffic& r) { return amount(r.out) + amount(r.in); });
  found.peers =
      spread_over(found.ranks, found.per_rank, [](const RankTraffic& r) { return r.peers_out; });
  found.top_links = top_links(pairs, found.all);
  found.locality = localities(profile, trace, pairs);
  found.shape = shape_of(pairs);
  found.blocks = blocks_of(pairs);
  return found;
}

base::Result<Outcome> structure(const Input& input) {
  Outcome outcome;
  lay_out(structure_of(*input.profile, input.trace), outcome.section);
  return outcome;
}

}  // namespace fathom::analysis
