// SPDX-License-Identifier: BSD-3-Clause
// Goes through the steps of all own processes in causal order, forward or backward: a message is
// received after it was sent (backward: before), whatever the clocks of two hosts say.
//
// A call is met twice, at its enter and its leave. Each process's moments come in the order of its
// steps; among processes the earlier (backward: the later) comes first, equal ones by process.
// Forward, a call of a collective is left after the member that it waited for entered. A cycle,
// which only damaged traces can have, is broken at its earliest (latest) moment. Backward, calls of
// several threads of a process keep their order in each thread only. Only own processes
// (JoinedJob::own) take part; what comes from others is taken to have happened. Cost: O(log
// processes) a moment. Memory: open calls, and one entry a process.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "analysis/engine/direction.h"
#include "analysis/engine/joined_job.h"

namespace fathom::analysis {

enum class Moment : std::uint8_t { kEnter, kLeave, kSend, kReceive, kCollective, kDone, kLost };
inline constexpr std::size_t kMoments = 7;

struct Visit {
  std::uint64_t time_ns = 0;
  std::uint32_t process = 0, step = 0;  // of enter and leave the kCall
  Moment moment = Moment::kEnter;
};

class CausalOrder {
 public:
  CausalOrder(const JoinedJob& job, Direction direction);  // the job outlives this
  bool next(Visit& visit);

 private:
  struct OpenCall {
    std::uint32_t step = 0;
    std::uint32_t partner = kNobody, partner_step = 0;  // of its collective
  };
  struct Cursor {
    std::uint32_t at = 0;        // forward: the next step. Backward: behind it
    std::vector<OpenCall> open;  // entered and not left (backward: left and not entered)
    Visit coming;                // what it does next
    bool ended = false;
    std::vector<std::uint32_t> waiting;  // processes that wait for this one
  };
  struct Later {
    Direction direction;
    bool operator()(const Visit& a, const Visit& b) const;
  };

  const Step& step(std::uint32_t process, std::uint32_t number) const {
    return job_.steps().at(process, number);
  }
  bool visited(std::uint32_t process, std::uint32_t number) const;
  void prepare(std::uint32_t process);
  void prepare_forward(std::uint32_t process);
  void prepare_backward(std::uint32_t process);
  std::uint32_t caller_of(std::uint32_t process, std::uint32_t number) const;
  void advance(const Visit& visit);
  std::uint32_t waits_for(const Visit& visit) const;
  void queue_or_stall(std::uint32_t process);
  void break_cycle();

  const JoinedJob& job_;
  const Direction direction_;
  std::vector<Cursor> cursors_;  // by process
  std::priority_queue<Visit, std::vector<Visit>, Later> ready_;
  std::vector<Visit> stalled_;
};

}  // namespace fathom::analysis
