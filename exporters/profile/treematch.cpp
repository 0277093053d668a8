// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/treematch.h"

#include <algorithm>

#include "exporters/common/text_file.h"
#include "exporters/profile/undirected_graph.h"

namespace fathom::exporters {
namespace {

constexpr std::int64_t kMostMatrixRanks = 32'768;  // 2 GiB of zeros

// TreeMatch reads lines into a buffer of this many characters.
constexpr std::uint64_t kLongestLine = 1'000'000;

}  // namespace

base::Status export_treematch(const profile::Profile& profile, const Options& options,
                              const std::string& path, Notes& notes) {
  if (auto status = check_rank_count(profile, kMostMatrixRanks, "treematch"); !status)
    return status;
  TextFile file;
  if (base::Status status = file.open(path, options); !status) return status;
  const UndirectedGraph graph = undirected_graph(profile, options, notes);
  std::uint64_t longest_line = 0;
  for_each_rank(graph, [&](auto edge, auto end) {
    const std::uint64_t line_start = file.size_bytes();
    for (std::int64_t column = 0; column < graph.ranks; ++column) {
      if (column > 0) file << ' ';
      if (edge != end && edge->to.rank == column) {
        file << edge->to.weight;
        ++edge;
      } else {
        file << '0';
      }
    }
    file << '\n';
    longest_line = std::max(longest_line, file.size_bytes() - line_start);
  });
  if (longest_line > kLongestLine) {
    notes.push_back("Lines are longer than the 1,000,000 characters that TreeMatch reads.");
  }
  return file.commit();
}

}  // namespace fathom::exporters
