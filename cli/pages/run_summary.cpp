// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/run_summary.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "base/order/sort_stably.h"
#include "base/program_name.h"
#include "mpi/meaning.h"
#include "profile/pair_sums.h"
#include "profile/reader.h"
#include "trace/code/named_call_sites.h"

namespace fathom::cli {
namespace {

using profile::PairCount;
using profile::Volume;

// Power-of-two bins: 0 holds empty messages, b > 0 those of 2^(b-1) to 2^b - 1 bytes.
constexpr std::size_t kBins = 65;

class Collector : public profile::Visitor {
 public:
  explicit Collector(const profile::Selection& selection)
      : calls(selection), waits(selection), selection_(selection) {}

  void on_traffic(profile::Traffic& block) override {
    if (!selection_.admits(block)) return;
    PhaseTotal& phase = phases[block.phase];
    Volume& volume = classes[{block.class_name, block.hidden}];
    for (std::size_t row = 0; row < block.bytes.size(); ++row) {
      volume.bytes += block.bytes[row];
      volume.messages += block.messages[row];
      phase.volume.bytes += block.bytes[row];
      phase.volume.messages += block.messages[row];
      if (!block.hidden) continue;
      phase.hidden.bytes += block.bytes[row];
      phase.hidden.messages += block.messages[row];
    }
    pairs.add(block);
  }

  void on_calls(profile::CallTimes& block) override { calls.add(block); }
  void on_waits(profile::CallWaits& block) override { waits.add(block); }
  void on_path(profile::CriticalPath& path) override {
    paths.push_back(profile::summed_up(path, selection_));
  }

  void on_message_sizes(profile::MessageSizes& sizes) override {
    if (!selection_.admits(sizes)) return;
    std::uint64_t& tiny_here = tiny[sizes.class_name];
    const auto add = [&](std::uint64_t size, std::uint64_t messages) {
      bins[std::bit_width(size)] += messages;
      if (size <= kTinyBytes) tiny_here += messages;
    };
    for (std::size_t i = 0; i < sizes.size.size(); ++i) add(sizes.size[i], sizes.messages[i]);
    for (std::size_t i = 0; i < sizes.bin_low.size(); ++i) {
      add(sizes.bin_low[i], sizes.bin_messages[i]);
    }
  }

  std::map<std::pair<std::string, bool>, Volume> classes;
  profile::CallSummary calls;
  profile::WaitSummary waits;
  std::vector<profile::PathSummary> paths;
  std::map<std::string, PhaseTotal> phases;
  profile::PairSums pairs;
  std::uint64_t bins[kBins] = {};
  std::map<std::string, std::uint64_t> tiny;  // messages of at most kTinyBytes, by class

