// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/class_traffic.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/order/sort_stably.h"
#include "mpi/meaning.h"
#include "profile/pair_sums.h"

namespace fathom::analysis {
namespace {

std::vector<ClassTraffic> sorted(std::vector<ClassTraffic> list) {
  base::sort_stably(list, [](const ClassTraffic& a, const ClassTraffic& b) {
    return std::pair(a.bytes, a.messages) > std::pair(b.bytes, b.messages);
  });
  return list;
}

template <typename Key, typename KeyOf>
std::vector<ClassTraffic> gather(const profile::Profile& profile, KeyOf key_of) {
  struct Sums {
    ClassTraffic traffic;
    profile::PairSums pairs;
  };
  std::map<Key, Sums> groups;
  for (const profile::Traffic& block : profile.traffic) {
    const auto key = key_of(block);
    if (!key) continue;
    Sums& group = groups[*key];
    group.traffic.class_name = block.class_name;
    group.traffic.hidden = block.hidden;
    group.traffic.communicators.insert(block.communicator);
    group.pairs.add(block);
  }
  std::vector<ClassTraffic> list;
  for (auto& [key, group] : groups) {
    group.traffic.pairs = group.pairs.take();
    for (const profile::PairCount& pair : group.traffic.pairs) {
      group.traffic.bytes += pair.bytes;
      group.traffic.messages += pair.messages;
    }
    list.push_back(std::move(group.traffic));
  }
  return sorted(std::move(list));
}

}  // namespace

std::vector<ClassTraffic> traffic_by_class(const profile::Profile& profile) {
  using Key = std::pair<std::string, bool>;
  return gather<Key>(profile, [](const profile::Traffic& block) {
    return std::optional<Key>({block.class_name, block.hidden});
  });
}

std::vector<ClassTraffic> traffic_by_communicator(const profile::Profile& profile,
                                                  const std::string& class_name, bool hidden) {
  return gather<std::int64_t>(profile,
                              [&](const profile::Traffic& block) -> std::optional<std::int64_t> {
                                if (block.class_name != class_name || block.hidden != hidden)
                                  return {};
                                return block.communicator;
                              });
}

bool is_rooted_collective(std::string_view class_name) {
  const mpi::Flow flow = mpi::meaning_of(class_name).flow;
  return flow == mpi::Flow::kFromRoot || flow == mpi::Flow::kToRoot;
}

bool is_barrier(std::string_view class_name) {
  return mpi::meaning_of(class_name).flow == mpi::Flow::kBarrier;
}

bool is_global_collective(std::string_view class_name) {
  const mpi::Meaning& meaning = mpi::meaning_of(class_name);
  return meaning.group == mpi::Group::kCollective && meaning.flow == mpi::Flow::kAllToAll;
}

namespace {

struct RankBytes {
  double in = 0, out = 0;  // weight, without messages to oneself
  std::uint64_t messages = 0;
};

std::map<std::int64_t, RankBytes> bytes_by_rank(const ClassTraffic& traffic) {
  std::map<std::int64_t, RankBytes> by_rank;
  for (const profile::PairCount& pair : traffic.pairs) {
    if (pair.source == pair.destination) continue;
    const auto weight = static_cast<double>(traffic.bytes > 0 ? pair.bytes : pair.messages);
    RankBytes& source = by_rank[pair.source];
    RankBytes& destination = by_rank[pair.destination];
    source.out += weight;
    destination.in += weight;
    source.messages += pair.messages;
    destination.messages += pair.messages;
  }
  return by_rank;
}

// Shares of being root, from the side of the flow that every rank but the root has once.
double share_by_side(double side, double sum, double ranks) { return 1 - side * (ranks - 1) / sum; }

}  // namespace

RootShare root_share(const ClassTraffic& traffic) {
  const std::map<std::int64_t, RankBytes> by_rank = bytes_by_rank(traffic);
  const mpi::Meaning& meaning = mpi::meaning_of(traffic.class_name);
  const bool towards_root = meaning.flow == mpi::Flow::kToRoot;
  double sum = 0, never = 0;  // never: the balance of a rank that is never the root, times -1
  for (const auto& [rank, flow] : by_rank) {
    sum += flow.in;
    never = std::max(never, towards_root ? flow.out - flow.in : flow.in - flow.out);
  }
  RootShare root;
  root.ranks = static_cast<double>(by_rank.size());
  for (const auto& [rank, flow] : by_rank) {
    const double balance = towards_root ? flow.in - flow.out : flow.out - flow.in;
    const double share =
        meaning.collective == mpi::Collective::kBcast    ? share_by_side(flow.in, sum, root.ranks)
        : meaning.collective == mpi::Collective::kReduce ? share_by_side(flow.out, sum, root.ranks)
        : never > 0                                      ? (balance + never) / (never * root.ranks)
                                                         : 0;
    if (share <= root.share) continue;
    root.share = std::min(share, 1.0);
    root.rank = rank;
    root.count = flow.messages;
  }
  return root;
}

}  // namespace fathom::analysis
