// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/waits_csv.h"

#include <cstddef>
#include <string>

#include "base/text.h"
#include "exporters/common/text_file.h"
#include "exporters/profile/call_columns.h"

namespace fathom::exporters {

base::Status export_waits_csv(const profile::Profile& profile, const Options& options,
                              const std::string& path, Notes&) {
  if (!profile.coverage.waits && profile.waits.empty())
    return base::Error{
        "the profile does not know who waited for whom; record it without --no-time"};
  TextFile file;
  if (base::Status status = file.open(path, options); !status) return status;
  const SiteColumns sites(profile);
  file << "rank,awaited,kind,mpi_function,communicator,phase,waits,total_ns,longest_ns,"
       << kSiteColumns << '\n';
  for (const profile::CallWaits& block : profile.waits) {
    if (!options.selection.admits(block)) continue;
    const std::string middle = base::csv_field(block.kind) + "," + base::csv_field(block.function) +
                               "," + communicator_and_phase(block.communicator, block.phase) + ",";
    for (std::size_t row = 0; row < block.rank.size(); ++row) {
      file << block.rank[row] << ',' << block.awaited[row] << ',' << middle << block.waits[row]
           << ',' << block.total_ns[row] << ',' << block.longest_ns[row] << ','
           << sites.of(block.site) << '\n';
    }
  }
  return file.commit();
}

}  // namespace fathom::exporters