 private:
  const profile::Selection& selection_;
};

std::vector<profile::ClassTotal> sorted_classes(const Collector& collector) {
  std::vector<profile::ClassTotal> classes;
  for (const auto& [key, volume] : collector.classes) {
    classes.push_back({key.first, key.second, volume});
  }
  base::sort_stably(classes, [](const auto& a, const auto& b) {
    return std::pair(a.volume.bytes, a.volume.messages) >
           std::pair(b.volume.bytes, b.volume.messages);
  });
  return classes;
}

std::vector<PhaseTotal> sorted_phases(const Collector& collector) {
  std::vector<PhaseTotal> phases;
  for (const auto& [name, total] : collector.phases) {
    phases.push_back(total);
    phases.back().phase = name;
  }
  // A run that names no phase would show a table of one row that repeats the total.
  if (phases.size() == 1 && phases.front().phase.empty()) phases.clear();
  base::sort_stably(phases, [](const PhaseTotal& a, const PhaseTotal& b) {
    return std::pair(a.volume.bytes, a.volume.messages) >
           std::pair(b.volume.bytes, b.volume.messages);
  });
  return phases;
}

std::vector<SizeBin> sorted_bins(const Collector& collector) {
  std::vector<SizeBin> bins;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (bins.empty() && collector.bins[bin] == 0) continue;
    const std::uint64_t low = bin == 0 ? 0 : std::uint64_t{1} << (bin - 1);
    bins.push_back({low, bin == 0 ? 0 : low + (low - 1), collector.bins[bin]});
  }
  while (!bins.empty() && bins.back().messages == 0) bins.pop_back();
  return bins;
}

std::vector<BusiestRank> busiest(const std::vector<profile::RankTotal>& ranks,
                                 Volume profile::RankTotal::*side, std::size_t top) {
  std::vector<BusiestRank> list;
  for (const profile::RankTotal& total : ranks) {
    if ((total.*side).messages > 0) list.push_back({total.rank, total.*side});
  }
  base::sort_stably(list, [](const BusiestRank& a, const BusiestRank& b) {
    return a.volume.bytes > b.volume.bytes;
  });
  list.resize(std::min(list.size(), top));
  return list;
}

double imbalance_of(const std::vector<profile::RankTotal>& ranks, Volume profile::RankTotal::*side,
                    std::int64_t rank_count) {
  std::vector<std::uint64_t> bytes;
  for (const profile::RankTotal& total : ranks) bytes.push_back((total.*side).bytes);
  return profile::imbalance(bytes, rank_count);
}

// Hosts by rank, as small integers.
std::unordered_map<std::int64_t, std::size_t> hosts_of(const profile::Header& header,
                                                       std::size_t& host_count) {
  std::unordered_map<std::string, std::size_t> numbers;
  std::unordered_map<std::int64_t, std::size_t> hosts;
  for (const profile::Rank& rank : header.ranks) {
    if (rank.host.empty()) continue;
    hosts[rank.rank] = numbers.try_emplace(rank.host, numbers.size()).first->second;
  }
  host_count = numbers.size();
  return hosts;
}

Volume volume_between_hosts(const std::vector<PairCount>& pairs,
                            const std::unordered_map<std::int64_t, std::size_t>& hosts) {
  Volume volume;
  for (const PairCount& pair : pairs) {
    const auto source = hosts.find(pair.source), destination = hosts.find(pair.destination);
    if (source == hosts.end() || destination == hosts.end()) continue;
    if (source->second == destination->second) continue;
    volume.bytes += pair.bytes;
    volume.messages += pair.messages;
  }
  return volume;
}

ProcessNeeds needs_of(const std::vector<profile::Rank>& ranks) {
  ProcessNeeds needs;
  std::size_t known = 0;
  for (const profile::Rank& rank : ranks) {
    if (rank.peak_memory_bytes > 0) {
      ++known;
      needs.mean_bytes += static_cast<double>(rank.peak_memory_bytes);
    }
    if (rank.peak_memory_bytes > needs.most_bytes) {
      needs.most_bytes = rank.peak_memory_bytes;
      needs.largest = rank.rank;
    }
    needs.processor_wait_seconds += rank.processor_wait_seconds;
    const double share = rank.seconds > 0 ? rank.processor_wait_seconds / rank.seconds : 0;
    if (share <= needs.slowed_share) continue;
    needs.slowed = rank.rank;
    needs.slowed_seconds = rank.processor_wait_seconds;
    needs.slowed_share = share;
  }
  if (known > 0) needs.mean_bytes /= static_cast<double>(known);
  return needs;
}

FileCalls file_calls_of(const std::vector<std::pair<std::string, profile::CallSum>>& functions) {
  FileCalls files;
  for (const auto& [function, sum] : functions) {
    const mpi::Meaning& meaning = mpi::meaning_of(function);
    if (meaning.group != mpi::Group::kIo) continue;
    files.calls += sum.calls;
    files.seconds += sum.seconds;
    if (meaning.file == mpi::FileAccess::kRead) files.read_bytes += sum.bytes;
    if (meaning.file == mpi::FileAccess::kWrite) files.written_bytes += sum.bytes;
  }
  return files;
}

class VolumeCollector : public profile::Visitor {
 public:
  void on_traffic(profile::Traffic& block) override {
    for (std::size_t row = 0; row < block.bytes.size(); ++row) {
      total.bytes += block.bytes[row];
      total.messages += block.messages[row];
    }
  }
  void on_message_sizes(profile::MessageSizes&) override {}

