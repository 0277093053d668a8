// SPDX-License-Identifier: BSD-3-Clause
#include "live/verdict/verdict.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "live/verdict/mismatches.h"
#include "live/verdict/near_misses.h"
#include "live/verdict/phrases.h"
#include "live/verdict/wait_graph.h"
#include "mpi/meaning.h"

namespace fathom::live {
namespace {

using Ranks = std::vector<std::int32_t>;

// A transfer, or a collective of which nobody is missing, may take long. One that moves no message for this
// long will not go on.
constexpr double kLibraryPatience_s = 10;

// Links of a chain that are spelled out; further ones are counted.
constexpr std::size_t kMostLinks = 5;

bool holds(const Ranks& ranks, std::int32_t rank) {
  return std::ranges::binary_search(ranks, rank);
}

// One link: `from` waits in `node` because of `need`, which `to` does not meet.
struct Link {
  const Node* node;
  const Need* need;
  std::int32_t to;
};

// The shortest chain from one rank to any of `goal`, through needs that are not met; empty if there is none.
std::vector<Link> chain_to(const WaitGraph& graph, std::int32_t start, const Ranks& goal,
                           bool stuck) {
  std::map<std::int32_t, std::pair<std::int32_t, Link>> reached;  // rank: from where, how
  std::vector<char> opened(graph.groups(), 0);
  Ranks queue = {start};
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::int32_t rank = queue[at];
    for (const Node* node : graph.nodes_of(rank)) {
      if (!node->waits() || node->has_all()) continue;
      for (const Need& need : node->needs) {
        if (need.met || std::exchange(opened[need.group], 1)) continue;
        for (const std::int32_t next : graph.group(need.group)) {
          if (next < 0 || next >= graph.view().world_size() || graph.blocked(next) != stuck)
            continue;
          if (!reached.try_emplace(next, rank, Link{node, &need, next}).second) continue;
          if (!holds(goal, next)) {
            queue.push_back(next);
            continue;
          }
          std::vector<Link> chain;
          for (std::int32_t back = next;;) {
            const auto& [from, link] = reached.at(back);
            chain.insert(chain.begin(), link);
            if (from == start) return chain;
            back = from;
          }
        }
      }
    }
  }
  return {};
}

// Threads that wait in the same place: the most numerous ones open the sentence.
struct Crowd {
  Ranks ranks;
  const Node* first = nullptr;
  double since_s = std::numeric_limits<double>::max();
};

std::optional<Crowd> largest_crowd(const WaitGraph& graph, const Ranks& victims) {
  std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, Crowd> crowds;
  for (const std::int32_t rank : victims) {
    for (const Node* node : graph.nodes_of(rank)) {
      if (!node->waits() || node->has_all()) continue;
      const ThreadState& thread = *node->thread;
      Crowd& crowd = crowds[{thread.function, thread.communicator, thread.collective}];
      if (crowd.first == nullptr) crowd.first = node;
      crowd.ranks.push_back(rank);
      crowd.since_s = std::min(crowd.since_s, thread.since_s);
      break;
    }
  }
  const auto most = std::ranges::max_element(
      crowds, {}, [](const auto& crowd) { return crowd.second.ranks.size(); });
  if (most == crowds.end()) return std::nullopt;
  return most->second;
}

double since(const WaitGraph& graph, const Ranks& victims) {
  double least = std::numeric_limits<double>::max();
  for (const std::int32_t rank : victims) {
    for (const Node* node : graph.nodes_of(rank)) {
      if (node->waits()) least = std::min(least, node->thread->since_s);
    }
  }
  return victims.empty() ? 0 : least;
}

std::string crowd_text(const WaitGraph& graph, const Crowd& crowd, const Need* need) {
  const JobView& view = graph.view();
  const std::size_t count = crowd.ranks.size();
  const std::string who = count == 1 ? fmt::format("Rank {} has", crowd.ranks.front())
                                     : fmt::format("{} of {} ranks have", count, view.world_size());
  // Each of several receives is from someone else.
  return fmt::format("{} been in {} for {}", who,
                     call_text(view, *crowd.first, count == 1 ? need : nullptr),
                     spelled_seconds(crowd.since_s));
}

// "63 of 64 ranks have been in ...; rank 5 is in MPI_Recv from 9 (halo.f90:88)", up to the rank before the goal,
// whose name `last` is.
std::string chain_text(const WaitGraph& graph, const Crowd& crowd, const std::vector<Link>& chain) {
  std::string text = crowd_text(graph, crowd, chain.empty() ? nullptr : chain.front().need);
  const std::size_t shown = std::min(chain.size(), kMostLinks);
  // Each of several receives may be from someone else.
  const bool differ =
      !chain.empty() && crowd.ranks.size() > 1 && chain.front().need->pending != nullptr;
  for (std::size_t at = differ ? 0 : 1; at < shown; ++at) {
    const Link& link = chain[at];
    text += fmt::format("; rank {} is in {}", link.node->process->rank,
                        call_text(graph.view(), *link.node, link.need));
  }
  if (shown < chain.size())
    text += fmt::format("; through {} more ranks all of them wait for rank {}",
                        chain.size() - shown, chain.back().to);
  return text;
}

Verdict blamed(const WaitGraph& graph, Cause cause, bool hung, Ranks culprits, Ranks victims) {
  Verdict verdict{.cause = cause, .hung = hung, .culprits = {}, .victims = {}, .text = {}};
  std::erase_if(victims,
                [&](std::int32_t rank) { return graph.terminal(rank) && holds(culprits, rank); });
  verdict.since_s = since(graph, victims);
  verdict.culprits = std::move(culprits);
  verdict.victims = std::move(victims);
  return verdict;
}

// Who waits for one rank, that rank's condition, and the chain between them.
void explain_one(const WaitGraph& graph, Verdict& verdict) {
  const std::int32_t culprit = verdict.culprits.front();
  Ranks others = verdict.victims;
  std::erase(others, culprit);
  const auto crowd = largest_crowd(graph, others);
  if (!crowd) {
    verdict.text = fmt::format("Rank {}: {}.", culprit, condition_text(graph, culprit));
    return;
  }
  const auto chain =
      chain_to(graph, crowd->ranks.front(), verdict.culprits, graph.blocked(culprit));
  verdict.text = chain_text(graph, *crowd, chain);
  if (!chain.empty())
    verdict.text +=
        fmt::format("; rank {} {}: {}.", chain.back().to, failure_text(*chain.back().need),
                    condition_text(graph, chain.back().to));
}

// What the ranks of a core need of each other.
struct CoreNeeds {
  std::vector<Link> links;  // one per rank
  std::size_t receives = 0, sends = 0, collectives = 0;

