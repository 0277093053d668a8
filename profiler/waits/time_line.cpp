// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/time_line.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "profile/call_places.h"
#include "profiler/waits/packed_bytes.h"

namespace fathom::profiler {
namespace {

constexpr std::int64_t kDidNotWait = std::numeric_limits<std::int64_t>::max();

// A packed time line: this; so many PackedRow and PackedCall; the sums of the stretches before the calls,
// and of the last.
struct PackedLine {
  std::int64_t opened_ns, closed_ns;
  double ns_per_tick;
  profile::CallKey end_key;
  profile::CodePlaceRow end_place;
  std::uint64_t last_short_waits;
  std::uint32_t rows, calls, last_sums, reserved;
};
struct PackedRow {
  profile::CallKey key;
  profile::CodePlaceRow place;
};
constexpr std::uint32_t kNoRow = ~0u;
struct PackedCall {
  std::int64_t entered_ns, left_ns, decided_ns;
  std::uint64_t bytes, short_waits;
  std::uint32_t peer_rank, row, sums, may_wait;
};
struct PackedSum {
  std::uint64_t ticks, program_ticks, calls, bytes;
  std::uint32_t row, reserved;
};

}  // namespace

TimeLine::TimeLine(const SharedClock& clock, const FoundWaits& found) noexcept
    : opened_ns_(clock.at(WaitLog::opened_at())),
      closed_ns_(clock.at(WaitLog::closed_at())),
      ns_per_tick_(clock.ns_per_tick()) {
  const WaitLog::End& finalize = WaitLog::finalize();
  end_.key = {finalize.return_address, profile::kNoCommunicator, 0};
  end_.place = finalize.place;
  try {
    remember(clock, found);
  } catch (...) {
    calls_.clear();
  }
}

TimeLine::TimeLine(const char* packed, std::size_t size) : is_packed_(true) {
  unpack(packed, size);
}

void TimeLine::remember(const SharedClock& clock, const FoundWaits& found) {
  calls_.reserve(WaitLog::record_count());
  auto wait = found.waits.begin();
  auto unresolved = found.unresolved.begin();
  WaitLog::for_each_record(
      [&](const WaitLog::Record& record, std::uint32_t number, std::size_t at) {
        const bool waited = wait != found.waits.end() && wait->number == number;
        const bool may_wait = unresolved != found.unresolved.end() && *unresolved == number;
        if (record.of_main)
          calls_.push_back({clock.at(record.entered), clock.at(record.left),
                            waited ? wait->decided_ns : kDidNotWait, waited ? wait->peer_rank : 0,
                            may_wait, record.row, record.row, record.bytes, at});
        if (waited) ++wait;
        if (may_wait) ++unresolved;
      });
  find_what_calls_lead_to();
}

void TimeLine::find_what_calls_lead_to() {
  const Row* next = nullptr;
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    if (call->leads_to == nullptr) call->leads_to = next;
    next = call->leads_to;
  }
}

std::vector<char> TimeLine::packed() const {
  profile::Numbering<const Row*> rows;
  const auto number = [&rows](const Row* row) {
    return row != nullptr ? rows.number(row) : kNoRow;
  };
  std::vector<char> calls, sums;
  const auto pack_sums = [&](const WaitLog::Stretch& stretch) {
    for (std::uint32_t i = 0; i < stretch.count; ++i) {
      const WaitLog::Sum& sum = stretch.sums[i];
      put_value(sums,
                PackedSum{sum.ticks, sum.program_ticks, sum.calls, sum.bytes, number(sum.row), 0});
    }
  };
  for (const Call& call : calls_) {
    const WaitLog::Stretch stretch = stretch_at(call.at);
    put_value(calls, PackedCall{call.entered_ns, call.left_ns, call.decided_ns, call.bytes,
                                stretch.short_waits, call.peer_rank, number(call.row),
                                stretch.count, call.may_wait ? 1u : 0u});
    pack_sums(stretch);
  }
  const WaitLog::Stretch last = last_stretch();
  pack_sums(last);
  std::vector<char> data;
  put_value(data, PackedLine{opened_ns_, closed_ns_, ns_per_tick_, end_.key, end_.place,
                             last.short_waits, static_cast<std::uint32_t>(rows.size()),
                             static_cast<std::uint32_t>(calls_.size()), last.count, 0});
  for (std::uint32_t i = 0; i < rows.size(); ++i)
    put_value(data, PackedRow{rows.key(i)->key, rows.key(i)->place});
  data.insert(data.end(), calls.begin(), calls.end());
  data.insert(data.end(), sums.begin(), sums.end());
  return data;
}

