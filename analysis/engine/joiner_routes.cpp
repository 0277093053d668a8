// SPDX-License-Identifier: BSD-3-Clause
// Where what happened at one process goes: to the owners of those that it concerns, who apply it to their
// steps.
#include "analysis/engine/joiner.h"

namespace fathom::analysis {

// Delivers what the events of a process mean for its own and other processes.
void Joiner::route() {
  for (const SentMessage& message : outgoing_.sent) {
    const std::uint32_t to = job_.facts_.process_of(message.destination);
    if (to == kNobody) {
      ++job_.summary_.sends_to_nobody;
    } else if (job_.is_own(to)) {
      deliver(to, message);
    } else {
      parcels_.send(job_.mapping_[to], kSent, RoutedSend{message, to});
    }
  }
  route_notices();
  if (!outgoing_.locks.empty()) route_locks();
  for (const SourceLoss& loss : outgoing_.losses) {
    apply(loss);
    for (std::size_t other = 0; other < transport_.size(); ++other) {
      if (other != transport_.rank()) parcels_.send(other, kLoss, loss);
    }
  }
  for (const Participation& part : outgoing_.parts) {
    if (job_.facts_.members[static_cast<std::size_t>(part.communicator)].size() < 2) continue;
    const std::uint32_t owner = owner_of_communicator(part.communicator);
    if (owner == transport_.rank()) {
      take_part(part);
    } else {
      parcels_.send(owner, kPart, part);
    }
  }
  for (const Closing& closing : outgoing_.closings) {
    const std::uint32_t owner = owner_of_communicator(closing.communicator);
    if (owner == transport_.rank()) {
      collectives_.close(closing);
    } else {
      parcels_.send(owner, kClosed, closing);
    }
  }
  apply(outgoing_.joined);
  outgoing_.sent.clear();
  outgoing_.losses.clear();
  outgoing_.parts.clear();
  outgoing_.closings.clear();
  outgoing_.joined.clear();
}

// Few programs have any.
void Joiner::route_notices() {
  for (const SentMessage& notice : outgoing_.notices) {
    const std::uint32_t to = job_.facts_.process_of(notice.destination);
    if (to == kNobody) continue;
    if (job_.is_own(to)) {
      notices_->told(to, notice, joined_notices_);
    } else {
      parcels_.send(job_.mapping_[to], kNoticeSent, RoutedSend{notice, to});
    }
  }
  for (const HeardNotice& heard : outgoing_.heard) notices_->heard(heard, joined_notices_);
  apply_notices();
  access_ends_.insert(access_ends_.end(), outgoing_.access_ends.begin(),
                      outgoing_.access_ends.end());
  outgoing_.notices.clear();
  outgoing_.heard.clear();
  outgoing_.access_ends.clear();
}

// The owner of the window's first process owns the order of its locks.
void Joiner::route_locks() {
  locks_ = true;
  for (const LockCall& call : outgoing_.locks) {
    const std::uint32_t owner = owner_of_communicator(call.window.communicator);
    if (owner == transport_.rank()) {
      lock_order_.add(call);
    } else {
      parcels_.send(owner, kLockCall, call);
    }
  }
  outgoing_.locks.clear();
}

// Up to this moment, the calls of own processes are known.
std::uint64_t Joiner::known_until_ns() const {
  std::uint64_t until_ns = kAtTheEnd;
  for (const Lane& lane : lanes_) until_ns = std::min(until_ns, lane.known_until_ns());
  return until_ns;
}

void Joiner::settle_locks(std::uint64_t until_ns) {
  if (!locks_) return;
  lock_edges_.clear();
  lock_order_.settle(until_ns, lock_edges_);
  for (const LockEdge& edge : lock_edges_) {
    const std::uint32_t waiter = job_.mapping_[edge.waiter], holder = job_.mapping_[edge.holder];
    if (waiter != transport_.rank()) parcels_.send(waiter, kLockEdge, edge);
    if (holder != transport_.rank() && holder != waiter) parcels_.send(holder, kLockEdge, edge);
    apply(edge);
  }
}

// After the last event. One exchange, if any process had a lock and all know of it: one that failed reads
// on after it has said for the last time what it knows.
void Joiner::settle_last_locks() {
  settle_locks(kAtTheEnd);
  if (!announced_locks_) return;
  for (const Transport::Bytes& bytes : transport_.exchange(parcels_.take())) open(Received(bytes));
}

void Joiner::apply(const LockEdge& edge) {
  if (job_.is_own(edge.waiter)) {
    Step& heard = job_.steps_->at(edge.waiter, edge.call);
    heard.end_ns = edge.released_ns;
    heard.partner = edge.holder;
    heard.partner_step = edge.release;
    heard.bytes = NextHearer{edge.next, edge.next_call}.packed();
    heard.flags |= kJoined;
  }
  if (edge.position > 0 || !job_.is_own(edge.holder)) return;
  Step& told = job_.steps_->at(edge.holder, edge.release);
  told.end_ns = edge.entered_ns;
  told.partner = edge.waiter;
  told.partner_step = edge.call;
  told.bytes = edge.of;
  told.flags |= kJoined;
}

void Joiner::apply_notices() {
  for (const trace::JoinedEnds& joined : joined_notices_) apply_both(joined);
  joined_notices_.clear();
}

void Joiner::deliver(std::uint32_t process, const SentMessage& message) {
  joined_.clear();
  channels_[process]->send(message.key, message.end, joined_);
  if (!joined_.empty()) apply(joined_);
}

void Joiner::apply(const SourceLoss& loss) {
  joined_.clear();
  for (const std::uint32_t process : job_.own_) {
    channels_[process]->loss_at_source(loss.source, loss.time_ns, joined_);
  }
  notices_->loss(loss, joined_notices_);
  apply_notices();
  apply(joined_);
}

void Joiner::apply(const Channels::Joined& all) {
  for (const trace::JoinedEnds& joined : all) {
    ++job_.summary_.messages;
    ProcessSummary& receiver = job_.summary_.processes[joined.received.process];
    if (joined.received.time_ns < joined.sent.time_ns) {
      ++receiver.clock_errors;
      receiver.worst_clock_error_ns =
          std::max(receiver.worst_clock_error_ns, joined.sent.time_ns - joined.received.time_ns);
    }
    apply_both(joined);
  }
}

void Joiner::apply_both(const trace::JoinedEnds& joined) {
  apply_end(joined, false);
  if (job_.is_own(joined.sent.process)) {
    apply_end(joined, true);
  } else {
    parcels_.send(job_.mapping_[joined.sent.process], kMatched, joined);
  }
}

void Joiner::apply_end(const trace::JoinedEnds& joined, bool sender) {
  const trace::ChannelEnd& own = sender ? joined.sent : joined.received;
  const trace::ChannelEnd& other = sender ? joined.received : joined.sent;
  Step& step = job_.steps_->at(own.process, own.step);
  step.end_ns = other.begin_ns;
  step.partner = other.process;
  step.partner_step = other.step;
  step.flags |= kJoined;
}

void Joiner::apply(const JoinedCollective& joined) {
  Step& step = job_.steps_->at(joined.process, joined.step);
  step.end_ns = joined.decided_ns;
  step.bytes = joined.first_left_ns;
  step.partner = joined.partner;
  step.partner_step = joined.partner_step;
  step.flags |= joined.bystander ? kJoined | kBystander : kJoined;
  ++job_.summary_.collectives;
  if (joined.clock_error_ns == 0) return;
  ProcessSummary& process = job_.summary_.processes[joined.process];
  ++process.early_collectives;
  process.worst_clock_error_ns = std::max(process.worst_clock_error_ns, joined.clock_error_ns);
}

void Joiner::take_part(const Participation& part) {
  joined_parts_.clear();
  collectives_.take_part(part, joined_parts_);
  for (const JoinedCollective& joined : joined_parts_) {
    if (job_.is_own(joined.process)) {
      apply(joined);
    } else {
      parcels_.send(job_.mapping_[joined.process], kPartJoined, joined);
    }
  }
}

void Joiner::open(Received received) {
  while (received.more()) {
    switch (received.kind()) {
      case kSent: {
        const auto routed = received.take<RoutedSend>();
        deliver(routed.process, routed.message);
        break;
      }
      case kLoss: {
        apply(received.take<SourceLoss>());
        break;
      }
      case kNoticeSent: {
        const auto routed = received.take<RoutedSend>();
        notices_->told(routed.process, routed.message, joined_notices_);
        apply_notices();
        break;
      }
      case kMatched: apply_end(received.take<trace::JoinedEnds>(), true); break;
      case kPart: take_part(received.take<Participation>()); break;
      case kPartJoined: apply(received.take<JoinedCollective>()); break;
      case kClosed: collectives_.close(received.take<Closing>()); break;
      case kLockCall: lock_order_.add(received.take<LockCall>()); break;
      case kLockEdge: apply(received.take<LockEdge>()); break;
      default: return;
    }
  }
}

}  // namespace fathom::analysis