  CoreNeeds(const WaitGraph& graph, const Ranks& core) {
    for (const std::int32_t rank : core) {
      const auto chain = chain_to(graph, rank, core, true);
      if (chain.size() != 1) continue;
      links.push_back(chain.front());
      switch (chain.front().need->kind) {
        case NeedKind::kMessage: ++receives; break;
        case NeedKind::kReceiver: ++sends; break;
        case NeedKind::kMembers: ++collectives; break;
      }
    }
  }

  Cause cause() const {
    if (collectives > 0)
      return receives + sends > 0 ? Cause::kMissingParticipant : Cause::kCycleOfCollectives;
    if (sends == 0) return Cause::kCycleOfReceives;
    return receives == 0 ? Cause::kCycleOfSends : Cause::kCycle;
  }
};

std::string cycle_text(const WaitGraph& graph, const Verdict& verdict, const CoreNeeds& needs) {
  const Ranks& core = verdict.culprits;
  std::string text = core.size() == 1 ? fmt::format("Rank {} waits for itself", core.front())
                                      : spelled_ranks(core) + " wait for each other";
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  text += fmt::format(", for {}: ", spelled_seconds(verdict.since_s));
  const std::size_t shown = std::min(needs.links.size(), kMostLinks);
  for (std::size_t at = 0; at < shown; ++at) {
    const Link& link = needs.links[at];
    text += fmt::format("{}rank {} is in {}", at == 0 ? "" : "; ", link.node->process->rank,
                        call_text(graph.view(), *link.node, link.need));
    if (link.need->kind == NeedKind::kMembers)
      text += fmt::format(", where rank {} is missing", link.to);
  }
  if (shown < needs.links.size())
    text += fmt::format("; and so on for {} more", needs.links.size() - shown);
  const std::size_t behind = verdict.victims.size() - std::min(verdict.victims.size(), core.size());
  if (behind > 0)
    text += fmt::format("; {} more {} for them", behind, behind == 1 ? "rank waits" : "ranks wait");
  return text + ".";
}

// A stuck receive that needs a rank of the core, with a message that it may have been meant for.
std::optional<Verdict> mistaken(const WaitGraph& graph, const WaitGraph::Core& core) {
  for (const std::int32_t rank : core.victims) {
    for (const Node* node : graph.nodes_of(rank)) {
      if (!node->stuck()) continue;
      for (const Need& need : node->needs) {
        if (need.kind != NeedKind::kMessage || need.met) continue;
        const auto miss = near_miss(graph.view(), rank, *need.pending);
        if (!miss) continue;
        Verdict verdict =
            blamed(graph, Cause::kUnmatchedMessage, true, {miss->message.from}, core.victims);
        const std::string queue = queue_text(*node->process);
        verdict.text = fmt::format(
            "Rank {} has been in {} for {}; {}{}.", rank, call_text(graph.view(), *node, &need),
            spelled_seconds(node->thread->since_s), miss->text,
            queue.empty() ? "" : "; at rank " + std::to_string(rank) + ", " + queue);
        return verdict;
      }
    }
  }
  return std::nullopt;
}

Cause cause_of(ProcessState state) {
  switch (state) {
    case ProcessState::kGone: return Cause::kProcessGone;
    case ProcessState::kStopped: return Cause::kProcessStopped;
    default: return Cause::kProcessFinalizing;
  }
}

Verdict verdict_of(const WaitGraph& graph, const WaitGraph::Core& core) {
  Ranks terminal;
  for (const std::int32_t rank : core.ranks) {
    if (graph.terminal(rank)) terminal.push_back(rank);
  }
  const RankState* state = terminal.empty() ? nullptr : graph.view().rank(terminal.front());
  const bool could_have_sent = state == nullptr || (state->state != ProcessState::kGone &&
                                                    state->state != ProcessState::kStopped);
  if (could_have_sent) {
    if (auto verdict = mistaken(graph, core)) return *verdict;
  }
  if (state != nullptr) {
    Verdict verdict =
        blamed(graph, cause_of(state->state), !core.victims.empty(), terminal, core.victims);
    explain_one(graph, verdict);
    return verdict;
  }
  const CoreNeeds needs(graph, core.ranks);
  Verdict verdict = blamed(graph, needs.cause(), true, core.ranks, core.victims);
  verdict.text = cycle_text(graph, verdict, needs);
  if (verdict.cause == Cause::kMissingParticipant) {
    verdict.culprits.clear();
    for (const Link& link : needs.links) {
      if (link.need->kind != NeedKind::kMembers)
        verdict.culprits.push_back(link.node->process->rank);
    }
    explain_one(graph, verdict);
    if (!verdict.text.ends_with('.')) verdict.text += ".";
  }
  return verdict;
}

// Threads whose call has everything it needs, and that neither return nor move a message.
std::optional<Verdict> kept_by_library(const WaitGraph& graph) {
  Ranks ranks;
  const Node* first = nullptr;
  for (const Node& node : graph.nodes()) {
    if (!node.has_all() || node.polls || graph.view().communicated(*node.process)) continue;
    if (graph.terminal(node.process->rank)) continue;
    if (first == nullptr) first = &node;
    ranks.push_back(node.process->rank);
  }
  if (first == nullptr) return std::nullopt;
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  Verdict verdict = blamed(graph, Cause::kLibrary, false, ranks, ranks);
  verdict.hung = verdict.since_s >= kLibraryPatience_s;
  const NeedKind kind = first->needs.front().kind;
  verdict.text = fmt::format(
      "{} of {} ranks {} been in {} for {}, although {}: the MPI library or the network does not "
      "move.",
      ranks.size(), graph.view().world_size(), ranks.size() == 1 ? "has" : "have",
      call_text(graph.view(), *first, &first->needs.front()), spelled_seconds(verdict.since_s),
      kind == NeedKind::kMessage    ? "the message has been sent"
      : kind == NeedKind::kReceiver ? "the receive has been posted"
                                    : "nobody is missing");
  return verdict;
}

std::optional<Verdict> unexplained(const WaitGraph& graph) {
  Ranks ranks;
  const Node* first = nullptr;
  for (const Node& node : graph.nodes()) {
    if (node.activity != Activity::kUnknown) continue;
    if (first == nullptr) first = &node;
    ranks.push_back(node.process->rank);
  }
  if (first == nullptr) return std::nullopt;
  Verdict verdict{.cause = Cause::kUnexplained, .culprits = ranks, .victims = ranks, .text = {}};
  verdict.since_s = first->thread->since_s;
  verdict.text =
      fmt::format("{} of {} ranks {} in {}; what it waits for is not known.", ranks.size(),
                  graph.view().world_size(), ranks.size() == 1 ? "is" : "are",
                  call_text(graph.view(), *first, nullptr));
  return verdict;
}

bool is_idle(const WaitGraph& graph, std::int32_t rank) {
  const RankState* state = graph.view().rank(rank);
  if (state == nullptr || state->threads.empty()) return false;
  const double share = graph.view().computing_share(*state);
  return std::ranges::all_of(state->threads,
                             [](const ThreadState& thread) { return thread.function.empty(); }) &&
         share >= 0 && share < 0.05;
}

std::optional<Verdict> held_up(const WaitGraph& graph) {
  const auto roots = graph.roots();
  for (const WaitGraph::Core& root : roots) {
    const std::int32_t rank = root.ranks.front();
    const auto nodes = graph.nodes_of(rank);
    const bool runs = graph.view().unseen(rank) || std::ranges::any_of(nodes, [](const Node* node) {
                        return node->activity == Activity::kComputes;
                      });
    if (!runs) continue;
    const RankState* state = graph.view().rank(rank);
    const Cause cause = graph.view().unseen(rank)    ? Cause::kNotSeen
                        : graph.view().polls(*state) ? Cause::kPollingRank
                        : is_idle(graph, rank)       ? Cause::kIdleRank
                                                     : Cause::kSlowRank;
    Verdict verdict = blamed(graph, cause, false, root.ranks, root.victims);
    verdict.further = roots.size() - 1;
    explain_one(graph, verdict);
    return verdict;
  }
  return std::nullopt;
}

Verdict moving(const WaitGraph& graph) {
  std::size_t computing = 0, waiting = 0;
  for (std::int32_t rank = 0; rank < graph.view().world_size(); ++rank) {
    const auto nodes = graph.nodes_of(rank);
    const bool waits = !nodes.empty() &&
                       std::ranges::all_of(nodes, [](const Node* node) { return node->waits(); });
    (waits ? waiting : computing)++;
  }
  Verdict verdict;
  verdict.text =
      fmt::format("Nothing is stuck: {} of {} ranks compute or are between MPI calls{}.", computing,
                  graph.view().world_size(), waiting == 0 ? "" : fmt::format(", {} wait", waiting));
  return verdict;
}

}  // namespace