void TimeLine::unpack(const char* packed, std::size_t size) {
  Bytes bytes(packed, size);
  PackedLine line;
  if (!bytes.get(line)) return;
  opened_ns_ = line.opened_ns;
  closed_ns_ = line.closed_ns;
  ns_per_tick_ = line.ns_per_tick;
  end_.key = line.end_key;
  end_.place = line.end_place;
  PackedRow row;
  while (rows_.size() < line.rows && bytes.get(row)) {
    Row& one = rows_.emplace_back();
    one.key = row.key;
    one.place = row.place;
  }
  const auto row_at = [this](std::uint32_t number) {
    return number < rows_.size() ? &rows_[number] : nullptr;
  };
  PackedCall call;
  std::vector<std::uint32_t> counts;
  std::size_t sums = 0;
  while (calls_.size() < line.calls && bytes.get(call)) {
    const Row* const of = row_at(call.row);
    calls_.push_back({call.entered_ns, call.left_ns, call.decided_ns, call.peer_rank,
                      call.may_wait != 0, of, of, call.bytes, stretches_.size()});
    stretches_.push_back({nullptr, call.sums, call.short_waits});
    sums += call.sums;
  }
  stretches_.push_back({nullptr, line.last_sums, line.last_short_waits});
  sums += line.last_sums;
  PackedSum sum;
  sums_.reserve(std::min(sums, bytes.left() / sizeof sum));
  while (sums_.size() < sums && bytes.get(sum))
    sums_.push_back({row_at(sum.row), sum.ticks, sum.program_ticks, sum.calls, sum.bytes});
  std::size_t first = 0;
  for (WaitLog::Stretch& stretch : stretches_) {
    stretch.count =
        static_cast<std::uint32_t>(std::min<std::size_t>(stretch.count, sums_.size() - first));
    stretch.sums = sums_.data() + first;
    first += stretch.count;
  }
  find_what_calls_lead_to();
}

WaitLog::Stretch TimeLine::stretch_at(std::size_t at) const {
  return is_packed_ ? stretches_[at] : WaitLog::stretch_at(at);
}

WaitLog::Stretch TimeLine::last_stretch() const {
  if (!is_packed_) return WaitLog::present_stretch();
  return stretches_.empty() ? WaitLog::Stretch{} : stretches_.back();
}

std::optional<std::uint32_t> TimeLine::follow(PathWalk& walk, const PathWindow& window) {
  auto call =
      std::lower_bound(calls_.begin(), calls_.end(), walk.now_ns,
                       [](const Call& one, std::int64_t ns) { return one.entered_ns < ns; });
  while (walk.now_ns > window.start_ns) {
    const bool inside = call != calls_.begin() && walk.now_ns <= std::prev(call)->left_ns;
    if (!inside) {
      follow_stretch(walk, window, call);
      continue;
    }
    --call;
    const bool leaves = call->decided_ns < walk.now_ns && call->decided_ns > window.start_ns;
    const std::int64_t from =
        std::max(leaves ? call->decided_ns : call->entered_ns, window.start_ns);
    if (call->may_wait) walk.error_ns += walk.now_ns - from;
    if (call->row != nullptr)
      add(window, call->row, false, walk.now_ns - from, 1, 1, static_cast<double>(call->bytes));
    walk.now_ns = from;
    if (leaves) return call->peer_rank;
  }
  return std::nullopt;
}

// The part of the stretch before `call` that lies before the present moment.
void TimeLine::follow_stretch(PathWalk& walk, const PathWindow& window,
                              std::vector<Call>::const_iterator call) {
  const std::int64_t begin = call == calls_.begin() ? opened_ns_ : std::prev(call)->left_ns;
  const bool is_last = call == calls_.end();
  const std::int64_t end = is_last ? closed_ns_ : call->entered_ns;
  const std::int64_t from = std::max(begin, window.start_ns);
  const std::int64_t ns = std::max<std::int64_t>(walk.now_ns - from, 0);
  const double part =
      end > begin ? static_cast<double>(ns) / static_cast<double>(end - begin) : 0.0;
  std::int64_t known = 0;
  const WaitLog::Stretch sums = is_last ? last_stretch() : stretch_at(call->at);
  const auto share = [&](std::uint64_t ticks) {
    return static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick_ * part);
  };
  const auto take = [&](std::uint64_t ticks) {
    const std::int64_t fits = std::min(share(ticks), ns - known);
    known += fits;
    return fits;
  };
  walk.error_ns += share(sums.short_waits);
  for (std::uint32_t i = 0; i < sums.count; ++i) {
    const WaitLog::Sum sum = sums.sums[i];
    const double calls = static_cast<double>(sum.calls) * part;
    add(window, sum.row, false, take(sum.ticks), calls, calls,
        static_cast<double>(sum.bytes) * part);
    add(window, sum.row, true, take(sum.program_ticks), calls, 0, 0);
  }
  add(window, is_last ? nullptr : call->leads_to, true, ns - known, 1, 0, 0);
  // Before the first call there is nothing that could be followed further.
  walk.now_ns = call == calls_.begin() ? window.start_ns : from;
}

void TimeLine::add(const PathWindow& window, const Row* row, bool is_program, std::int64_t ns,
                   double stretches, double calls, double bytes) noexcept try {
  if (ns <= 0) return;
  PathSum& sum = followed_[{window.number, row, is_program}];
  sum.stretches += stretches;
  sum.ns += ns;
  sum.calls += calls;
  sum.bytes += bytes;
} catch (...) {  // no memory: this part is missing
}

std::vector<profile::PathRow> TimeLine::rows() const {
  std::vector<profile::PathRow> all;
  for (const auto& [key, sum] : followed_) {
    const auto& [window, row, is_program] = key;
    const Row& of = row != nullptr ? *row : end_;
    profile::PathRow& one = all.emplace_back();
    one.key = of.key;
    one.place = of.place;
    one.window = window;
    one.is_program = is_program ? 1 : 0;
    one.stretches =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(sum.stretches)));
    one.total_ns = static_cast<std::uint64_t>(sum.ns);
    one.calls = static_cast<std::uint64_t>(std::llround(sum.calls));
    one.bytes = static_cast<std::uint64_t>(std::llround(sum.bytes));
  }
  return all;
}

}  // namespace fathom::profiler
