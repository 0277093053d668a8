#include "analysis/class_traffic.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "profile/pair_sums.h"

namespace fathom::analysis {
namespace {

// "MPI_Ibcast" as "bcast", "MPI_Reduce_scatter_block" as "reduce_scatter_block"; nothing for other classes.
std::string collective_of(std::string_view class_name) {
  if (!class_name.starts_with("MPI_")) return {};
  std::string name(class_name.substr(4));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.starts_with('i') ? name.substr(1) : name;
}

template <std::size_t N>
bool is_one_of(std::string_view class_name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), collective_of(class_name)) != names.end();
}

std::vector<ClassTraffic> sorted(std::vector<ClassTraffic> list) {
  std::stable_sort(list.begin(), list.end(), [](const ClassTraffic& a, const ClassTraffic& b) {
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

std::vector<ClassTraffic> traffic_by_communicator(const profile::Profile& profile, const std::string& class_name,
                                                  bool hidden) {
  return gather<std::int64_t>(profile, [&](const profile::Traffic& block) -> std::optional<std::int64_t> {
    if (block.class_name != class_name || block.hidden != hidden) return {};
    return block.communicator;
  });
}

bool is_rooted_collective(std::string_view class_name) {
  static constexpr std::array<std::string_view, 6> kNames = {"bcast",   "reduce",  "gather",
                                                             "gatherv", "scatter", "scatterv"};
  return is_one_of(class_name, kNames);
}

bool is_barrier(std::string_view class_name) {
  static constexpr std::array<std::string_view, 1> kNames = {"barrier"};
  return is_one_of(class_name, kNames);
}

bool is_global_collective(std::string_view class_name) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "allreduce", "allgather", "allgatherv", "alltoall",
      "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block"};
  return is_one_of(class_name, kNames);
}

namespace {

struct Flow {
  double in = 0, out = 0;  // weight, without messages to oneself
  std::uint64_t messages = 0;
};

std::map<std::int64_t, Flow> flows_of(const ClassTraffic& traffic) {
  std::map<std::int64_t, Flow> flows;
  for (const profile::PairCount& pair : traffic.pairs) {
    if (pair.source == pair.destination) continue;
    const auto weight = static_cast<double>(traffic.bytes > 0 ? pair.bytes : pair.messages);
    Flow& source = flows[pair.source];
    Flow& destination = flows[pair.destination];
    source.out += weight;
    destination.in += weight;
    source.messages += pair.messages;
    destination.messages += pair.messages;
  }
  return flows;
}

// Shares by the side of the flow that every rank but the root has once.
double share_by_side(double side, double sum, double ranks) { return 1 - side * (ranks - 1) / sum; }

}  // namespace

RootShare root_share(const ClassTraffic& traffic) {
  const std::map<std::int64_t, Flow> flows = flows_of(traffic);
  const std::string name = collective_of(traffic.class_name);
  const bool towards_root = name == "reduce" || name.starts_with("gather");
  double sum = 0, never = 0;  // never: the balance of a rank that is never the root, times -1
  for (const auto& [rank, flow] : flows) {
    sum += flow.in;
    never = std::max(never, towards_root ? flow.out - flow.in : flow.in - flow.out);
  }
  RootShare root;
  root.ranks = static_cast<double>(flows.size());
  for (const auto& [rank, flow] : flows) {
    const double balance = towards_root ? flow.in - flow.out : flow.out - flow.in;
    const double share = name == "bcast"    ? share_by_side(flow.in, sum, root.ranks)
                         : name == "reduce" ? share_by_side(flow.out, sum, root.ranks)
                         : never > 0        ? (balance + never) / (never * root.ranks)
                                            : 0;
    if (share <= root.share) continue;
    root.share = std::min(share, 1.0);
    root.rank = rank;
    root.count = flow.messages;
  }
  return root;
}

}  // namespace fathom::analysis