Verdict judge(const JobState& now, const JobState& earlier) {
  const JobView view(now, earlier);
  const WaitGraph graph(view);
  if (auto verdict = find_mismatch(graph)) return *verdict;
  if (const auto cores = graph.cores(); !cores.empty()) {
    Verdict verdict = verdict_of(graph, cores.front());
    verdict.further = cores.size() - 1;
    return verdict;
  }
  if (auto verdict = held_up(graph)) return *verdict;
  // Before, it may as well be a long transfer.
  if (auto verdict = find_abandoned(graph, kLibraryPatience_s); verdict && verdict->hung)
    return *verdict;
  if (auto verdict = kept_by_library(graph)) return *verdict;
  if (auto verdict = unexplained(graph)) return *verdict;
  return moving(graph);
}

const char* name_of(Cause cause) {
  switch (cause) {
    case Cause::kNothing: return "nothing";
    case Cause::kSlowRank: return "slow-rank";
    case Cause::kIdleRank: return "idle-rank";
    case Cause::kPollingRank: return "polling-rank";
    case Cause::kNotSeen: return "not-seen";
    case Cause::kMissingParticipant: return "missing-participant";
    case Cause::kDifferentCollectives: return "different-collectives";
    case Cause::kDifferentRoots: return "different-roots";
    case Cause::kDifferentSizes: return "different-sizes";
    case Cause::kCycleOfReceives: return "cycle-of-receives";
    case Cause::kCycleOfSends: return "cycle-of-sends";
    case Cause::kCycle: return "cycle";
    case Cause::kCycleOfCollectives: return "cycle-of-collectives";
    case Cause::kUnmatchedMessage: return "unmatched-message";
    case Cause::kProcessGone: return "process-gone";
    case Cause::kProcessStopped: return "process-stopped";
    case Cause::kProcessFinalizing: return "process-finalizing";
    case Cause::kLibrary: return "library";
    case Cause::kUnexplained: return "unexplained";
  }
  return "";
}

void write_members(const Verdict& verdict, base::JsonWriter& json) {
  json.field("cause", name_of(verdict.cause));
  json.field("hung", verdict.hung);
  json.field("culprits", verdict.culprits);
  json.field("victims", verdict.victims);
  json.field("since_s", verdict.since_s);
  json.field("further", verdict.further);
  json.field("text", verdict.text);
}

}  // namespace fathom::live
