// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/collectives/collective_algorithms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/collectives/message_patterns.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

using mpi::Collective;
using mpi::name_of;
using Messages = std::vector<CollectiveMessage>;
using Pair = std::pair<std::uint32_t, std::uint32_t>;

// How well the messages fit: not at all; sender, receiver and counts; or also each sender's order.
enum class AlgorithmFit : std::uint8_t { kNone, kCounts, kOrder };

// Tolerance between algorithms whose messages differ only in length.
constexpr double kWeightError = 0.02;

class Matcher {
 public:
  Matcher(std::uint32_t size, std::uint32_t root, const Messages& messages)
      : size_(size), root_(root), messages_(messages) {
    for (const CollectiveMessage& one : messages) ++counts_[{one.source, one.destination}];
  }

  struct Match {
    AlgorithmFit fit = AlgorithmFit::kNone;
    std::uint32_t rounds = 0, segments = 1;
  };

  Match match(const AlgorithmRow& row) const {
    if (row.sizes != 0 && row.sizes != size_) return {};
    MessagePattern pattern(size_, root_);
    row.make(pattern);
    std::map<Pair, std::uint64_t> expected;
    for (const Hop& hop : pattern.hops()) ++expected[{hop.source, hop.destination}];
    Match match;
    match.rounds = pattern.rounds();
    if (expected.size() != counts_.size() || expected.empty()) return {};
    const bool segmented_ring = std::string_view(row.name) == "segmented ring";
    match.segments =
        segmented_ring
            ? ring_segments()
            : static_cast<std::uint32_t>(counts_.begin()->second / expected.begin()->second);
    if (match.segments == 0 || (match.segments > 1 && !row.segments && !segmented_ring)) return {};
    for (auto own = counts_.begin(), other = expected.cbegin(); own != counts_.end();
         ++own, ++other) {
      const std::uint64_t wanted =
          segmented_ring ? (size_ - 1) * (match.segments + 1) : other->second * match.segments;
      if (own->first != other->first || own->second != wanted) return {};
    }
    if (!weights_fit(pattern)) return {};
    match.fit =
        match.segments > 1 || same_order(pattern) ? AlgorithmFit::kOrder : AlgorithmFit::kCounts;
    return match;
  }

 private:
  // The reduction takes `segments` x (size - 1) messages, the gathering size - 1 more. One segment
  // is the plain ring.
  std::uint32_t ring_segments() const {
    const std::uint64_t of_pair = counts_.begin()->second;
    if (size_ < 2 || of_pair % (size_ - 1) != 0) return 0;
    const auto segments = static_cast<std::uint32_t>(of_pair / (size_ - 1)) - 1;
    return segments > 1 ? segments : 0;
  }

  bool same_order(const MessagePattern& pattern) const {
    std::vector<std::vector<std::uint32_t>> expected(size_), sent(size_);
    for (const Hop& hop : pattern.hops()) expected[hop.source].push_back(hop.destination);
    for (const CollectiveMessage& one : messages_) sent[one.source].push_back(one.destination);
    return expected == sent;
  }

  bool weights_fit(const MessagePattern& pattern) const {
    double expected = 0, bytes = 0;
    for (const Hop& hop : pattern.hops()) {
      if (hop.weight == 0) return true;
      expected += hop.weight;
    }
    for (const CollectiveMessage& one : messages_) bytes += static_cast<double>(one.bytes);
    std::map<Pair, double> difference;
    for (const Hop& hop : pattern.hops())
      difference[{hop.source, hop.destination}] += hop.weight / expected;
    for (const CollectiveMessage& one : messages_)
      difference[{one.source, one.destination}] -= static_cast<double>(one.bytes) / bytes;
    return std::all_of(difference.begin(), difference.end(), [&](const auto& each) {
      return std::abs(each.second) * expected < kWeightError;
    });
  }

  const std::uint32_t size_, root_;
  const Messages& messages_;
  std::map<Pair, std::uint64_t> counts_;
};

RecognisedAlgorithm recognise_alone(const mpi::Meaning& operation, std::uint32_t size,
                                    std::uint32_t root, const Messages& messages) {
  RecognisedAlgorithm made;
  AlgorithmFit best = AlgorithmFit::kNone;
  const Matcher matcher(size, root, messages);
  // Variants come last, because on few processes they send the same messages as the defaults, and
  // every result would carry their names too.
  for (const bool variants : {false, true}) {
    if (best != AlgorithmFit::kNone) break;
    for (const AlgorithmRow& row : algorithms_of(operation)) {
      if (row.variant != variants) continue;
      const Matcher::Match match = matcher.match(row);
      if (match.fit == AlgorithmFit::kNone || match.fit < best) continue;
      if (match.fit > best) made.name.clear();
      best = match.fit;
      made.name += (made.name.empty() ? "" : " or ") + std::string(row.name);
      made.rounds = match.rounds;
      made.segments = match.segments;
    }
  }
  if (made.name.empty()) made.name = "unknown";
  return made;
}

bool among_neighbours(const mpi::Meaning& operation) {
  return !operation.persistent() && mpi::is_neighborhood(operation.collective);
}

