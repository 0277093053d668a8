// SPDX-License-Identifier: BSD-3-Clause
#include "profile/call_table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>

#include "profile/place_blocks.h"

namespace fathom::profile {
namespace {

double ticks_per_ns(const ProcessRows& rows) {
  double known = 1;
  for (const auto& [key, value] : rows.text) {
    if (key != "ticks-per-ns") continue;
    const double rate = std::strtod(value.c_str(), nullptr);
    if (rate > 0 && std::isfinite(rate)) known = rate;
  }
  return known;
}

}  // namespace

void CallTable::add(const ProcessRows& rows, ProcessPlaces& places) {
  const auto ns = [rate = ticks_per_ns(rows)](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(ticks) / rate));
  };
  for (const CallRow& row : rows.calls) {
    // A row that a signal handler met half written has a key, and no calls yet.
    if (row.calls == 0) continue;
    calls_.push_back({places.place(row.key, row.place), rows.header.rank, row.calls, ns(row.ticks),
                      ns(row.shortest_ticks), ns(row.longest_ticks), row.bytes, row.estimated});
  }
  for (const DurationRow& row : rows.durations) {
    Bins& bins = durations_[{places.site(row.place), places.function(row.place)}];
    for (int i = 0; i < kDurationBins; ++i) bins[static_cast<std::size_t>(i)] += row.calls[i];
  }
  for (const auto& [key, value] : rows.text)
    if (key == "uncounted-calls") untimed_ += std::strtoull(value.c_str(), nullptr, 10);
}

void CallTable::finish(Profile& profile, const RunPlaces& places) {
  profile.coverage.untimed_calls = untimed_;
  for (Call& call : calls_) places.settle_place(call.place);
  put_into_blocks(
      calls_,
      [&](const Call& call) { profile.calls.push_back(block_at<CallTimes>(call.place, places)); },
      [&](const Call& call) {
        CallTimes& block = profile.calls.back();
        block.rank.push_back(call.rank);
        block.calls.push_back(call.calls);
        block.total_ns.push_back(call.total_ns);
        block.shortest_ns.push_back(call.shortest_ns);
        block.longest_ns.push_back(call.longest_ns);
        block.bytes.push_back(call.bytes);
        block.estimated.push_back(call.estimated);
      },
      [&](const Call& call) {
        CallTimes& block = profile.calls.back();
        block.calls.back() += call.calls;
        block.total_ns.back() += call.total_ns;
        block.shortest_ns.back() = std::min(block.shortest_ns.back(), call.shortest_ns);
        block.longest_ns.back() = std::max(block.longest_ns.back(), call.longest_ns);
        block.bytes.back() += call.bytes;
        block.estimated.back() += call.estimated;
      });
  for (CallTimes& block : profile.calls)
    if (std::ranges::none_of(block.estimated, std::identity())) block.estimated.clear();
  std::map<std::pair<std::uint32_t, std::uint32_t>, const Bins*> settled;
  for (const auto& [key, bins] : durations_)
    settled[{places.settled_site(key.first), places.settled_function(key.second)}] = &bins;
  for (const auto& [key, bins] : settled) {
    CallDurations durations;
    durations.site = key.first;
    durations.function = places.function_name(key.second);
    for (std::size_t i = 0; i < bins->size(); ++i) {
      if ((*bins)[i] == 0) continue;
      durations.low_ns.push_back(std::uint64_t{1} << i);
      durations.calls.push_back((*bins)[i]);
    }
    if (!durations.calls.empty()) profile.call_durations.push_back(std::move(durations));
  }
}

}  // namespace fathom::profile
