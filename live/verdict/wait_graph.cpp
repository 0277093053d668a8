// SPDX-License-Identifier: BSD-3-Clause
#include "live/verdict/wait_graph.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "mpi/meaning.h"

namespace fathom::live {
namespace {

// The share of its time that a polling process may spend outside of MPI and still be said to do nothing else: the loop
// around MPI_Test costs something, too.
constexpr double kMostBetweenPolls = 0.6;
// Calls for each second of processor time. A loop that works for more than a millisecond between two polls does
// something else, too: on a machine with more ranks than processors, most of its time may be spent in MPI_Test, which
// gives the processor away.
constexpr double kLeastPolls = 1000;

bool is_collective(const ThreadState& thread) {
  return thread.collective > 0 && thread.communicator != 0;
}

bool can_speak_no_more(ProcessState state) {
  return state != ProcessState::kStarting && state != ProcessState::kRunning;
}

// Whether the needs of a node are met as far as they must be, by what met(need) says of each.
template <typename Met>
bool meets(const Node& node, Met met) {
  if (!node.all) return std::ranges::any_of(node.needs, met);
  bool any_unsure = false, unsure_met = false;
  for (const Need& need : node.needs) {
    const bool is_met = met(need);
    if (!need.unsure && !is_met) return false;
    any_unsure = any_unsure || need.unsure;
    unsure_met = unsure_met || (need.unsure && is_met);
  }
  return !any_unsure || unsure_met;
}

bool matches(std::int32_t wanted, std::int32_t is) { return wanted == kAnyone || wanted == is; }

}  // namespace

bool Node::has_all() const {
  if (!waits() || needs.empty()) return false;
  return meets(*this, [](const Need& need) { return need.met; });
}

WaitGraph::WaitGraph(const JobView& view) : view_(view) {
  const auto size = static_cast<std::size_t>(view.world_size());
  nodes_of_rank_.resize(size);
  released_.assign(size, 0);
  terminal_.assign(size, 0);
  for (const RankState& process : view.now().ranks) {
    if (valid(process.rank)) add_process(process);
  }
  release();
}

std::vector<const Node*> WaitGraph::nodes_of(std::int32_t rank) const {
  std::vector<const Node*> found;
  if (!valid(rank)) return found;
  for (const std::size_t number : nodes_of_rank_[static_cast<std::size_t>(rank)])
    found.push_back(&nodes_[number]);
  return found;
}

void WaitGraph::add_process(const RankState& process) {
  const auto rank = static_cast<std::size_t>(process.rank);
  terminal_[rank] = can_speak_no_more(process.state);
  const auto add = [&](const ThreadState* thread) {
    Node node{.process = &process, .thread = thread, .needs = {}};
    if (process.state != ProcessState::kGone && process.state != ProcessState::kEnded &&
        process.state != ProcessState::kStopped && !view_.unseen(process.rank))
      add_needs(node);
    nodes_of_rank_[rank].push_back(nodes_.size());
    nodes_.push_back(std::move(node));
  };
  if (process.threads.empty()) add(nullptr);
  for (const ThreadState& thread : process.threads) add(&thread);
}

void WaitGraph::add_needs(Node& node) {
  if (node.thread == nullptr) return;
  const ThreadState& thread = *node.thread;
  if (node.process->state == ProcessState::kFinalizing) {
    node.activity = Activity::kWaits;
    return need_finalizing(node);
  }
  if (thread.function.empty()) return add_polling(node);
  const mpi::Meaning& meaning = mpi::meaning_of(thread.function);
  if (meaning.polls) return add_polling(node);
  if (meaning.immediate || view_.moved(*node.process, thread)) {
    node.activity = Activity::kMoves;
    return;
  }
  node.activity = Activity::kWaits;
  if (meaning.ends_job) return need_finalizing(node);
  if (is_collective(thread) && meaning.completes == mpi::Completes::kNothing)
    return need_collective(node);
  node.all = thread.waits_for_all || meaning.completes != mpi::Completes::kSome;
  for (const Pending& pending : thread.pending) {
    const bool numbered = pending.kind == RequestKind::kCollective && is_collective(thread) &&
                          pending.communicator == thread.communicator;
    if (numbered) {
      need_collective(node);
    } else if (pending.kind == RequestKind::kCollective && pending.communicator != 0) {
      need_unnumbered(node, pending.communicator);
    } else if (pending.kind == RequestKind::kCollective || pending.kind == RequestKind::kOther) {
      if (!node.all) node.activity = Activity::kUnknown;  // this one may come
    } else {
      node.needs.push_back(need_of(node, pending));
    }
  }
  if (node.needs.empty() || (!node.all && thread.pending_left_out > 0))
    node.activity = Activity::kUnknown;
  doubt(node);
}

// A thread says what it waits for when it enters the call. If it has several requests, some may be complete since: receives
// from which a message has come, and sends that were eager.
void WaitGraph::doubt(Node& node) const {
  if (!node.all || node.thread->pending.size() < 2) return;
  const std::int32_t rank = node.process->rank;
  for (Need& need : node.needs) {
    if (need.pending == nullptr) continue;
    const Pending& pending = *need.pending;
    need.unsure = need.kind == NeedKind::kReceiver || pending.peer < 0 || pending.tag < 0 ||
                  view_.counted(pending.peer, rank, pending.communicator, pending.tag).received > 0;
  }
  const auto certain = [](const Need& need) { return !need.unsure && !need.met; };
  if (!std::ranges::any_of(node.needs, certain)) return;
  std::erase_if(node.needs, [](const Need& need) { return need.unsure; });
}

// A thread that asks for the same requests in both samples, and whose process has neither sent nor received a
// message nor computed between them, waits for any of them. Between its calls it must have gone on asking, and have
// spent much of its time so: one that asks now and then may wait for something else, a file or a moment.
void WaitGraph::add_polling(Node& node) {
  const ThreadState& thread = *node.thread;
  if (!thread.function.empty()) node.activity = Activity::kMoves;
  if (thread.pending.empty() || thread.pending_left_out > 0) return;
  if (thread.function.empty() &&
      (!view_.polls(*node.process) || !view_.goes_on_calling(*node.process, thread)))
    return;
  if (view_.call_rate(*node.process, thread) < kLeastPolls) return;
  const double share = view_.computing_share(*node.process);
  if (share < 0 || share > kMostBetweenPolls || view_.communicated(*node.process)) return;
  for (const Pending& pending : thread.pending) {
    if (pending.kind == RequestKind::kCollective || pending.kind == RequestKind::kOther) {
      node.needs.clear();
      return;
    }
    node.needs.push_back(need_of(node, pending));
  }
  node.activity = Activity::kWaits;
  node.polls = true;
  node.all = false;
}

void WaitGraph::need_collective(Node& node) {
  const ThreadState& thread = *node.thread;
  const mpi::Meaning& meaning = mpi::meaning_of(thread.function);
  Need need{.kind = NeedKind::kMembers};
  need.group = missing(thread.communicator, thread.collective);
  if (groups_[need.group]
          .empty()) {  // all have begun it; those that are outside of MPI may hold it up
    need.group = outside(thread.communicator);
    need.begun = need.any = !groups_[need.group].empty();
    need.met = !need.begun;
    // Neighbours are not known, so that nobody need be missing.
    if (meaning.flow == mpi::Flow::kNone && meaning.completes == mpi::Completes::kNothing)
      node.activity = Activity::kUnknown;
    node.needs.push_back(need);
    return;
  }
  const std::vector<std::int32_t>& absent = groups_[need.group];
  switch (meaning.flow) {
    case mpi::Flow::kBarrier:
    case mpi::Flow::kAllToAll: break;
    case mpi::Flow::kToRoot: need.any = thread.root != node.process->rank; break;
    case mpi::Flow::kFromRoot:
      // Data may come through any other member (a tree), but never without the root.
      need.any = true;
      if (std::ranges::find(absent, thread.root) != absent.end()) need.group = single(thread.root);
      break;
    case mpi::Flow::kPrefix:
    case mpi::Flow::kNone: need.any = true; break;
  }
  node.needs.push_back(need);
}

// A non-blocking collective of which only the communicator is known: it waits for some member that does not wait for
// one there.
void WaitGraph::need_unnumbered(Node& node, std::uint64_t communicator) {
  const auto waits_there = [&](std::int32_t rank) {
    const RankState* state = view_.rank(rank);
    if (state == nullptr) return false;
    for (const ThreadState& thread : state->threads) {
      for (const Pending& pending : thread.pending) {
        if (pending.kind == RequestKind::kCollective && pending.communicator == communicator)
          return true;
      }
    }
    return false;
  };
  const auto [at, is_new] = unnumbered_.try_emplace(communicator, groups_.size());
  if (is_new) {
    std::vector<std::int32_t> others;
    if (const Communicator* members = view_.communicator(communicator)) {
      for (const auto* side : {&members->members, &members->remote}) {
        for (const std::int32_t member : *side) {
          if (!waits_there(member)) others.push_back(member);
        }
      }
    }
    groups_.push_back(std::move(others));
  }
  Need need{.kind = NeedKind::kMembers, .any = true, .unsure = true, .group = at->second};
  need.met = groups_[need.group].empty();
  node.needs.push_back(need);
}

// MPI_Finalize returns when all have called it.
void WaitGraph::need_finalizing(Node& node) {
  const auto [at, is_new] = missing_.try_emplace({0, 0}, groups_.size());
  if (is_new) {
    std::vector<std::int32_t> absent;
    for (std::int32_t rank = 0; rank < view_.world_size(); ++rank) {
      const RankState* state = view_.rank(rank);
      if (state == nullptr ||
          (state->state != ProcessState::kFinalizing && state->state != ProcessState::kEnded))
        absent.push_back(rank);
    }
    groups_.push_back(std::move(absent));
  }
  Need need{.kind = NeedKind::kMembers, .group = at->second};
  need.met = groups_[need.group].empty();
  node.needs.push_back(need);
}

Need WaitGraph::need_of(const Node& node, const Pending& pending) {
  const std::int32_t rank = node.process->rank;
  const bool receives = pending.kind == RequestKind::kReceive;
  Need need{.kind = receives ? NeedKind::kMessage : NeedKind::kReceiver, .pending = &pending};
  if (pending.peer == kNobody || pending.peer == kUnknown || pending.tag == kUnknown) {
    need.met = true;  // nothing is known that could hold it up
    need.group = single(rank);
  } else if (pending.peer == kAnyone) {
    const Communicator* members = view_.communicator(pending.communicator);
    need.any = true;
    const auto [at, is_new] = anyone_.try_emplace(pending.communicator, groups_.size());
    if (is_new)
      groups_.push_back(members == nullptr        ? std::vector<std::int32_t>{}
                        : members->remote.empty() ? members->members
                                                  : members->remote);
    need.group = at->second;
    need.met = members == nullptr;
    if (members != nullptr) seek_message(need, rank);
  } else {
    need.group = single(pending.peer);
    if (receives)
      seek_message(need, rank);
    else
      need.met = is_taken(pending.peer, rank, pending) ||
                 (mpi::meaning_of(node.thread->function).completes != mpi::Completes::kNothing &&
                  was_received(rank, pending));
  }
  return need;
}

// Whether a message that fits has been sent, and its sender's library can pass it on.
void WaitGraph::seek_message(Need& need, std::int32_t receiver) {
  for (const std::int32_t sender : groups_[need.group]) {
    if (view_.unmatched(sender, receiver, need.pending->communicator, need.pending->tag) == 0)
      continue;
    if (view_.in_mpi(sender))
      need.met = true;
    else
      need.begun = true;
  }
}

// Whether all messages of the channel have been received, this one included. Not for blocking sends, which are counted
// when they return.
bool WaitGraph::was_received(std::int32_t sender, const Pending& sent) const {
  const auto count = view_.counted(sender, sent.peer, sent.communicator, sent.tag);
  return count.sent > 0 && count.received >= count.sent;
}

// Whether a thread of the receiver waits for this very message.
bool WaitGraph::is_taken(std::int32_t receiver, std::int32_t sender, const Pending& sent) const {
  const RankState* process = view_.rank(receiver);
  if (process == nullptr) return false;
  for (const ThreadState& thread : process->threads) {
    for (const Pending& pending : thread.pending) {
      if (pending.kind == RequestKind::kReceive && pending.communicator == sent.communicator &&
          matches(pending.peer, sender) && matches(pending.tag, sent.tag))
        return true;
    }
  }
  return false;
}

std::size_t WaitGraph::single(std::int32_t rank) {
  const auto [at, is_new] = singles_.try_emplace(rank, groups_.size());
  if (is_new) groups_.push_back({rank});
  return at->second;
}

// The members that have not begun the collective.
std::size_t WaitGraph::missing(std::uint64_t communicator, std::uint64_t ordinal) {
  const auto [at, is_new] = missing_.try_emplace({communicator, ordinal}, groups_.size());
  if (!is_new) return at->second;
  std::vector<std::int32_t> absent;
  if (const Communicator* members = view_.communicator(communicator)) {
    for (const auto* side : {&members->members, &members->remote}) {
      for (const std::int32_t member : *side) {
        if (view_.collectives_begun(member, communicator) < ordinal) absent.push_back(member);
      }
    }
  }
  groups_.push_back(std::move(absent));
  return at->second;
}

// The members that run and are outside of MPI.
std::size_t WaitGraph::outside(std::uint64_t communicator) {
  const auto [at, is_new] = outside_.try_emplace(communicator, groups_.size());
  if (!is_new) return at->second;
  std::vector<std::int32_t> found;
  if (const Communicator* members = view_.communicator(communicator)) {
    for (const auto* side : {&members->members, &members->remote}) {
      for (const std::int32_t member : *side) {
        if (!view_.in_mpi(member)) found.push_back(member);
      }
    }
  }
  groups_.push_back(std::move(found));
  return at->second;
}

bool WaitGraph::can_be_met(const Need& need) const {
  if (need.met) return true;
  const std::vector<std::int32_t>& ranks = groups_[need.group];
  const auto runs = [this](std::int32_t rank) { return !valid(rank) || !blocked(rank); };
  return need.any ? std::ranges::any_of(ranks, runs) : std::ranges::all_of(ranks, runs);
}

void WaitGraph::release() {
  for (std::int32_t rank = 0; rank < view_.world_size(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    released_[at] = nodes_of_rank_[at].empty() || (view_.unseen(rank) && !view_.ended(rank));
  }
  for (Node& node : nodes_) {
    const auto rank = static_cast<std::size_t>(node.process->rank);
    node.released = !node.waits();
    if (node.released && !terminal_[rank]) released_[rank] = 1;
  }
  std::vector<Node*> waiting;
  for (Node& node : nodes_) {
    if (!node.released) waiting.push_back(&node);
  }
  // Answers that do not change within a round are computed once per group.
  std::vector<std::optional<bool>> any(groups_.size()), all(groups_.size());
  const auto met = [&](const Need& need) {
    if (need.met) return true;
    std::optional<bool>& known = (need.any ? any : all)[need.group];
    if (!known) known = can_be_met(need);
    return *known;
  };
  for (bool changed = true; changed;) {
    changed = false;
    std::ranges::fill(any, std::nullopt);
    std::ranges::fill(all, std::nullopt);
    std::erase_if(waiting, [&](Node* node) {
      node->released = meets(*node, met);
      if (!node->released) return false;
      const auto rank = static_cast<std::size_t>(node->process->rank);
      if (!terminal_[rank]) released_[rank] = 1;
      return changed = true;
    });
  }
}

}  // namespace fathom::live
