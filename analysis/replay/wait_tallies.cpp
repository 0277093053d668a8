#include "analysis/replay/wait_tallies.h"

#include <algorithm>
#include <tuple>

namespace fathom::analysis {

void WaitTallies::add(const WaitKey& key, std::uint64_t ns, std::uint64_t at_ns) {
  WaitRow& row = waits_[key];
  row.ns += ns;
  ++row.count;
  if (ns > row.worst_ns || (ns == row.worst_ns && at_ns < row.worst_at_ns)) {
    row.worst_ns = ns;
    row.worst_at_ns = at_ns;
  }
}

void WaitTallies::caused(const WaitKey& key, std::uint64_t direct_ns, std::uint64_t indirect_ns, std::uint32_t call, std::uint64_t waited_ns) {
  Origin& origin = origins_[key];
  origin.row.direct_ns += direct_ns;
  origin.row.indirect_ns += indirect_ns;
  ++origin.row.count;
  // Blame comes in any order; the same instance must be the worst.
  const std::uint64_t ns = direct_ns + indirect_ns;
  if (std::tie(ns, waited_ns, call) <= std::tie(origin.worst_ns, origin.waited_ns, origin.call)) return;
  std::tie(origin.worst_ns, origin.waited_ns, origin.call) = std::tie(ns, waited_ns, call);
}

std::vector<WaitRow> WaitTallies::wait_rows() const {
  std::vector<WaitRow> rows;
  waits_.for_each([&](const WaitKey& key, WaitRow row) {
    row.process = key.process;
    row.kind = static_cast<WaitKind>(key.kind);
    row.function = key.function;
    row.phase = key.phase;
    row.culprit = key.culprit;
    row.site = key.site;
    rows.push_back(row);
  });
  return rows;
}

// Where the first thread was longest outside of MPI while the other waited. Goes back from the call that came late.
void WaitTallies::find_longest_work(const JoinedJob& job, std::uint32_t process, const Origin& origin, OriginRow& row) {
  const StepFile& steps = job.steps();
  const Step* next = &steps.at(process, origin.call);
  const std::uint64_t begin_ns = next->time_ns - std::min(origin.waited_ns, next->time_ns);
  for (std::uint32_t number = origin.call; number-- > 0 && next->time_ns > begin_ns;) {
    if (number % StepFile::kBlockSteps == 0) job.steps().touched(StepFile::kBlockSteps);
    const Step& step = steps.at(process, number);
    if (step.kind != StepKind::kCall || step.thread != 0 || step.has(kNested)) continue;
    const std::uint64_t from_ns = std::max(step.end_ns, begin_ns);
    if (next->time_ns > from_ns && next->time_ns - from_ns > row.work_ns) {
      row.work_ns = next->time_ns - from_ns;
      row.work_after = step.number;
      row.work_before = next->number;
      row.work_after_site = job.site_address(process, step);
      row.work_before_site = job.site_address(process, *next);
    }
    next = &step;
  }
}

std::vector<OriginRow> WaitTallies::origin_rows(const JoinedJob& job) const {
  std::vector<OriginRow> rows;
  origins_.for_each([&](const WaitKey& key, const Origin& origin) {
    OriginRow row = origin.row;
    find_longest_work(job, key.process, origin, row);
    row.process = key.process;
    row.function = key.function;
    row.phase = key.phase;
    row.site = key.site;
    rows.push_back(row);
  });
  return rows;
}

}  // namespace fathom::analysis
