// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/path/path_slack.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/calls/call_key.h"
#include "analysis/engine/awaited_receives.h"
#include "analysis/engine/call_wait.h"
#include "analysis/engine/causal_walk.h"
#include "analysis/engine/job_end.h"

namespace fathom::analysis {
namespace {

constexpr std::uint64_t kFree = ~std::uint64_t{0};  // delays nobody

// Saturates, because kFree means no limit and must not wrap around to a small slack.
std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a + b < a ? kFree : a + b; }
std::uint64_t gap(std::uint64_t from, std::uint64_t to) { return to > from ? to - from : 0; }

class BackwardSlack {
 public:
  static constexpr bool kSendersWait = true;
  struct Payload {
    std::uint64_t latest_ns = kFree;
  };

  BackwardSlack(JoinedJob& job, EachSlack each)
      : job_(job), each_(std::move(each)), states_(job.mapping().size()) {
    const JobEnd end = job_end(job);
    for (const std::uint32_t process : job.own()) {
      states_[process].slack_ns = end.process == kNobody
                                      ? kFree
                                      : gap(end.arrived_ns[process], end.arrived_ns[end.process]);
    }
  }

  void step(std::uint32_t process, std::uint32_t number, const Step& step) {
    if (step.thread != 0) return;
    State& state = states_[process];
    if (step.kind != StepKind::kCall) {
      if (step.call != kNobody && state.call != step.call)
        look_at(process, number, step.call, state);
      return;
    }
    if (step.has(kNested)) return;
    if (state.call != number) look_at(process, number, number, state);
    state.slack_ns = std::min(sum(state.slack_ns, state.wait_ns), state.held_ns);
    state.call = kNobody;
    state.held_ns = kFree;
    note(process, number, step, state.slack_ns);
  }

  Payload give(std::uint32_t process, const Step& part) const {
    const State& state = states_[process];
    return {part.thread != 0 || state.call == kNobody ? kFree
                                                      : sum(state.goes_on_ns, state.slack_ns)};
  }

  // Limits how much later the call could be entered that sends the message, enters the collective,
  // or posts the receive.
  void take(std::uint32_t process, const Step& part, const Payload& payload) {
    State& state = states_[process];
    const std::uint32_t number = part.kind == StepKind::kReceive ? part.posted : part.call;
    if (payload.latest_ns == kFree || number == kNobody) return;
    const Step& call = job_.steps().at(process, number);
    if (call.thread == 0)
      state.held_ns = std::min(state.held_ns, gap(call.time_ns, payload.latest_ns));
  }

  static void merge(Payload& into, const Payload& other) {
    into.latest_ns = std::min(into.latest_ns, other.latest_ns);
  }

  std::vector<SlackRow> gather() {
    std::vector<SlackRow> own;
    rows_.for_each([&](const CallKey& key, SlackRow row) {
      row.process = key.process;
      row.function = key.function;
      row.phase = key.phase;
      row.communicator = key.communicator;
      row.site = key.site;
      own.push_back(row);
    });
    auto all = gathered(job_.transport(), own);
    std::sort(all.begin(), all.end(), [](const SlackRow& a, const SlackRow& b) {
      return std::tie(a.process, a.function, a.site, a.communicator, a.phase) <
             std::tie(b.process, b.function, b.site, b.communicator, b.phase);
    });
    return all;
  }

 private:
  struct State {
    std::uint64_t slack_ns = kFree;  // of what follows the current call
    std::uint64_t held_ns = kFree;   // limit from what the current call passes on
    std::uint32_t call = kNobody;    // the current call
    std::uint64_t wait_ns = 0, goes_on_ns = 0;
  };

  // Looks at the call that ends here: how long it waited, and when it could go on.
  void look_at(std::uint32_t process, std::uint32_t last, std::uint32_t call, State& state) {
    CallWait wait(job_, process, call);
    for (std::uint32_t number = last; number > call; --number) {
      const Step& step = job_.steps().at(process, number);
      if (step.kind != StepKind::kCall && step.kind != StepKind::kLost && step.call == call)
        wait.add(number, step);
    }
    state.call = call;
    state.wait_ns = wait.wait().ns;
    state.goes_on_ns = job_.steps().at(process, call).time_ns + state.wait_ns;
  }

  void note(std::uint32_t process, std::uint32_t number, const Step& call, std::uint64_t slack_ns) {
    if (slack_ns == kFree) return;
    SlackRow& row = rows_[{job_.site_address(process, call), process, call.number, call.partner,
                           call.communicator}];
    ++row.count;
    row.least_ns = std::min(row.least_ns, slack_ns);
    row.sum_ns += slack_ns;
    if (each_) each_(process, number, slack_ns);
  }

  JoinedJob& job_;
  const EachSlack each_;
  std::vector<State> states_;
  base::FlatMap<CallKey, SlackRow, CallKeyHash> rows_;
};

}  // namespace

PassTo<std::vector<SlackRow>> path_slack_pass(JoinedJob& job, EachSlack each) {
  mark_awaited_receives(job);
  auto backward = std::make_shared<BackwardSlack>(job, std::move(each));
  return {std::make_shared<CausalWalk<BackwardSlack>>(job, *backward, Direction::kBackward),
          [backward] { return backward->gather(); }};
}

}  // namespace fathom::analysis
