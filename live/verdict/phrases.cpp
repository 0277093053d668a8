// SPDX-License-Identifier: BSD-3-Clause
#include "live/verdict/phrases.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "mpi/meaning.h"

namespace fathom::live {
namespace {

constexpr std::size_t kMostSpelledRanks = 8;

// Below this share of a processor a rank that is outside of MPI sleeps, reads a file or waits for a lock.
constexpr double kIdleShare = 0.05;

std::string tag_text(std::int32_t tag) {
  return tag == kAnyone ? ", any tag" : tag >= 0 ? fmt::format(", tag {}", tag) : "";
}

bool is_world(const JobView& view, std::uint64_t communicator) {
  const Communicator* found = view.communicator(communicator);
  return found == nullptr || found->name.empty() || found->name == "MPI_COMM_WORLD";
}

std::string meanwhile(const RankState& rank) {
  const std::string queue = queue_text(rank);
  return queue.empty() ? "" : ", while " + queue + " there";
}

std::string transfer_text(const JobView& view, const Pending& pending) {
  const bool receives = pending.kind == RequestKind::kReceive;
  std::string text = receives ? "from " : "to ";
  text += pending.peer == kAnyone ? "any rank" : std::to_string(pending.peer);
  text += tag_text(pending.tag);
  if (!is_world(view, pending.communicator))
    text += " on " + view.name_of_communicator(pending.communicator);
  return text;
}

}  // namespace

std::string spelled_seconds(double seconds) {
  if (!(seconds > 0)) return "0 s";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 7200) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string spelled_count(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

// A sentence about 10,000 ranks must stay a sentence, so at most kMostSpelledRanks parts are spelled out.
std::string spelled_ranks(const std::vector<std::int32_t>& ranks) {
  std::string text;
  std::size_t spelled = 0, parts = 0;
  for (std::size_t at = 0; at < ranks.size() && parts < kMostSpelledRanks; ++parts) {
    std::size_t end = at + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - at == 2) end = at + 1;  // "0, 1" reads better than "0-1"
    base::add_to_list(text, end - at > 1 ? fmt::format("{}-{}", ranks[at], ranks[end - 1])
                                         : std::to_string(ranks[at]));
    spelled += end - at;
    at = end;
  }
  if (spelled < ranks.size()) text += fmt::format(" and {} more", ranks.size() - spelled);
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

std::string call_text(const JobView& view, const Node& node, const Need* need) {
  const ThreadState& thread = *node.thread;
  const bool polls = thread.function.empty() && node.polls;
  std::string text = polls                     ? "a loop of MPI_Test or MPI_Iprobe"
                     : thread.function.empty() ? "MPI_Finalize"
                                               : thread.function;
  const mpi::Meaning& meaning = mpi::meaning_of(thread.function);
  if (thread.collective > 0 && (need == nullptr || need->pending == nullptr)) {
    text += fmt::format(" #{} on {}", spelled_count(thread.collective),
                        view.name_of_communicator(thread.communicator));
  } else if (need != nullptr && need->pending != nullptr) {
    const bool receives = need->pending->kind == RequestKind::kReceive;
    const bool completes = polls || meaning.completes != mpi::Completes::kNothing;
    if (completes || thread.pending.size() > 1) text += receives ? ", receiving" : ", sending";
    text += " " + transfer_text(view, *need->pending);
  }
  return thread.place.empty() ? text : text + " (" + thread.place + ")";
}

std::string queue_text(const RankState& rank) {
  if (rank.unexpected.value_or(0) == 0) return "";
  return fmt::format("{} message{} unexpected", spelled_count(*rank.unexpected),
                     *rank.unexpected == 1 ? " waits" : "s wait");
}

std::string condition_text(const WaitGraph& graph, std::int32_t rank) {
  const JobView& view = graph.view();
  const RankState* state = view.rank(rank);
  if (state == nullptr) return "nothing is known of it";
  const std::string process =
      state->pid == 0 ? "" : fmt::format(" (process {} on {})", state->pid, state->host);
  if (state->state == ProcessState::kGone) return "its process is gone" + process;
  if (state->state == ProcessState::kStopped)
    return "its process is stopped" + process + ", by SIGSTOP or a debugger";
  if (state->state == ProcessState::kEnded) return "it has ended MPI";
  if (view.unseen(rank))
    return fmt::format("{} has sent no sample of it for {}",
                       state->host.empty() ? "its host" : state->host,
                       spelled_seconds(state->sample_age_s));
  if (state->threads.empty()) return "it has made no MPI call yet";
  const ThreadState& thread = state->threads.front();
  if (state->state == ProcessState::kFinalizing)
    return "it is in MPI_Finalize" + (thread.place.empty() ? "" : " (" + thread.place + ")");
  if (!thread.function.empty()) {
    const Node& node = *graph.nodes_of(rank).front();
    const auto open = std::ranges::find(node.needs, false, &Need::met);
    return fmt::format("it has been in {} for {}",
                       call_text(view, node, open == node.needs.end() ? nullptr : &*open),
                       spelled_seconds(thread.since_s));
  }
  const Node& node = *graph.nodes_of(rank).front();
  if (node.polls && !node.needs.empty())
    return fmt::format("it has been in {} for {}", call_text(view, node, &node.needs.front()),
                       spelled_seconds(thread.since_s));
  if (view.polls(*state))
    return fmt::format("it has been polling for {} (MPI_Test, MPI_Iprobe), last at {}{}",
                       spelled_seconds(thread.since_s), thread.place, meanwhile(*state));
  const double share = view.computing_share(*state);
  const std::string after = thread.place.empty() ? "" : ", since its call at " + thread.place;
  if (share >= 0 && share < kIdleShare)
    return fmt::format(
        "it has been outside of MPI for {} and uses no processor (it sleeps, reads a "
        "file or waits for a lock){}{}",
        spelled_seconds(thread.since_s), after, meanwhile(*state));
  return fmt::format("it has been computing for {}{}{}", spelled_seconds(thread.since_s), after,
                     meanwhile(*state));
}

const char* failure_text(const Need& need) {
  if (need.unsure && need.kind == NeedKind::kMembers)
    return "has not begun it, or has to call MPI for it to go on";
  if (need.begun)
    return need.kind == NeedKind::kMembers ? "has to call MPI for it to go on"
                                           : "has begun to send it, and has to call MPI to go on";
  switch (need.kind) {
    case NeedKind::kMessage: return "has not sent it";
    case NeedKind::kReceiver: return "has not received it";
    case NeedKind::kMembers: break;
  }
  return "is not there";
}

}  // namespace fathom::live
