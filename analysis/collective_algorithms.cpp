#include "analysis/collective_algorithms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/message_patterns.h"

namespace fathom::analysis {
namespace {

using Messages = std::vector<CollectiveMessage>;
using Pair = std::pair<std::uint32_t, std::uint32_t>;

// What the library's tags stand for (ompi/mca/coll/base/coll_tags.h).
const char* operation_of_tag(std::int32_t tag) {
  switch (tag) {
    case -10: return "MPI_Allgather";
    case -11: return "MPI_Allgatherv";
    case -12: return "MPI_Allreduce";
    case -13: return "MPI_Alltoall";
    case -14: return "MPI_Alltoallv";
    case -15: return "MPI_Alltoallw";
    case -16: return "MPI_Barrier";
    case -17: return "MPI_Bcast";
    case -18: return "MPI_Exscan";
    case -19: return "MPI_Gather";
    case -20: return "MPI_Gatherv";
    case -21: return "MPI_Reduce";
    case -22: return "MPI_Reduce_scatter";
    case -23: return "MPI_Reduce_scatter_block";
    case -24: return "MPI_Scan";
    case -25: return "MPI_Scatter";
    case -26: return "MPI_Scatterv";
    default: return nullptr;
  }
}

// How well the messages fit: not at all, only who how many, or also in which order each sent.
enum class Fit : std::uint8_t { kNone, kCounts, kOrder };

// Between algorithms whose messages differ in nothing but length.
constexpr double kWeightError = 0.02;

class Matcher {
 public:
  Matcher(std::uint32_t size, std::uint32_t root, const Messages& messages) : size_(size), root_(root), messages_(messages) {
    for (const CollectiveMessage& one : messages) ++counts_[{one.source, one.destination}];
  }

  struct Match {
    Fit fit = Fit::kNone;
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
        segmented_ring ? ring_segments() : static_cast<std::uint32_t>(counts_.begin()->second / expected.begin()->second);
    if (match.segments == 0 || (match.segments > 1 && !row.segments && !segmented_ring)) return {};
    for (auto own = counts_.begin(), other = expected.cbegin(); own != counts_.end(); ++own, ++other) {
      const std::uint64_t wanted = segmented_ring ? (size_ - 1) * (match.segments + 1) : other->second * match.segments;
      if (own->first != other->first || own->second != wanted) return {};
    }
    if (!weights_fit(pattern)) return {};
    match.fit = match.segments > 1 || same_order(pattern) ? Fit::kOrder : Fit::kCounts;
    return match;
  }

