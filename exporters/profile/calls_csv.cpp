// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/calls_csv.h"

#include <cstddef>
#include <string>

#include "base/text.h"
#include "exporters/common/text_file.h"
#include "exporters/profile/call_columns.h"

namespace fathom::exporters {
base::Status export_calls_csv(const profile::Profile& profile, const Options& options,
                              const std::string& path, Notes&) {
  if (profile.calls.empty())
    return base::Error{"the profile has no times of calls; record it without --no-time"};
  TextFile file;
  if (base::Status status = file.open(path, options); !status) return status;
  const SiteColumns sites(profile);
  file << "rank,mpi_function,communicator,phase,calls,total_ns,shortest_ns,longest_ns,bytes,"
          "estimated,"
       << kSiteColumns << '\n';
  for (const profile::CallTimes& block : profile.calls) {
    if (!options.selection.admits(block)) continue;
    const std::string middle = base::csv_field(block.function) + "," +
                               communicator_and_phase(block.communicator, block.phase) + ",";
    for (std::size_t row = 0; row < block.rank.size(); ++row) {
      file << block.rank[row] << ',' << middle << block.calls[row] << ',' << block.total_ns[row]
           << ',' << block.shortest_ns[row] << ',' << block.longest_ns[row] << ','
           << block.bytes[row] << ',' << (block.estimated.empty() ? 0 : block.estimated[row]) << ','
           << sites.of(block.site) << '\n';
    }
  }
  return file.commit();
}

}  // namespace fathom::exporters
