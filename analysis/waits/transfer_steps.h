// SPDX-License-Identifier: BSD-3-Clause
// The life of each message at each of its ends, from the steps inside the library that PERUSE
// reports:
//
//   receive   posted (or asked for, if the message was already there), matched, begun, ended,
//             complete; before that, an unexpected message stays in the unexpected queue
//   send      begun (the request exists), first transfer, ended, complete
//
// Eager: the message is sent as a whole. Rendezvous: first a header, then the data when the receive
// is there. Only a receive posted before its message arrived reveals the protocol: it continues
// after its first piece if it is a rendezvous. For sends and unexpected receives the protocol
// follows from their size, if those that reveal it agree (transfers.cpp). The overlap of a transfer
// is the part between its beginning and end in which the process's first thread was outside MPI.
//
// Without PERUSE the trace only has the creation and completion of requests: only `asked_ns` and
// `complete_ns` are known then. An EventConsumer, so it streams. Memory: active transfers, rows,
// and the first messages as asked for.
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

// One end of a message. Moments not observed are 0.
struct Transfer {
  std::uint32_t process = 0;
  std::int32_t peer = 0, tag = 0, communicator = 0;
  std::uint32_t message_class = 0;
  std::uint32_t number = 0;  // among those of the process
  std::uint64_t bytes = 0;
  std::uint64_t asked_ns = 0, matched_ns = 0, begin_ns = 0, end_ns = 0, complete_ns = 0;
  std::uint64_t queued_ns = 0;   // time in the unexpected queue
  std::uint64_t overlap_ns = 0;  // from begin to end, outside MPI
  bool receiving = false, unexpected = false;
  Protocol protocol = Protocol::kUnknown;
};

// Ends with the same attributes.
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
  // Both must outlive this. Keeps the first `most_messages` ends over all processes.
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
  std::uint64_t steps_seen = 0;           // PERUSE's; 0: the trace has none
  std::uint64_t largest_eager = 0,
                smallest_rendezvous = ~std::uint64_t{0};  // bytes, of those that reveal it

 private:
  struct Request {
    Transfer transfer;
    std::uint64_t in_mpi_ns = 0;  // until the transfer began
    bool known = false;           // what is sent is known
  };
  // The last message sent; its request comes next.
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
