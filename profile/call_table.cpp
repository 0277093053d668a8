// SPDX-License-Identifier: BSD-3-Clause
#include "profile/call_table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace fathom::profile {
namespace {

// What the numbers in one process's rows mean.
struct ProcessNames {
  std::map<std::uint32_t, std::string> functions;
  std::map<std::uint32_t, std::pair<std::string, std::string>> files;  // build id, path
  double ticks_per_ns = 1;
  std::uint64_t untimed = 0;

  explicit ProcessNames(const ProcessRows& rows) {
    for (const auto& [key, value] : rows.text) {
      std::istringstream words(value);
      std::uint32_t number = 0;
      if (key == "timed-function") {
        words >> number >> functions[number];
      } else if (key == "code-file") {
        std::string build_id, path;
        words >> number >> build_id;
        std::getline(words >> std::ws, path);
        files[number] = {build_id == "-" ? "" : build_id, path};
      } else if (key == "ticks-per-ns") {
        const double rate = std::strtod(value.c_str(), nullptr);
        if (rate > 0 && std::isfinite(rate)) ticks_per_ns = rate;
      } else if (key == "uncounted-calls") {
        untimed = std::strtoull(value.c_str(), nullptr, 10);
      }
    }
  }

  std::uint64_t ns(std::uint64_t ticks) const {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(ticks) / ticks_per_ns));
  }
  std::string function(const CodePlaceRow& place) const {
    const auto found = functions.find(place.function);
    return found == functions.end() || found->second.empty()
               ? "function " + std::to_string(place.function)
               : found->second;
  }
};

}  // namespace

std::uint32_t CallTable::number(Site site) {
  return sites_.emplace(std::move(site), static_cast<std::uint32_t>(sites_.size())).first->second;
}

void CallTable::add(const ProcessRows& rows, const std::vector<std::uint32_t>& kind_of,
                    const std::function<std::string(std::uint32_t)>& phase_of) {
  const ProcessNames names(rows);
  const auto site_of = [&](const CodePlaceRow& place) {
    const auto file = names.files.find(place.file);
    return file == names.files.end()
               ? number({"", "", place.address})
               : number({file->second.second, file->second.first, place.address});
  };
  for (const CallRow& row : rows.calls) {
    if (row.calls == 0) continue;
    const bool known = row.key.communicator < kind_of.size();
    calls_.push_back({names.function(row.place), site_of(row.place),
                      known ? kind_of[row.key.communicator] : kNone, phase_of(row.key.phase),
                      rows.header.rank, row.calls, names.ns(row.ticks),
                      names.ns(row.shortest_ticks), names.ns(row.longest_ticks), row.bytes});
  }
  for (const DurationRow& row : rows.durations) {
    Bins& bins = durations_[{names.function(row.place), site_of(row.place)}];
    for (int i = 0; i < kDurationBins; ++i) bins[static_cast<std::size_t>(i)] += row.calls[i];
  }
  untimed_ += names.untimed;
}

void CallTable::finish(Profile& profile, const std::function<std::int64_t(std::uint32_t)>& id_of) {
  profile.coverage.untimed_calls = untimed_;
  std::vector<std::uint32_t> final_number(sites_.size());
  for (const auto& [site, number] : sites_) {
    const auto id = static_cast<std::int64_t>(profile.call_sites.size());
    final_number[number] = static_cast<std::uint32_t>(id);
    profile.call_sites.push_back({id, site.module, site.build_id, site.offset, {}, {}, 0});
  }
  for (Call& call : calls_) {
    call.site = final_number[call.site];
    if (call.communicator != kNone)
      call.communicator = id_of(static_cast<std::uint32_t>(call.communicator));
  }
  std::sort(calls_.begin(), calls_.end(),
            [](const Call& a, const Call& b) { return a.key() < b.key(); });
  const Call* before = nullptr;
  for (const Call& call : calls_) {
    // Threads of one rank have rows of their own.
    if (before != nullptr && before->key() == call.key()) {
      CallTimes& block = profile.calls.back();
      block.calls.back() += call.calls;
      block.total_ns.back() += call.total_ns;
      block.shortest_ns.back() = std::min(block.shortest_ns.back(), call.shortest_ns);
      block.longest_ns.back() = std::max(block.longest_ns.back(), call.longest_ns);
      block.bytes.back() += call.bytes;
      continue;
    }
    const bool same_block =
        before != nullptr &&
        std::tie(before->function, before->site, before->communicator, before->phase) ==
            std::tie(call.function, call.site, call.communicator, call.phase);
    if (!same_block) {
      CallTimes block;
      block.function = call.function;
      block.site = call.site;
      block.communicator = call.communicator;
      block.phase = call.phase;
      profile.calls.push_back(std::move(block));
    }
    CallTimes& block = profile.calls.back();
    block.rank.push_back(call.rank);
    block.calls.push_back(call.calls);
    block.total_ns.push_back(call.total_ns);
    block.shortest_ns.push_back(call.shortest_ns);
    block.longest_ns.push_back(call.longest_ns);
    block.bytes.push_back(call.bytes);
    before = &call;
  }
  std::map<std::pair<std::int64_t, std::string>, const Bins*> by_site;
  for (const auto& [key, bins] : durations_) by_site[{final_number[key.second], key.first}] = &bins;
  for (const auto& [key, bins] : by_site) {
    CallDurations durations;
    durations.site = key.first;
    durations.function = key.second;
    for (std::size_t i = 0; i < bins->size(); ++i) {
      if ((*bins)[i] == 0) continue;
      durations.low_ns.push_back(std::uint64_t{1} << i);
      durations.calls.push_back((*bins)[i]);
    }
    if (!durations.calls.empty()) profile.call_durations.push_back(std::move(durations));
  }
}

}  // namespace fathom::profile
