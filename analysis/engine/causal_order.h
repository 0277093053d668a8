// SPDX-License-Identifier: BSD-3-Clause
// Visits the steps of all own processes in causal order, forward or backward: a message is received
// after it was sent (backward: before), whatever the clocks of two hosts say.
//
// A call is visited twice, at its enter and its leave. Within a process, visits follow the order of
// its steps. Among processes the earlier comes first (backward: the later); ties by process.
// Forward, a call of a collective is left only after the member it waited for has entered. A cycle,
// which only damaged traces contain, is broken at its earliest (latest) moment. Backward, calls of
// several threads of a process keep their order only within each thread. Only own processes
// (JoinedJob::own) take part; events of others are assumed to have happened. Cost: O(log processes)
// per visit. Memory: open calls, and one entry per process.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "analysis/engine/joined_job.h"

namespace fathom::analysis {

enum class Moment : std::uint8_t {
  kEnter,
  kLeave,
  kSend,
  kReceive,
  kCollective,
  kDone,
  kLost,
  kGiven,
  kProbe
};
inline constexpr std::size_t kMoments = 9;

struct Visit {
  std::uint64_t time_ns = 0;
  std::uint32_t process = 0, step = 0;  // for enter and leave, the kCall
  Moment moment = Moment::kEnter;
};

class CausalOrder {
 public:
  CausalOrder(const JoinedJob& job, Direction direction);  // job must outlive this
  bool next(Visit& visit);

 private:
  struct OpenCall {
    std::uint32_t step = 0;
    std::uint32_t partner = kNobody, partner_step = 0;  // of its collective
  };
  struct Cursor {
    std::uint32_t at = 0;        // forward: the next step; backward: one past it
    std::vector<OpenCall> open;  // entered and not left (backward: left and not entered)
    Visit coming;                // its next visit
    bool ended = false;
    std::vector<std::uint32_t> waiting;  // processes waiting for this one
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
