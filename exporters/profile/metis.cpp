// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/metis.h"

#include "exporters/common/text_file.h"
#include "exporters/profile/undirected_graph.h"

namespace fathom::exporters {

base::Status export_metis(const profile::Profile& profile, const Options& options,
                          const std::string& path, Notes& notes) {
  if (auto status = check_rank_count(profile, kMostListedRanks, "metis"); !status) return status;
  TextFile file;
  if (base::Status status = file.open(path, options); !status) return status;
  UndirectedGraph graph = undirected_graph(profile, options, notes);
  scale_to_int32(graph, notes);
  file << graph.ranks << ' ' << graph.half_edges.size() / 2 << " 001\n";
  for_each_rank(graph, [&](auto edge, auto end) {
    for (const char* gap = ""; edge != end; ++edge, gap = " ") {
      file << gap << edge->to.rank + 1 << ' ' << edge->to.weight;
    }
    file << '\n';
  });
  return file.commit();
}

}  // namespace fathom::exporters
