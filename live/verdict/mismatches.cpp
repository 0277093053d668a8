// SPDX-License-Identifier: BSD-3-Clause
#include "live/verdict/mismatches.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "base/text.h"
#include "live/verdict/phrases.h"
#include "mpi/meaning.h"

namespace fathom::live {
namespace {

using Place = std::pair<std::uint64_t, std::uint64_t>;  // communicator, ordinal
using Members = std::vector<const Node*>;
using Parts = std::map<std::string, Members>;  // by what they do

// Its members all contribute the same number of bytes, the root included.
bool has_one_size(mpi::Collective collective) {
  switch (collective) {
    case mpi::Collective::kAllgather:
    case mpi::Collective::kAllreduce:
    case mpi::Collective::kAlltoall:
    case mpi::Collective::kExscan:
    case mpi::Collective::kReduce:
    case mpi::Collective::kReduceScatterBlock:
    case mpi::Collective::kScan: return true;
    default: return false;
  }
}

std::vector<std::int32_t> ranks_of(const Members& members) {
  std::vector<std::int32_t> ranks;
  for (const Node* node : members) ranks.push_back(node->process->rank);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

double shortest_wait(const Members& members) {
  double least = std::numeric_limits<double>::max();
  for (const Node* node : members) least = std::min(least, node->thread->since_s);
  return least;
}

// The parts' members in one sentence: those in the majority are victims, the others culprits.
Verdict verdict_of(Cause cause, const std::string& begin, const Parts& parts) {
  Verdict verdict{.cause = cause, .hung = true, .culprits = {}, .victims = {}, .text = {}};
  const auto most =
      std::ranges::max_element(parts, {}, [](const auto& part) { return part.second.size(); });
  std::string list;
  Members all;
  for (const auto& part : parts) {
    const auto ranks = ranks_of(part.second);
    all.insert(all.end(), part.second.begin(), part.second.end());
    const std::string& place = part.second.front()->thread->place;
    base::add_to_list(list,
                      fmt::format("{} {}{}", spelled_ranks(ranks), part.first,
                                  place.empty() ? "" : " (" + place + ")"),
                      "; ");
    if (part.first != most->first)
      verdict.culprits.insert(verdict.culprits.end(), ranks.begin(), ranks.end());
  }
  std::ranges::sort(verdict.culprits);
  verdict.victims = ranks_of(all);
  verdict.since_s = shortest_wait(all);
  verdict.text = fmt::format("{}: {}; for {}.", begin, list, spelled_seconds(verdict.since_s));
  return verdict;
}

// How the threads at one place differ in what `what(thread)` says; nothing if they agree.
template <typename What>
std::optional<Parts> differing(const Members& members, What what) {
  Parts parts;
  for (const Node* node : members) {
    if (const std::string text = what(*node->thread); !text.empty()) parts[text].push_back(node);
  }
  if (parts.size() < 2) return std::nullopt;
  return parts;
}

std::optional<Verdict> compared(const WaitGraph& graph, const Place& place,
                                const Members& members) {
  const JobView& view = graph.view();
  const std::string name = view.name_of_communicator(place.first);
  const auto functions =
      differing(members, [](const ThreadState& thread) { return "in " + thread.function; });
  if (functions)
    return verdict_of(
        Cause::kDifferentCollectives,
        fmt::format("The members of {} are in different collectives, each as their #{}", name,
                    spelled_count(place.second)),
        *functions);
  const ThreadState& first = *members.front()->thread;
  const std::string call =
      fmt::format("{} #{} on {}", first.function, spelled_count(place.second), name);
  const auto roots = differing(members, [](const ThreadState& thread) {
    return thread.root < 0 ? std::string() : fmt::format("with root {}", thread.root);
  });
  if (roots)
    return verdict_of(Cause::kDifferentRoots, "The ranks name different roots in " + call, *roots);
  const bool quiet = std::ranges::none_of(
      members, [&](const Node* node) { return view.communicated(*node->process); });
  if (!quiet || !has_one_size(mpi::meaning_of(first.function).collective)) return std::nullopt;
  const auto sizes = differing(members, [](const ThreadState& thread) {
    return thread.bytes == 0 ? std::string()
                             : fmt::format("with {} bytes", spelled_count(thread.bytes));
  });
  if (sizes)
    return verdict_of(Cause::kDifferentSizes, "The ranks pass different sizes to " + call, *sizes);
  return std::nullopt;
}

// Nobody leaves such a collective before all have come: a member that is in a later one was never in this one. Of those
// with counts for each pair, one may leave that expects nothing.
bool holds_all_back(const ThreadState& thread) {
  const mpi::Meaning& meaning = mpi::meaning_of(thread.function);
  switch (meaning.collective) {
    case mpi::Collective::kAllgatherv:
    case mpi::Collective::kAlltoallv:
    case mpi::Collective::kAlltoallw:
    case mpi::Collective::kReduceScatter: return false;
    default: return meaning.flow == mpi::Flow::kAllToAll || meaning.flow == mpi::Flow::kBarrier;
  }
}

std::optional<Verdict> overtaken(const WaitGraph& graph, const Place& place, const Members& members,
                                 const Place& later, const Members& ahead) {
  if (place.first != later.first || !holds_all_back(*members.front()->thread)) return std::nullopt;
  const auto at = [](const Place& place, const Members& members) {
    return fmt::format("in {} #{}", members.front()->thread->function, spelled_count(place.second));
  };
  return verdict_of(
      Cause::kDifferentCollectives,
      fmt::format(
          "The members of {} are in different collectives, and nobody can leave {} #{} before "
          "all have come",
          graph.view().name_of_communicator(place.first), members.front()->thread->function,
          spelled_count(place.second)),
      Parts{{at(place, members), members}, {at(later, ahead), ahead}});
}

// Members that have left this collective: in a later one on its communicator, or behind their last call.
std::vector<std::int32_t> left_by(const JobView& view, const Place& place) {
  std::vector<std::int32_t> left;
  const Communicator* communicator = view.communicator(place.first);
  if (communicator == nullptr) return left;
  for (const auto* side : {&communicator->members, &communicator->remote}) {
    for (const std::int32_t member : *side) {
      const RankState* state = view.rank(member);
      if (state == nullptr) continue;
      if (view.collectives_begun(member, place.first) > place.second ||
          state->state == ProcessState::kFinalizing || state->state == ProcessState::kEnded)
        left.push_back(member);
    }
  }
  std::ranges::sort(left);
  return left;
}

}  // namespace

std::optional<Verdict> find_mismatch(const WaitGraph& graph) {
  std::map<Place, Members> places;
  for (const Node& node : graph.nodes()) {
    if (!node.waits() || node.thread == nullptr || node.thread->collective == 0) continue;
    if (graph.terminal(node.process->rank)) continue;
    if (mpi::meaning_of(node.thread->function).completes != mpi::Completes::kNothing) continue;
    places[{node.thread->communicator, node.thread->collective}].push_back(&node);
  }
  for (const auto& [place, members] : places) {
    if (auto found = compared(graph, place, members)) return found;
  }
  for (auto at = places.begin(); at != places.end(); ++at) {
    const auto next = std::next(at);
    if (next == places.end()) break;
    if (auto found = overtaken(graph, at->first, at->second, next->first, next->second))
      return found;
  }
  return std::nullopt;
}

std::optional<Verdict> find_abandoned(const WaitGraph& graph, double patience_s) {
  const JobView& view = graph.view();
  std::map<Place, Members> places;
  for (const Node& node : graph.nodes()) {
    if (!node.has_all() || node.polls || node.thread == nullptr || node.thread->collective == 0)
      continue;
    const mpi::Meaning& meaning = mpi::meaning_of(node.thread->function);
    if (meaning.completes != mpi::Completes::kNothing || meaning.flow == mpi::Flow::kBarrier)
      continue;
    if (graph.terminal(node.process->rank) || view.communicated(*node.process)) continue;
    places[{node.thread->communicator, node.thread->collective}].push_back(&node);
  }
  for (const auto& [place, members] : places) {
    const auto left = left_by(view, place);
    if (left.empty()) continue;
    Verdict verdict;
    verdict.cause = Cause::kDifferentSizes;
    verdict.culprits = verdict.victims = ranks_of(members);
    verdict.since_s = shortest_wait(members);
    verdict.hung = verdict.since_s >= patience_s;
    const ThreadState& first = *members.front()->thread;
    const std::size_t count = verdict.culprits.size();
    std::string who = spelled_ranks(verdict.culprits);
    who.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(who.front())));
    verdict.text = fmt::format(
        "{} {} been in {}{} for {}, which {} {} left: the counts or types that the members pass do "
        "not fit together, or the MPI library does not move.",
        who, count == 1 ? "has" : "have", call_text(view, *members.front(), nullptr),
        first.bytes == 0 ? "" : fmt::format(" with {} bytes", spelled_count(first.bytes)),
        spelled_seconds(verdict.since_s), spelled_ranks(left), left.size() == 1 ? "has" : "have");
    return verdict;
  }
  return std::nullopt;
}

}  // namespace fathom::live
