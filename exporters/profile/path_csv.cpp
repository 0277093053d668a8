// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/path_csv.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.h"
#include "exporters/common/text_file.h"
#include "exporters/profile/call_columns.h"

namespace fathom::exporters {
namespace {

std::string number_or_nothing(const std::vector<std::uint64_t>& column, std::size_t row) {
  return row < column.size() ? std::to_string(column[row]) : "";
}

}  // namespace

base::Status export_path_csv(const profile::Profile& profile, const Options& options,
                             const std::string& path, Notes&) {
  if (profile.path.empty())
    return base::Error{"the profile has no critical path; record it without --no-time"};
  TextFile file;
  if (base::Status status = file.open(path, options); !status) return status;
  const SiteColumns sites(profile);
  file << "window,rank,mpi_function,program,communicator,phase,stretches,total_ns,calls,bytes,"
       << kSiteColumns << '\n';
  for (const profile::CriticalPath& window : profile.path) {
    for (const profile::PathPart& part : window.parts) {
      if (!options.selection.admits(part)) continue;
      const std::string middle = base::csv_field(part.function) + (part.program ? ",1," : ",0,") +
                                 communicator_and_phase(part.communicator, part.phase) + ",";
      for (std::size_t row = 0; row < part.rank.size(); ++row) {
        file << base::csv_field(window.window) << ',' << part.rank[row] << ',' << middle
             << part.stretches[row] << ',' << part.total_ns[row] << ','
             << number_or_nothing(part.calls, row) << ',' << number_or_nothing(part.bytes, row)
             << ',' << sites.of(part.site) << '\n';
      }
    }
  }
  return file.commit();
}

}  // namespace fathom::exporters
