// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/calls_csv.h"

#include <cstddef>
#include <map>
#include <string>

#include "base/text.h"
#include "exporters/common/text_file.h"

namespace fathom::exporters {
namespace {

std::map<std::int64_t, std::string> site_columns(const profile::Profile& profile) {
  std::map<std::int64_t, std::string> columns;
  for (const profile::CallSite& site : profile.call_sites) {
    std::string& text = columns[site.id];
    for (const std::string* field : {&site.function, &site.file})
      text.append(base::csv_field(*field)).append(",");
    text.append(site.line == 0 ? "" : std::to_string(site.line)).append(",");
    text.append(base::csv_field(site.module)).append(",").append(std::to_string(site.offset));
  }
  return columns;
}

}  // namespace

base::Status export_calls_csv(const profile::Profile& profile, const Options& options,
                              const std::string& path, Notes&) {
  if (profile.calls.empty())
    return base::Error{"the profile has no times of calls; record it without --no-time"};
  TextFile file;
  if (base::Status status = file.open(path, options); !status) return status;
  const auto columns = site_columns(profile);
  file << "rank,mpi_function,communicator,phase,calls,total_ns,shortest_ns,longest_ns,bytes,"
          "function,file,line,module,offset\n";
  for (const profile::CallTimes& block : profile.calls) {
    if (!options.selection.admits(block)) continue;
    std::string middle = base::csv_field(block.function) + ",";
    if (block.communicator != profile::kNone) middle += std::to_string(block.communicator);
    middle += "," + base::csv_field(block.phase) + ",";
    const auto site = columns.find(block.site);
    for (std::size_t row = 0; row < block.rank.size(); ++row) {
      file << block.rank[row] << ',' << middle << block.calls[row] << ',' << block.total_ns[row]
           << ',' << block.shortest_ns[row] << ',' << block.longest_ns[row] << ','
           << block.bytes[row] << ',' << (site == columns.end() ? ",,,," : site->second) << '\n';
    }
  }
  return file.commit();
}

}  // namespace fathom::exporters
