// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/scheduling/link_ledger.h"

#include <algorithm>

namespace fathom::simulator {

void LinkLedger::count(LinkId link, double until_s) {
  History& history = history_[link];
  history.byte_seconds += now_.bytes[link] * (until_s - history.since_s);
  history.since_s = until_s;
}

void LinkLedger::change(double at_s, const JobUse& use, double sign) {
  for (const JobUse::OnLink& on : use.links) {
    count(on.link, at_s);
    now_.bytes[on.link] += sign * on.bytes;
    now_.flows[on.link] += sign * on.flows;
    History& history = history_[on.link];
    history.peak_bytes = std::max(history.peak_bytes, now_.bytes[on.link]);
    history.peak_flows = std::max(history.peak_flows, now_.flows[on.link]);
  }
}

void LinkLedger::finish(double at_s) {
  for (LinkId link = 0; link < history_.size(); ++link) count(link, at_s);
  end_s_ = at_s;
}

void JobUseSum::take(std::size_t index, std::span<const LinkId> links, double share) {
  const Demand& demand = demands_[index];
  for (const LinkId link : links) {
    if (!seen_[link]) {
      seen_[link] = 1;
      used_.push_back(link);
    }
    sum_.bytes[link] += share * demand.bytes;
    sum_.flows[link] += share * demand.flows;
  }
}

JobUse JobUseSum::finish() {
  JobUse use;
  use.links.reserve(used_.size());
  for (const LinkId link : used_) {
    use.links.push_back({link, sum_.bytes[link], sum_.flows[link]});
    sum_.bytes[link] = sum_.flows[link] = 0;
    seen_[link] = 0;
  }
  used_.clear();
  return use;
}

}  // namespace fathom::simulator
