// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/matrices.h"

#include <map>

#include "profile/pair_sums.h"
#include "profile/summary.h"

namespace fathom::analysis {
namespace {

using profile::PairCount;

double mean_size(std::uint64_t bytes, std::uint64_t messages) {
  return messages > 0 ? static_cast<double>(bytes) / static_cast<double>(messages) : 0;
}

void lay_out_pairs(const char* name, const std::vector<PairCount>& pairs, Section& section) {
  Table& table = section.table(name);
  add_column(table, "source", pairs, [](const PairCount& p) { return p.source; });
  add_column(table, "destination", pairs, [](const PairCount& p) { return p.destination; });
  add_column(table, "bytes", pairs, [](const PairCount& p) { return p.bytes; });
  add_column(table, "messages", pairs, [](const PairCount& p) { return p.messages; });
  add_column(table, "mean_bytes", pairs,
             [](const PairCount& p) { return mean_size(p.bytes, p.messages); });
}

// Unsummed, so that a reader can choose by class, communicator and phase without asking again.
void lay_out_blocks(const profile::Profile& profile, Section& section) {
  struct Row {
    const profile::Traffic* block;
    std::size_t at;
  };
  std::vector<Row> rows;
  for (const profile::Traffic& block : profile.traffic) {
    for (std::size_t at = 0; at < block.source.size(); ++at) rows.push_back({&block, at});
  }
  Table& table = section.table("pairs");
  add_column(table, "class", rows, [](const Row& r) { return r.block->class_name; });
  add_column(table, "hidden", rows, [](const Row& r) { return std::int64_t{r.block->hidden}; });
  add_column(table, "communicator", rows, [](const Row& r) { return r.block->communicator; });
  add_column(table, "phase", rows, [](const Row& r) { return r.block->phase; });
  add_column(table, "source", rows, [](const Row& r) { return r.block->source[r.at]; });
  add_column(table, "destination", rows, [](const Row& r) { return r.block->destination[r.at]; });
  add_column(table, "bytes", rows, [](const Row& r) { return r.block->bytes[r.at]; });
  add_column(table, "messages", rows, [](const Row& r) { return r.block->messages[r.at]; });
  add_column(table, "mean_bytes", rows,
             [](const Row& r) { return mean_size(r.block->bytes[r.at], r.block->messages[r.at]); });
}

void lay_out_ranks(const std::vector<PairCount>& pairs, Section& section) {
  const std::vector<profile::RankTotal> ranks = profile::rank_totals(pairs);
  Table& table = section.table("ranks");
  add_column(table, "rank", ranks, [](const profile::RankTotal& r) { return r.rank; });
  add_column(table, "bytes_sent", ranks, [](const profile::RankTotal& r) { return r.sent.bytes; });
  add_column(table, "messages_sent", ranks,
             [](const profile::RankTotal& r) { return r.sent.messages; });
  add_column(table, "bytes_received", ranks,
             [](const profile::RankTotal& r) { return r.received.bytes; });
  add_column(table, "messages_received", ranks,
             [](const profile::RankTotal& r) { return r.received.messages; });
}

void lay_out_hosts(const std::vector<HostPair>& pairs, Section& section) {
  Table& table = section.table("hosts");
  add_column(table, "source", pairs, [](const HostPair& p) { return p.source; });
  add_column(table, "destination", pairs, [](const HostPair& p) { return p.destination; });
  add_column(table, "bytes", pairs, [](const HostPair& p) { return p.bytes; });
  add_column(table, "messages", pairs, [](const HostPair& p) { return p.messages; });
  add_column(table, "mean_bytes", pairs,
             [](const HostPair& p) { return mean_size(p.bytes, p.messages); });
}

profile::Selection only(profile::Origin origin) {
  profile::Selection selection;
  selection.origin = origin;
  return selection;
}

}  // namespace

std::vector<HostPair> between_hosts(const profile::Profile& profile,
                                    const std::vector<PairCount>& pairs) {
  std::map<std::int64_t, std::string> host;
  for (const profile::Rank& rank : profile.ranks) {
    if (!rank.host.empty()) host[rank.rank] = rank.host;
  }
  std::map<std::pair<std::string, std::string>, profile::Volume> sums;
  for (const PairCount& pair : pairs) {
    const auto source = host.find(pair.source), destination = host.find(pair.destination);
    if (source == host.end() || destination == host.end()) continue;
    profile::Volume& sum = sums[{source->second, destination->second}];
    sum.bytes += pair.bytes;
    sum.messages += pair.messages;
  }
  std::vector<HostPair> list;
  for (const auto& [names, sum] : sums)
    list.push_back({names.first, names.second, sum.bytes, sum.messages});
  return list;
}

base::Result<Outcome> matrices(const Input& input) {
  Outcome outcome;
  const profile::Profile& profile = *input.profile;
  const std::vector<PairCount> pairs = profile::sum_pairs(profile);
  lay_out_blocks(profile, outcome.section);
  lay_out_pairs("all_pairs", pairs, outcome.section);
  lay_out_pairs("user_pairs", profile::sum_pairs(profile, only(profile::Origin::kUser)),
                outcome.section);
  lay_out_pairs("hidden_pairs", profile::sum_pairs(profile, only(profile::Origin::kHidden)),
                outcome.section);
  lay_out_pairs("symmetric", profile::symmetrised(pairs), outcome.section);
  lay_out_ranks(pairs, outcome.section);
  lay_out_hosts(between_hosts(profile, pairs), outcome.section);
  return outcome;
}

}  // namespace fathom::analysis