  Volume total;
};

}  // namespace

OtherJob other_job(const std::string& folder, const std::string& name) {
  OtherJob job;
  job.name = name;
  job.folder = folder;
  VolumeCollector collector;
  const auto header = profile::read_profile(folder + "/profile.json", collector);
  if (!header) {
    job.state = "no profile";
    return job;
  }
  job.program = base::program_name(header->application.executable, header->application.arguments);
  job.ranks = profile::rank_count(*header);
  job.seconds = header->application.seconds;
  job.total = collector.total;
  return job;
}

double RunSummary::all_ranks_seconds() const {
  double all = 0;
  for (const profile::RankTime& rank : rank_times) all += rank.seconds;
  return all;
}

base::Result<RunSummary> summarise(const std::string& profile_path,
                                   const profile::Selection& selection, std::size_t top) {
  Collector collector(selection);
  auto header = profile::read_profile(profile_path, collector);
  if (!header) return header.error();
  RunSummary summary;
  summary.header = std::move(*header);
  summary.ranks = profile::rank_count(summary.header);
  summary.needs = needs_of(summary.header.ranks);
  summary.classes = sorted_classes(collector);
  for (const profile::ClassTotal& entry : summary.classes) {
    summary.total.bytes += entry.volume.bytes;
    summary.total.messages += entry.volume.messages;
    if (!entry.hidden) continue;
    summary.hidden.bytes += entry.volume.bytes;
    summary.hidden.messages += entry.volume.messages;
  }
  summary.phases = sorted_phases(collector);
  summary.sizes = sorted_bins(collector);
  if (!selection.is_of_messages() && !collector.calls.empty()) {
    trace::name_call_sites(summary.header.call_sites);
    summary.rank_times = collector.calls.ranks(summary.header);
    summary.sites = collector.calls.sites(summary.header);
    summary.functions = collector.calls.functions();
    summary.files = file_calls_of(summary.functions);
    summary.top_waits = collector.waits.pairs();
    summary.waiting_pairs = summary.top_waits.size();
    summary.top_waits.resize(std::min(summary.waiting_pairs, top));
    summary.top_waiting_calls = collector.waits.calls(top);
    summary.wait_seconds = collector.waits.seconds();
    summary.edge_waits = collector.waits.edges();
    summary.paths = std::move(collector.paths);
  }
  std::uint64_t most = 0;
  for (const auto& [name, messages] : collector.tiny) {
    summary.tiny_messages += messages;
    if (messages <= most) continue;
    most = messages;
    summary.tiny_class = name;
  }

  const std::vector<PairCount> pairs = collector.pairs.take();
  summary.pairs = pairs.size();
  summary.top_pairs = profile::top_pairs(pairs, top, profile::Metric::kBytes);
  summary.density = profile::density(pairs, summary.ranks);
  const auto hosts = hosts_of(summary.header, summary.hosts);
  summary.between_hosts = volume_between_hosts(pairs, hosts);

  const std::vector<profile::RankTotal> ranks = profile::rank_totals(pairs);
  summary.top_senders = busiest(ranks, &profile::RankTotal::sent, top);
  summary.top_receivers = busiest(ranks, &profile::RankTotal::received, top);
  summary.imbalance_sent = imbalance_of(ranks, &profile::RankTotal::sent, summary.ranks);
  summary.imbalance_received = imbalance_of(ranks, &profile::RankTotal::received, summary.ranks);
  return summary;
}

}  // namespace fathom::cli
