// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/blocked_time.h"

#include <algorithm>
#include <tuple>

#include "analysis/engine/parcels.h"
#include "analysis/scope/scope_filter.h"
#include "base/flat_map.h"

namespace fathom::analysis {
namespace {

class Scan {
 public:
  Scan(JoinedJob& job, const Scope& scope) : job_(job), scope_(scope, job.definitions()) {}

  std::vector<BlockedRow> rows() {
    for (const std::uint32_t process : job_.own()) {
      if (scope_.process(process)) go_through(process);
    }
    std::vector<BlockedRow> own;
    rows_.for_each([&](std::uint64_t, const BlockedRow& row) { own.push_back(row); });
    auto all = gathered(job_.transport(), own);
    std::sort(all.begin(), all.end(), [](const BlockedRow& a, const BlockedRow& b) {
      return std::tie(a.process, a.peer, a.receiving) < std::tie(b.process, b.peer, b.receiving);
    });
    return all;
  }

 private:
  // A message completed by the call.
  struct Decisive {
    const Step* part = nullptr;
    std::uint64_t done_ns = 0;
  };

  void go_through(std::uint32_t process) {
    const StepFile& steps = job_.steps();
    const Step* call = nullptr;
    std::uint32_t call_number = kNobody;
    Decisive decisive;
    for (std::uint32_t number = 0; number < steps.size(process); ++number) {
      if (number % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
      const Step& step = steps.at(process, number);
      if (step.thread != 0) continue;
      if (step.kind == StepKind::kCall) {
        if (step.has(kNested)) continue;
        if (call) finish(process, *call, decisive);
        call = &step;
        call_number = number;
        decisive = {};
      } else if (call && step.call == call_number) {
        look_at(process, *call, step, decisive);
      }
    }
    if (call) finish(process, *call, decisive);
  }

  void look_at(std::uint32_t process, const Step& call, const Step& step,
               Decisive& decisive) const {
    const bool done = step.kind == StepKind::kDone;
    if (done ? step.has(kCancelled) || step.partner_step == kNobody : step.has(kByRequest)) return;
    const Step& part = done ? job_.steps().at(process, step.partner_step) : step;
    if ((part.kind != StepKind::kSend && part.kind != StepKind::kReceive) || part.has(kHidden) ||
        !part.has(kJoined))
      return;
    std::uint64_t done_ns = part.time_ns;
    if (part.kind == StepKind::kSend) done_ns = done ? step.time_ns : call.end_ns;
    const bool first = job_.facts().functions[call.number].completes == Completes::kSome;
    const bool decides =
        !decisive.part || (first ? done_ns < decisive.done_ns : done_ns > decisive.done_ns);
    if (decides) decisive = {&part, done_ns};
  }

  void finish(std::uint32_t process, const Step& call, const Decisive& decisive) {
    const mpi::Meaning& facts = job_.facts().functions[call.number];
    if (!decisive.part || facts.tests() || facts.immediate || !scope_.at(call.time_ns)) return;
    const Step& part = *decisive.part;
    const std::uint64_t done_ns = std::min(decisive.done_ns, call.end_ns);
    if (done_ns <= call.time_ns) return;
    const std::uint64_t ready_ns = std::clamp(part.end_ns, call.time_ns, done_ns);
    const bool receiving = part.kind == StepKind::kReceive;
    // A send that completes before its receive is posted waited for nobody.
    if (!receiving && part.end_ns > done_ns) return;
    BlockedRow& row = rows_[std::uint64_t{process} << 33 | std::uint64_t{part.partner} << 1 |
                            (receiving ? 1 : 0)];
    row.process = process;
    row.peer = part.partner;
    row.receiving = receiving;
    ++row.count;
    row.peer_ns += ready_ns - call.time_ns;
    row.wire_ns += done_ns - ready_ns;
    row.most_wire_ns = std::max(row.most_wire_ns, done_ns - ready_ns);
    row.bytes += part.bytes;
  }

  JoinedJob& job_;
  const ScopeFilter scope_;
  base::FlatMap<std::uint64_t, BlockedRow> rows_;
};

}  // namespace

std::vector<BlockedRow> blocked_time(JoinedJob& job, const Scope& scope) {
  return Scan(job, scope).rows();
}

}  // namespace fathom::analysis
