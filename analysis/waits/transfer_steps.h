// SPDX-License-Identifier: BSD-3-Clause
// The life of each message at each of its ends, from the steps that PERUSE tells of inside the
// library:
//
//   receive   posted (or, of a message that was there already, asked for), matched, begun, ended, complete;
//             before that a message that nobody had asked for lies in the unexpected queue
//   send      begun (the request exists), first transfer, ended, complete
// Eager: a message is sent whole; rendezvous: a header first, and the data when the receive is
// there. Only a receive that was posted before its message came tells: it goes on after its first
// piece if it is a rendezvous. What sends and unexpected receives are is known by their size, where
// those that tell agree (transfers.cpp). The overlap of a transfer is the part between its
// beginning and its end in which the process's first thread was outside of MPI.
//
// Without PERUSE there are only requests that exist and complete: of those only `asked_ns` and
// `complete_ns` are known. An EventConsumer: streams. Memory: transfers under way, rows, and the
// first messages as asked for.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/scope/scope_filter.h"
#include "base/flat_map.h"

namespace fathom::analysis {

enum class Protocol : std::uint8_t { kUnknown, kEager, kRendezvous };

// One end of a message. Moments that were not seen are 0.
struct Transfer {
  std::uint32_t process = 0;
  std::int32_t peer = 0, tag = 0, communicator = 0;
  std::uint32_t message_class = 0;
  std::uint32_t number = 0;  // among those of the process
  std::uint64_t bytes = 0;
  std::uint64_t asked_ns = 0, matched_ns = 0, begin_ns = 0, end_ns = 0, complete_ns = 0;
  std::uint64_t queued_ns = 0;   // how long it lay in the unexpected queue
  std::uint64_t overlap_ns = 0;  // of begin to end, outside of MPI
  bool receiving = false, unexpected = false;
  Protocol protocol = Protocol::kUnknown;
};

// Ends that are alike.
struct TransferRow {
  std::uint32_t process = 0, size_bin = 0;
  bool receiving = false, hidden = false;
  Protocol protocol = Protocol::kUnknown;
  std::uint64_t count = 0, bytes = 0, unexpected = 0;
  std::uint64_t queued_ns = 0, most_queued_ns = 0;
  std::uint64_t transfer_ns = 0, overlap_ns = 0;  // begin to end
  std::uint64_t asked_to_begin_ns = 0, end_to_complete_ns = 0;
};

class TransferSteps : public EventConsumer {
 public:
  // Both outlive this. The first `most_messages` ends of all processes together are kept.
  TransferSteps(const trace::Definitions& definitions, const ScopeFilter& scope,
                std::size_t most_messages)
      : definitions_(definitions),
        scope_(scope),
        most_of_process_(most_messages / std::max<std::size_t>(1, definitions.processes.size()) +
                         1),
        states_(definitions.processes.size()) {}

  void events(std::uint32_t process, std::span<const trace::Event> events) override;

  std::vector<TransferRow> rows() const;  // of the processes seen; sorted
  std::vector<Transfer> messages;         // by process, in the order of completion
  std::uint64_t steps_seen = 0;           // of PERUSE's; 0: the trace has none
  std::uint64_t largest_eager = 0,
                smallest_rendezvous = ~std::uint64_t{0};  // bytes, of those that could tell

 private:
  struct Request {
    Transfer transfer;
    std::uint64_t in_mpi_ns = 0;  // until the transfer began
    bool known = false;           // what is sent
  };
  // The message sent last, whose request is told next.
  struct HandedOn {
    Transfer transfer;
    bool waits = false;
  };
  struct State {
    base::FlatMap<std::uint64_t, Request> requests;
    std::vector<HandedOn> handed_on;  // by thread
    std::map<std::uint64_t, std::deque<std::uint64_t>>
        queue;  // by communicator, peer and tag: since when
    std::uint64_t matched =
        trace::kNoRequest;  // the receive that has just taken one from the queue
    std::uint64_t in_mpi_ns = 0, entered_ns = 0;
    std::uint32_t depth = 0, finished = 0;
    std::map<std::uint64_t, TransferRow> rows;
  };

  void step(State& state, std::uint32_t process, const trace::Event& event);
  void unexpected(State& state, const trace::Event& event);
  void sent(State& state, std::uint32_t process, const trace::Event& event);
  void received(State& state, std::uint32_t process, const trace::Event& event);
  void finish(State& state, Transfer transfer);
  static std::uint64_t in_mpi_ns(const State& state, std::uint64_t now_ns) {
    return state.in_mpi_ns + (state.depth > 0 ? now_ns - state.entered_ns : 0);
  }

  const trace::Definitions& definitions_;
  const ScopeFilter& scope_;
  const std::size_t most_of_process_;
  std::vector<State> states_;
};

}  // namespace fathom::analysis
