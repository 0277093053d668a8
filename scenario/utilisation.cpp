// SPDX-License-Identifier: BSD-3-Clause
#include "scenario/utilisation.h"

#include "base/csv_table.h"

namespace fathom::scenario {

base::Status write_utilisation(const simulator::Network& network, const simulator::LinkUsage& usage,
                               const std::string& path) {
  base::CsvTable table(path, "source,target,from_s,to_s,utilisation\n");
  for (simulator::LinkId id = 0; id < network.link_count(); ++id) {
    const simulator::Link& link = network.link(id);
    for (std::size_t at = 0; at < usage.intervals(); ++at) {
      const double bytes = usage.bytes(id, at),
                   begin_s = static_cast<double>(at) * usage.interval_s();
      if (bytes == 0) continue;
      table.text(network.node_name(link.source))
          .text(network.node_name(link.target))
          .number(begin_s)
          .number(begin_s + usage.interval_s())
          .number(bytes / usage.interval_s() / link.capacity_Bps);
      table.end();
    }
  }
  return table.commit();
}

base::Status write_waiting(const std::vector<simulator::Waiting>& waiting,
                           const std::string& path) {
  base::CsvTable table(path, "from_s,to_s,waiting_ranks\n");
  for (const simulator::Waiting& one : waiting) {
    table.number(one.from_s).number(one.to_s).number(one.ranks);
    table.end();
  }
  return table.commit();
}

}  // namespace fathom::scenario
