#include "analysis/replay/wait_steps.h"

#include <algorithm>
#include <tuple>

#include "analysis/replay/parcels.h"
#include "analysis/replay/wait_blame.h"
#include "analysis/replay/wait_notes.h"
#include "analysis/replay/wait_tallies.h"

namespace fathom::analysis {
namespace {

auto order_of(const WaitRow& row) {
  return std::make_tuple(row.process, row.kind, row.function, row.site, row.phase, row.culprit);
}
auto order_of(const OriginRow& row) { return std::make_tuple(row.process, row.function, row.site, row.phase); }

template <typename Row>
void sort_rows(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return order_of(a) < order_of(b); });
}

}  // namespace

JobWaits find_waits(JoinedJob& job, const WaitScope& scope) {
  note_waits(job);
  WaitTallies tallies;
  JobWaits waits;
  waits.released = hand_out_blame(job, scope, tallies);
  waits.rows = gathered(job.transport(), tallies.wait_rows());
  waits.origins = gathered(job.transport(), tallies.origin_rows(job));
  sort_rows(waits.rows);
  sort_rows(waits.origins);
  return waits;
}

}  // namespace fathom::analysis
