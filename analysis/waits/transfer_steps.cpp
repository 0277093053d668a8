// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/transfer_steps.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace fathom::analysis {
namespace {

using trace::Event;
using trace::EventKind;
using trace::TransferStep;

std::uint64_t gap(std::uint64_t from, std::uint64_t to) {
  return from > 0 && to > from ? to - from : 0;
}

std::uint64_t queue_key(const Event& event) {
  return base::mixed(std::uint64_t{static_cast<std::uint32_t>(event.peer)} << 32 |
                     static_cast<std::uint32_t>(event.tag)) ^
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(event.communicator)) *
             0x9e3779b97f4a7c15u;
}

void identify(Transfer& transfer, std::uint32_t process, const Event& message) {
  transfer.process = process;
  transfer.peer = message.peer;
  transfer.tag = message.tag;
  transfer.communicator = message.communicator;
  transfer.message_class = message.code;
  transfer.bytes = message.bytes;
}

}  // namespace

void TransferSteps::events(std::uint32_t process, std::span<const Event> events) {
  if (!scope_.process(process)) return;
  State& state = states_[process];
  for (const Event& event : events) {
    switch (event.kind) {
      case EventKind::kEnter:
        if (event.thread == 0 && state.depth++ == 0) state.entered_ns = event.time_ns;
        break;
      case EventKind::kLeave:
        if (event.thread == 0 && state.depth > 0 && --state.depth == 0)
          state.in_mpi_ns += event.time_ns - state.entered_ns;
        break;
      case EventKind::kTransfer: step(state, process, event); break;
      case EventKind::kUnexpected: unexpected(state, event); break;
      case EventKind::kMessageSent: sent(state, process, event); break;
      case EventKind::kMessageReceived: received(state, process, event); break;
      default: break;
    }
  }
}

void TransferSteps::step(State& state, std::uint32_t process, const Event& event) {
  const auto step = static_cast<TransferStep>(event.code);
  if (step == TransferStep::kBegin) ++steps_seen;
  Request& request = state.requests[event.request];
  Transfer& transfer = request.transfer;
  switch (step) {
    case TransferStep::kActivate:
      request = {};
      if (!event.receiving && event.thread < state.handed_on.size() &&
          state.handed_on[event.thread].waits) {
        request.transfer = state.handed_on[event.thread].transfer;
        request.known = true;
        state.handed_on[event.thread].waits = false;
      }
      request.transfer.process = process;
      request.transfer.receiving = event.receiving;
      request.transfer.asked_ns = event.time_ns;
      break;
    case TransferStep::kMatchedUnexpected:
      transfer.unexpected = true;
      state.matched = event.request;
      [[fallthrough]];
    case TransferStep::kMatchedExpected: transfer.matched_ns = event.time_ns; break;
    case TransferStep::kBegin:
      if (transfer.begin_ns > 0) break;
      transfer.begin_ns = event.time_ns;
      transfer.protocol = Protocol::kEager;
      request.in_mpi_ns = in_mpi_ns(state, event.time_ns);
      break;
    // A message from the unexpected queue is copied in a separate piece, complete or not.
    case TransferStep::kContinue:
      transfer.protocol = transfer.unexpected && transfer.protocol == Protocol::kEager
                              ? Protocol::kUnknown
                              : Protocol::kRendezvous;
      break;
    case TransferStep::kEnd:
      transfer.end_ns = event.time_ns;
      if (transfer.begin_ns > 0) {
        transfer.overlap_ns = gap(in_mpi_ns(state, event.time_ns) - request.in_mpi_ns + 1,
                                  event.time_ns - transfer.begin_ns + 1);
      }
      break;
    case TransferStep::kComplete:
      transfer.complete_ns = event.time_ns;
      if (event.receiving || !request.known) break;  // the event for a receive comes later
      transfer.protocol = Protocol::kUnknown;        // both protocols have the same steps
      finish(state, transfer);
      state.requests.erase(event.request);
      break;
    default: break;
  }
}

// First in, first out per kind: MPI's order. A message leaves right after the match that takes it.
void TransferSteps::unexpected(State& state, const Event& event) {
  auto& queue = state.queue[queue_key(event)];
  if (!event.receiving) return queue.push_back(event.time_ns);
  if (queue.empty()) return;
  Request* request =
      state.matched == trace::kNoRequest ? nullptr : state.requests.find(state.matched);
  if (request) request->transfer.queued_ns = gap(queue.front(), event.time_ns);
  state.matched = trace::kNoRequest;
  queue.pop_front();
  if (queue.empty()) state.queue.erase(queue_key(event));
}

void TransferSteps::sent(State& state, std::uint32_t process, const Event& event) {
  if (state.handed_on.size() <= event.thread) state.handed_on.resize(event.thread + 1);
  Transfer& transfer = state.handed_on[event.thread].transfer;
  state.handed_on[event.thread].waits = true;
  transfer = {};
  identify(transfer, process, event);
}

void TransferSteps::received(State& state, std::uint32_t process, const Event& event) {
  Transfer transfer;
  if (const Request* request =
          event.request == trace::kNoRequest ? nullptr : state.requests.find(event.request)) {
    transfer = request->transfer;
    state.requests.erase(event.request);
  }
  identify(transfer, process, event);
  transfer.receiving = true;
  if (transfer.complete_ns == 0) transfer.complete_ns = event.time_ns;
  finish(state, transfer);
}

void TransferSteps::finish(State& state, Transfer transfer) {
  if (!scope_.at(transfer.complete_ns)) return;
  if (transfer.protocol == Protocol::kEager)
    largest_eager = std::max(largest_eager, transfer.bytes);
  if (transfer.protocol == Protocol::kRendezvous)
    smallest_rendezvous = std::min(smallest_rendezvous, transfer.bytes);
  const bool hidden = transfer.message_class < definitions_.class_hidden.size() &&
                      definitions_.class_hidden[transfer.message_class];
  const auto size_bin = static_cast<std::uint32_t>(std::bit_width(transfer.bytes));
  TransferRow& row =
      state.rows[std::uint64_t{size_bin} << 8 | std::uint64_t{transfer.receiving} << 4 |
                 std::uint64_t{hidden} << 3 | static_cast<std::uint64_t>(transfer.protocol)];
  row.process = transfer.process;
  row.size_bin = size_bin;
  row.receiving = transfer.receiving;
  row.hidden = hidden;
  row.protocol = transfer.protocol;
  ++row.count;
  row.bytes += transfer.bytes;
  row.unexpected += transfer.unexpected ? 1 : 0;
  row.queued_ns += transfer.queued_ns;
  row.most_queued_ns = std::max(row.most_queued_ns, transfer.queued_ns);
  row.transfer_ns += gap(transfer.begin_ns, transfer.end_ns);
  row.overlap_ns += transfer.overlap_ns;
  row.asked_to_begin_ns += transfer.begin_ns > 0 ? gap(transfer.asked_ns, transfer.begin_ns) : 0;
  row.end_to_complete_ns += gap(transfer.end_ns, transfer.complete_ns);
  transfer.number = state.finished++;
  if (transfer.number < most_of_process_) messages.push_back(transfer);
}

std::vector<TransferRow> TransferSteps::rows() const {
  std::vector<TransferRow> all;
  for (const State& state : states_) {
    for (const auto& [key, row] : state.rows) all.push_back(row);
  }
  return all;
}

}  // namespace fathom::analysis
