// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/wait_tallies.h"

#include <algorithm>
#include <tuple>

#include "analysis/scope/scope_filter.h"

namespace fathom::analysis {
namespace {

WaitRow row_of(const WaitKey& key) {
  WaitRow row;
  row.process = key.process;
  row.kind = static_cast<WaitKind>(key.kind);
  row.function = key.function;
  row.phase = key.phase;
  row.culprit = key.culprit;
  row.site = key.site;
  return row;
}

// What the first thread did longest during the `waited_ns` before it entered the step `call`.
LongestStretch longest_stretch(const JoinedJob& job, std::uint32_t process, std::uint32_t call,
                               std::uint64_t waited_ns) {
  const StepFile& steps = job.steps();
  LongestStretch longest;
  const Step* next = &steps.at(process, call);
  const std::uint64_t begin_ns = next->time_ns - std::min(waited_ns, next->time_ns);
  for (std::uint32_t number = call; number-- > 0 && next->time_ns > begin_ns;) {
    if (number % StepFile::kBlockSteps == 0) job.steps().touched(StepFile::kBlockSteps);
    const Step& step = steps.at(process, number);
    if (step.kind != StepKind::kCall || step.thread != 0 || step.has(kNested)) continue;
    const std::uint64_t left_ns = std::clamp(step.end_ns, begin_ns, next->time_ns);
    if (const std::uint64_t ns = next->time_ns - left_ns; ns > longest.work_ns) {
      longest.work_ns = ns;
      longest.work_after = step.number;
      longest.work_before = next->number;
      longest.work_after_site = job.site_address(process, step);
      longest.work_before_site = job.site_address(process, *next);
    }
    if (const std::uint64_t ns = left_ns - std::clamp(step.time_ns, begin_ns, left_ns);
        ns > longest.call_ns) {
      longest.call_ns = ns;
      longest.call = step.number;
      longest.call_site = job.site_address(process, step);
    }
    next = &step;
  }
  return longest;
}

}  // namespace

WaitKey key_of(const JoinedJob& job, std::uint32_t process, const Step& call) {
  WaitKey key;
  key.process = process;
  key.function = call.number;
  key.phase = call.partner;
  key.site = job.site_address(process, call);
  return key;
}

std::uint64_t in_scope_ns(const WaitScope& scope, std::uint32_t process, const Step& call,
                          std::uint64_t wait_ns) {
  if (scope.processes && !(*scope.processes)[process]) return 0;
  if (!holds_phase(scope.phases, call.partner)) return 0;
  const std::uint64_t begin_ns = std::max(call.time_ns, scope.from_ns),
                      end_ns = std::min(call.time_ns + wait_ns, scope.to_ns);
  return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

void WaitTallies::add(const WaitKey& key, std::uint64_t ns, std::uint64_t at_ns) {
  Waited& row = waits_[key];
  row.ns += ns;
  ++row.count;
  if (ns > row.worst_ns || (ns == row.worst_ns && at_ns < row.worst_at_ns)) {
    row.worst_ns = ns;
    row.worst_at_ns = at_ns;
  }
}

void WaitTallies::caused(const WaitKey& wait, const WaitKey& key, std::uint64_t direct_ns,
                         std::uint64_t indirect_ns, std::uint32_t call, std::uint64_t waited_ns,
                         const WorstWait& waited) {
  causes_.add({wait.process, wait.function, wait.phase, wait.culprit,
               static_cast<WaitKind>(wait.kind), wait.site},
              key.process, call, waited_ns, direct_ns, indirect_ns, waited);
  Origin& origin = origins_[key];
  origin.direct_ns += direct_ns;
  origin.indirect_ns += indirect_ns;
  ++origin.count;
  // Blame arrives in any order; the choice of the worst instance must not depend on it.
  const std::uint64_t ns = direct_ns + indirect_ns;
  if (std::tie(ns, waited_ns, call) <= std::tie(origin.worst_ns, origin.waited_ns, origin.call))
    return;
  std::tie(origin.worst_ns, origin.waited_ns, origin.call) = std::tie(ns, waited_ns, call);
}

std::vector<WaitRow> WaitTallies::wait_rows() const {
  std::vector<WaitRow> rows;
  waits_.for_each([&](const WaitKey& key, const Waited& sums) {
    WaitRow row = row_of(key);
    row.ns = sums.ns;
    row.count = sums.count;
    row.worst_ns = sums.worst_ns;
    row.worst_at_ns = sums.worst_at_ns;
    rows.push_back(row);
  });
  return rows;
}

void WaitTallies::late(const WaitKey& key, std::uint32_t call, std::uint64_t waited_ns) {
  Late& worst = late_[key];
  if (std::tie(waited_ns, call) > std::tie(worst.waited_ns, worst.call) || worst.call == kNobody)
    worst = {waited_ns, call};
}

std::vector<WaitRow> WaitTallies::late_rows(const JoinedJob& job) const {
  std::vector<WaitRow> rows;
  late_.for_each([&](const WaitKey& key, const Late& late) {
    const Step& call = job.steps().at(key.culprit, late.call);
    WaitRow row = row_of(key);
    row.late_for = call.number;
    row.late_for_site = job.site_address(key.culprit, call);
    row.meanwhile = longest_stretch(job, key.culprit, late.call, late.waited_ns);
    rows.push_back(row);
  });
  return rows;
}

std::vector<OriginRow> WaitTallies::origin_rows(const JoinedJob& job) const {
  std::vector<OriginRow> rows;
  origins_.for_each([&](const WaitKey& key, const Origin& origin) {
    OriginRow row;
    row.direct_ns = origin.direct_ns;
    row.indirect_ns = origin.indirect_ns;
    row.count = origin.count;
    row.meanwhile = longest_stretch(job, key.process, origin.call, origin.waited_ns);
    const std::uint64_t came_ns = job.steps().at(key.process, origin.call).time_ns;
    row.worst_ns = std::min(origin.waited_ns, came_ns);
    row.worst_at_ns = came_ns - row.worst_ns;
    row.process = key.process;
    row.function = key.function;
    row.phase = key.phase;
    row.site = key.site;
    rows.push_back(row);
  });
  return rows;
}

}  // namespace fathom::analysis