 private:
  // Reduced in `segments` x (size - 1) messages, gathered in size - 1 more. One segment is the plain ring.
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
    for (const Hop& hop : pattern.hops()) difference[{hop.source, hop.destination}] += hop.weight / expected;
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

RecognisedAlgorithm recognise_alone(std::string_view operation, std::uint32_t size, std::uint32_t root,
                                    const Messages& messages) {
  RecognisedAlgorithm made;
  Fit best = Fit::kNone;
  const Matcher matcher(size, root, messages);
  for (const bool variants : {false, true}) {
    if (best != Fit::kNone) break;
    for (const AlgorithmRow& row : algorithms_of(operation)) {
      if (row.variant != variants) continue;
      const Matcher::Match match = matcher.match(row);
      if (match.fit == Fit::kNone || match.fit < best) continue;
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

bool among_neighbours(std::string_view operation) {
  return operation.starts_with("MPI_Neighbor_") || operation.starts_with("MPI_Ineighbor_");
}

RecognisedAlgorithm recognise_among_neighbours(std::string_view operation, const Messages& messages) {
  const bool any_lengths = operation.ends_with("alltoallv") || operation.ends_with("alltoallw");
  std::map<std::uint32_t, std::uint64_t> block;
  for (const CollectiveMessage& one : messages) {
    const std::uint64_t bytes = block.emplace(one.source, one.bytes).first->second;
    if (!any_lengths && one.bytes != bytes) return {"unknown", 0, 1};
  }
  return {"linear", 1, 1};
}

// Made of two collectives one behind the other.
struct Composite {
  std::string_view operation, first, second;
  const char* name;
  const char* if_linear;  // the name too where both parts are linear; nullptr: it is no other then
};
constexpr Composite kComposites[] = {
    {"MPI_Allreduce", "MPI_Reduce", "MPI_Bcast", "non-overlapping", "linear"},
    {"MPI_Allgather", "MPI_Gather", "MPI_Bcast", "linear", nullptr},
    {"MPI_Allgatherv", "MPI_Gatherv", "MPI_Bcast", "default", nullptr},
    {"MPI_Reduce_scatter", "MPI_Reduce", "MPI_Scatterv", "non-overlapping", nullptr},
    {"MPI_Reduce_scatter_block", "MPI_Reduce", "MPI_Scatter", "linear", nullptr}};

std::string joined_name(std::string_view operation, const std::vector<std::pair<std::string, RecognisedAlgorithm>>& parts) {
  std::string of_parts;
  bool linear = true;
  for (std::size_t i = 0, times = 0; i < parts.size(); i += times) {
    const auto& [name, algorithm] = parts[i];
    const auto same = [&](const auto& part) { return part.first == name && part.second.name == algorithm.name; };
    const auto first = parts.begin() + static_cast<std::ptrdiff_t>(i);
    times = static_cast<std::size_t>(std::find_if_not(first, parts.end(), same) - first);
    of_parts +=
        (of_parts.empty() ? "" : ", ") + (times > 1 ? std::to_string(times) + " x " : "") + name + ": " + algorithm.name;
    linear = linear && algorithm.name.starts_with("linear");
  }
  for (const Composite& row : kComposites) {
    if (row.operation != operation || parts.size() != 2) continue;
    if (parts[0].first != row.first || parts[1].first != row.second) continue;
    return std::string(linear && row.if_linear ? std::string(row.if_linear) + " or " : "") + row.name + " (" + of_parts +
           ")";
  }
  return of_parts;
}

}  // namespace

bool has_algorithms(const std::string& operation) {
  return among_neighbours(operation) || !algorithms_of(operation).empty();
}

RecognisedAlgorithm recognise(const std::string& operation, std::uint32_t size, std::uint32_t root,
                              const Messages& messages) {
  if (messages.empty()) return {"none", 0, 1};
  if (among_neighbours(operation)) return recognise_among_neighbours(operation, messages);
  std::vector<std::pair<std::int32_t, Messages>> groups;  // in the order of the first message
  for (const CollectiveMessage& one : messages) {
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == one.tag; });
    (known == groups.end() ? groups.emplace_back(one.tag, Messages{}) : *known).second.push_back(one);
  }
  const char* only = operation_of_tag(groups.front().first);
  const bool own = has_algorithms(operation) && groups.size() == 1 &&
                   (!only || only == operation || algorithms_of(only).data() == algorithms_of(operation).data());
  if (own) return recognise_alone(operation, size, root, messages);
  // Of one operation, by the library's tags; several parts have their root at 0, where they belong together.
  std::vector<std::pair<std::string, RecognisedAlgorithm>> parts;
  RecognisedAlgorithm made;
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    const auto last = [](std::int32_t tag) { return tag == -17 || tag == -25 || tag == -26; };  // what hands results out
    return last(a.first) != last(b.first) ? last(b.first) : a.first > b.first;
  });
  for (const auto& [tag, group] : groups) {
    const char* name = operation_of_tag(tag);
    const bool agreement = !has_algorithms(operation) && is_non_blocking_tag(tag);
    const std::string part = name ? name : agreement ? "MPI_Iallreduce" : operation;
    parts.emplace_back(part, recognise_alone(part, size, groups.size() == 1 ? root : 0, group));
    made.rounds += parts.back().second.rounds;
  }
  made.name = joined_name(operation, parts);
  return made;
}

}  // namespace fathom::analysis
