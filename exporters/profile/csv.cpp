// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/csv.h"

#include <cstddef>
#include <string>

#include "base/text.h"
#include "exporters/common/text_file.h"

namespace fathom::exporters {
base::Status export_csv(const profile::Profile& profile, const Options& options,
                        const std::string& path, Notes&) {
  TextFile file;
  if (base::Status status = file.open(path, options); !status) return status;
  file << "source,destination,class,hidden,communicator,phase,bytes,messages\n";
  for (const profile::Traffic& traffic : profile.traffic) {
    if (!options.selection.admits(traffic)) continue;
    std::string middle;
    middle.append(base::csv_field(traffic.class_name)).append(traffic.hidden ? ",1," : ",0,");
    middle.append(std::to_string(traffic.communicator)).append(",");
    middle.append(base::csv_field(traffic.phase)).append(",");
    for (std::size_t row = 0; row < traffic.source.size(); ++row) {
      file << traffic.source[row] << ',' << traffic.destination[row] << ',' << middle
           << traffic.bytes[row] << ',' << traffic.messages[row] << '\n';
    }
  }
  return file.commit();
}

}  // namespace fathom::exporters
