// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/wait_causes.h"

#include <algorithm>
#include <tuple>

#include "analysis/scope/scope_filter.h"

namespace fathom::analysis {
namespace {

__extension__ using Ns128 = unsigned __int128;

}  // namespace

// What the first thread did from `begin_ns` until it entered the step `call`, latest first, less
// what it waited.
void CauseTally::list_pieces(std::uint32_t process, std::uint32_t call, std::uint64_t begin_ns) {
  const StepFile& steps = job_.steps();
  std::uint32_t next_number = call;
  const auto add = [&](Piece piece, std::uint64_t from_ns, std::uint64_t to_ns) {
    from_ns = std::max(from_ns, begin_ns);
    if (from_ns >= to_ns) return;
    piece.ns = to_ns - from_ns;
    pieces_.push_back(piece);
  };
  pieces_.clear();
  const std::uint32_t last = call > kMostSteps ? call - kMostSteps : 0;
  for (std::uint32_t number = call; number-- > last;) {
    if (number % StepFile::kBlockSteps == 0) steps.touched(StepFile::kBlockSteps);
    const Step &step = steps.at(process, number), &next = steps.at(process, next_number);
    if (step.kind != StepKind::kCall || step.thread != 0 || step.has(kNested)) continue;
    if (next.time_ns <= begin_ns) return;
    add({NumberedStretch::between(step, next), next.partner, next_number}, step.end_ns,
        next.time_ns);
    // A call's wait begins with the call (call_wait.h).
    add({NumberedStretch::inside(step), step.partner, number}, step.time_ns + step.note,
        std::min(step.end_ns, next.time_ns));
    next_number = number;
  }
}

bool CauseTally::count(std::uint32_t process, const Piece& piece) {
  Step& call = job_.steps().at(process, piece.call);
  const StepFlag mark = piece.stretch.before == kNobody ? kCallBlamed : kWorkBlamed;
  if (call.has(mark)) return false;
  call.flags |= mark;
  return true;
}

void CauseTally::add(const WaitId& wait, std::uint32_t process, std::uint32_t call,
                     std::uint64_t late_ns, std::uint64_t direct_ns, std::uint64_t indirect_ns,
                     WorstWait waited) {
  const std::uint64_t came_ns = job_.steps().at(process, call).time_ns,
                      begin_ns = came_ns - std::min(late_ns, came_ns);
  list_pieces(process, call, begin_ns);
  // Ties: the stretch that comes first in the order of their numbers.
  const auto order_of = [](const Piece& piece) { return std::tie(piece.stretch, piece.phase); };
  std::sort(pieces_.begin(), pieces_.end(),
            [&](const Piece& a, const Piece& b) { return order_of(a) < order_of(b); });
  std::uint64_t most_ns = 0;
  auto first = pieces_.begin(), last = first;
  for (auto begin = pieces_.begin(); begin != pieces_.end();) {
    auto end = begin;
    std::uint64_t ns = 0;
    for (; end != pieces_.end() && order_of(*end) == order_of(*begin); ++end) ns += end->ns;
    if (ns > most_ns) std::tie(most_ns, first, last) = std::tuple(ns, begin, end);
    begin = end;
  }
  LocalCause id;
  id.process = process;
  if (first != last) id = {process, first->phase, first->stretch};
  Spent& spent = causes_[id];
  for (auto piece = first; piece != last; ++piece) spent.pieces += count(process, *piece) ? 1 : 0;
  if (came_ns > begin_ns)
    spent.waited_ns += static_cast<std::uint64_t>(static_cast<Ns128>(direct_ns + indirect_ns) *
                                                  most_ns / (came_ns - begin_ns));
  Sums& all = symptoms_[{id, wait}];
  all.direct_ns += direct_ns;
  all.indirect_ns += indirect_ns;
  ++all.count;
  waited.ns = direct_ns + indirect_ns;
  all.worst.add(waited);
}

std::vector<CauseRow> CauseTally::cause_rows() const {
  std::vector<CauseRow> rows;
  causes_.for_each([&](const LocalCause& id, const Spent& spent) {
    rows.push_back({id_of(id), spent.pieces, spent.waited_ns});
  });
  return rows;
}

std::vector<SymptomRow> CauseTally::symptom_rows() const {
  std::vector<SymptomRow> rows;
  symptoms_.for_each([&](const SymptomId& id, const Sums& sums) {
    rows.push_back(
        {id_of(id.cause), id.wait, sums.direct_ns, sums.indirect_ns, sums.count, sums.worst});
  });
  return rows;
}

void WorkTally::add(const Step& after, const Step& before) {
  if (!holds_phase(scope_.phases, before.partner)) return;
  const std::uint64_t from_ns = std::max(after.end_ns, scope_.from_ns),
                      to_ns = std::min(before.time_ns, scope_.to_ns);
  if (from_ns < to_ns) ns_[NumberedStretch::between(after, before)] += to_ns - from_ns;
}

void WorkTally::end(const JoinedJob& job, std::uint32_t process) {
  std::vector<std::pair<NumberedStretch, std::uint64_t>> order;
  ns_.for_each(
      [&](const NumberedStretch& stretch, std::uint64_t ns) { order.emplace_back(stretch, ns); });
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (order.size() > kMostStretches) order.resize(kMostStretches);
  for (const auto& [stretch, ns] : order)
    rows_.push_back({process, stretch.with_addresses(job, process), ns});
  ns_.clear();
}

}  // namespace fathom::analysis
