// SPDX-License-Identifier: BSD-3-Clause
// JSON fields as written in the simulator's results.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/json/writer.h"
#include "simulator/network/network.h"
#include "simulator/routing/load_spread.h"

namespace fathom::simulator {

// Whole numbers without a decimal point; null if not finite.
inline void put_number(base::JsonWriter& json, std::string_view name, double value) {
  if (value == std::floor(value) && std::abs(value) < 0x1p53) {
    json.field(name, static_cast<std::int64_t>(value));
  } else {
    json.field(name, value);
  }
}

// One of the worst links; nothing if none carried anything.
inline void put_worst_link(base::JsonWriter& json, std::string_view name, const Network& network,
                           std::span<const double> bytes, LinkId id) {
  if (id == kNoId) return;
  const Link& link = network.link(id);
  json.object(name, [&] {
    json.field("source", network.node_name(link.source));
    json.field("target", network.node_name(link.target));
    put_number(json, "capacity", link.capacity_Bps);
    put_number(json, "traffic", bytes[id]);
  });
}

// "p95_congestion", "imbalance", "worst_link" (between switches) and "worst_host_link", see
// load_spread.h; `bytes` by link.
inline void put_spread(base::JsonWriter& json, const Network& network,
                       std::span<const double> bytes, bool host_links) {
  const LoadSpread spread = load_spread(network, bytes, host_links);
  put_number(json, "p95_congestion", spread.p95_congestion);
  put_number(json, "imbalance", spread.imbalance);
  put_worst_link(json, "worst_link", network, bytes, spread.between_switches.id);
  put_worst_link(json, "worst_host_link", network, bytes, spread.of_hosts.id);
}

// "links": those between switches, or all. `use(id)` adds further fields of one link after its ends
// and capacity.
template <typename Use>
void put_links(base::JsonWriter& json, const Network& network, bool host_links, Use use) {
  json.key("links");
  json.open_list();
  for (LinkId id = 0; id < network.link_count(); ++id) {
    if (!host_links && !network.joins_switches(id)) continue;
    const Link& link = network.link(id);
    json.object([&] {
      json.field("source", network.node_name(link.source));
      json.field("target", network.node_name(link.target));
      put_number(json, "capacity", link.capacity_Bps);
      use(id);
    });
  }
  json.close_list();
}

}  // namespace fathom::simulator
