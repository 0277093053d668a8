// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/wait_steps.h"

#include <algorithm>
#include <tuple>

#include "analysis/engine/parcels.h"
#include "analysis/waits/wait_blame.h"
#include "analysis/waits/wait_notes.h"
#include "analysis/waits/wait_tallies.h"

namespace fathom::analysis {
namespace {

auto order_of(const WaitRow& row) {
  return std::make_tuple(row.process, row.kind, row.function, row.site, row.phase, row.culprit);
}
auto order_of(const OriginRow& row) {
  return std::make_tuple(row.process, row.function, row.site, row.phase);
}

auto order_of(const CauseId& cause) {
  const Stretch& stretch = cause.stretch;
  return std::make_tuple(cause.process, stretch.after, stretch.before, stretch.after_site,
                         stretch.before_site, cause.phase);
}
auto order_of(const CauseRow& row) { return order_of(row.id); }
auto order_of(const SymptomRow& row) {
  const WaitId& wait = row.wait;
  return std::tuple_cat(order_of(row.cause), std::make_tuple(wait.process, wait.kind, wait.function,
                                                             wait.site, wait.phase, wait.awaited));
}

template <typename Row>
void sort_rows(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return order_of(a) < order_of(b); });
}

// Both are sorted. Each row of `late` has one in `waits`, unless blame is missing.
void add_late(const std::vector<WaitRow>& late, std::vector<WaitRow>& waits) {
  auto row = waits.begin();
  for (const WaitRow& one : late) {
    while (row != waits.end() && order_of(*row) < order_of(one)) ++row;
    if (row == waits.end() || order_of(*row) != order_of(one)) continue;
    row->late_for = one.late_for;
    row->late_for_site = one.late_for_site;
    row->meanwhile = one.meanwhile;
  }
}

}  // namespace

void sort_waits(std::vector<WaitRow>& rows) { sort_rows(rows); }

JobWaits find_waits(JoinedJob& job, const WaitScope& scope) {
  WorkTally work(scope);
  note_waits(job, work);
  WaitTallies tallies(job);
  JobWaits waits;
  waits.released = find_origins(job, scope, tallies);
  waits.rows = gathered(job.transport(), tallies.wait_rows());
  waits.origins = gathered(job.transport(), tallies.origin_rows(job));
  auto late = gathered(job.transport(), tallies.late_rows(job));
  waits.causes = gathered(job.transport(), tallies.causes().cause_rows());
  waits.symptoms = gathered(job.transport(), tallies.causes().symptom_rows());
  waits.work = gathered(job.transport(), work.rows());
  sort_rows(waits.rows);
  sort_rows(waits.origins);
  sort_rows(waits.causes);
  sort_rows(waits.symptoms);
  std::stable_sort(waits.work.begin(), waits.work.end(),
                   [](const WorkRow& a, const WorkRow& b) { return a.process < b.process; });
  sort_rows(late);
  add_late(late, waits.rows);
  return waits;
}

}  // namespace fathom::analysis
