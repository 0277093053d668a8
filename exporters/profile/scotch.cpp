// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/scotch.h"

#include "exporters/common/text_file.h"
#include "exporters/profile/undirected_graph.h"

namespace fathom::exporters {

base::Status export_scotch(const profile::Profile& profile, const Options& options,
                           const std::string& path, Notes& notes) {
  if (auto status = check_rank_count(profile, kMostListedRanks, "scotch"); !status) return status;
  TextFile file;
  if (base::Status status = file.open(path, options); !status) return status;
  UndirectedGraph graph = undirected_graph(profile, options, notes);
  scale_to_int32(graph, notes);
  file << "0\n" << graph.ranks << ' ' << graph.half_edges.size() << "\n0 010\n";
  for_each_rank(graph, [&](auto edge, auto end) {
    file << end - edge;
    for (; edge != end; ++edge) file << ' ' << edge->to.weight << ' ' << edge->to.rank;
    file << '\n';
  });
  return file.commit();
}

}  // namespace fathom::exporters
