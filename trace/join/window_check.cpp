// SPDX-License-Identifier: BSD-3-Clause
#include "trace/join/window_check.h"

#include <algorithm>

#include "trace/join/walk.h"

namespace fathom::trace {
namespace {

class Lengths : public Visitor {
 public:
  explicit Lengths(WindowCheck& check) : check_(check) {}
  void transfer(const Transfer& transfer) override {
    ++check_.joined;
    if (transfer.sent.bytes != transfer.received.bytes) ++check_.different;
  }

 private:
  WindowCheck& check_;
};

}  // namespace

bool is_window(const Definitions& definitions) {
  return std::any_of(definitions.processes.begin(), definitions.processes.end(),
                     [](const Process& process) { return process.dropped_records.has_value(); });
}

WindowCheck check_window(const Trace& trace) {
  WindowCheck check;
  for (const Process& process : trace.definitions().processes) {
    check.records += process.records;
    check.lost += process.lost_records;
    check.dropped += process.dropped_records.value_or(0);
    if (process.dropped_records.value_or(0) > 0 && !process.opening) ++check.inexact;
    check.problems.insert(check.problems.end(), process.problems.begin(), process.problems.end());
  }
  Lengths lengths(check);
  const WalkSummary summary = walk_job(trace, lengths);
  check.only_sent = summary.unmatched_sends;
  check.only_received = summary.unmatched_receives;
  check.problems.insert(check.problems.end(), summary.problems.begin(), summary.problems.end());
  return check;
}

}  // namespace fathom::trace
