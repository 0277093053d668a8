// SPDX-License-Identifier: BSD-3-Clause
// JSON fields as written in the simulator's results.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/json/writer.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

// Whole numbers without a decimal point; null if not finite.
inline void put_number(base::JsonWriter& json, std::string_view name, double value) {
  if (value == std::floor(value) && std::abs(value) < 0x1p53) {
    json.field(name, static_cast<std::int64_t>(value));
  } else {
    json.field(name, value);
  }
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