RecognisedAlgorithm recognise_among_neighbours(Collective operation, const Messages& messages) {
  const bool any_lengths =
      operation == Collective::kNeighborAlltoallv || operation == Collective::kNeighborAlltoallw;
  std::map<std::uint32_t, std::uint64_t> block;
  for (const CollectiveMessage& one : messages) {
    const std::uint64_t bytes = block.emplace(one.source, one.bytes).first->second;
    if (!any_lengths && one.bytes != bytes) return {"unknown", 0, 1};
  }
  return {"linear", 1, 1};
}

// One operation made of two collectives in a row.
struct Composite {
  Collective operation, first, second;
  const char* name;
  const char* if_linear;  // additional name if both parts are linear; nullptr: none
};
constexpr Composite kComposites[] = {
    {Collective::kAllreduce, Collective::kReduce, Collective::kBcast, "non-overlapping", "linear"},
    {Collective::kAllgather, Collective::kGather, Collective::kBcast, "linear", nullptr},
    {Collective::kAllgatherv, Collective::kGatherv, Collective::kBcast, "default", nullptr},
    {Collective::kReduceScatter, Collective::kReduce, Collective::kScatterv, "non-overlapping",
     nullptr},
    {Collective::kReduceScatterBlock, Collective::kReduce, Collective::kScatter, "linear",
     nullptr}};

bool is_blocking(const mpi::Meaning& operation, Collective collective) {
  return operation.collective == collective && operation.requests == mpi::Requests::kNone;
}

std::string joined_name(const mpi::Meaning& operation,
                        const std::vector<std::pair<std::string, RecognisedAlgorithm>>& parts) {
  std::string of_parts;
  bool linear = true;
  for (std::size_t i = 0, times = 0; i < parts.size(); i += times) {
    const std::string& name = parts[i].first;
    const RecognisedAlgorithm& algorithm = parts[i].second;
    const auto same = [&](const auto& part) {
      return part.first == name && part.second.name == algorithm.name;
    };
    const auto first = parts.begin() + static_cast<std::ptrdiff_t>(i);
    times = static_cast<std::size_t>(std::find_if_not(first, parts.end(), same) - first);
    base::add_to_list(
        of_parts, (times > 1 ? std::to_string(times) + " x " : "") + name + ": " + algorithm.name);
    linear = linear && algorithm.name.starts_with("linear");
  }
  for (const Composite& row : kComposites) {
    if (!is_blocking(operation, row.operation) || parts.size() != 2) continue;
    if (parts[0].first != name_of(row.first) || parts[1].first != name_of(row.second)) continue;
    return std::string(linear && row.if_linear ? std::string(row.if_linear) + " or " : "") +
           row.name + " (" + of_parts + ")";
  }
  return of_parts;
}

}  // namespace

bool has_algorithms(const mpi::Meaning& operation) {
  return among_neighbours(operation) || !algorithms_of(operation).empty();
}

RecognisedAlgorithm recognise(const std::string& function, std::uint32_t size, std::uint32_t root,
                              const Messages& messages) {
  if (messages.empty()) return {"none", 0, 1};
  const mpi::Meaning& operation = mpi::meaning_of(function);
  if (among_neighbours(operation))
    return recognise_among_neighbours(operation.collective, messages);
  std::vector<std::pair<std::int32_t, Messages>> groups;  // in order of the first message
  for (const CollectiveMessage& one : messages) {
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& group) { return group.first == one.tag; });
    (known == groups.end() ? groups.emplace_back(one.tag, Messages{}) : *known)
        .second.push_back(one);
  }
  const std::string_view only = name_of(mpi::collective_of_tag(groups.front().first));
  const bool own = has_algorithms(operation) && groups.size() == 1 &&
                   (only.empty() || only == function ||
                    algorithms_of(mpi::meaning_of(only)).data() == algorithms_of(operation).data());
  if (own) return recognise_alone(operation, size, root, messages);
  // Splits the messages of one operation by the library's tags. The several parts of an operation
  // all have their root at 0.
  std::vector<std::pair<std::string, RecognisedAlgorithm>> parts;
  RecognisedAlgorithm made;
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    const auto last = [](std::int32_t tag) {  // parts that hand out results come last
      return mpi::flow_of(mpi::collective_of_tag(tag)) == mpi::Flow::kFromRoot;
    };
    return last(a.first) != last(b.first) ? last(b.first) : a.first > b.first;
  });
  for (const auto& [tag, group] : groups) {
    const std::string_view name = name_of(mpi::collective_of_tag(tag));
    const bool agreement = !has_algorithms(operation) && is_non_blocking_tag(tag);
    const std::string part(!name.empty() ? name
                           : agreement   ? name_of(mpi::FunctionId::kIallreduce)
                                         : function);
    parts.emplace_back(
        part, recognise_alone(mpi::meaning_of(part), size, groups.size() == 1 ? root : 0, group));
    made.rounds += parts.back().second.rounds;
  }
  made.name = joined_name(operation, parts);
  return made;
}

}  // namespace fathom::analysis
