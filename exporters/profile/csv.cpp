// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/csv.h"

#include <cstddef>
#include <string>

#include "exporters/common/text_file.h"

namespace fathom::exporters {
namespace {

// RFC 4180: a field with a comma, a quote or a line end stands in quotes, quotes inside it doubled.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

}  // namespace

base::Status export_csv(const profile::Profile& profile, const Options& options,
                        const std::string& path, Notes&) {
  TextFile file;
  if (base::Status status = file.open(path, options); !status) return status;
  file << "source,destination,class,hidden,communicator,phase,bytes,messages\n";
  for (const profile::Traffic& traffic : profile.traffic) {
    if (!options.selection.admits(traffic)) continue;
    std::string middle;
    middle.append(csv_field(traffic.class_name)).append(traffic.hidden ? ",1," : ",0,");
    middle.append(std::to_string(traffic.communicator)).append(",");
    middle.append(csv_field(traffic.phase)).append(",");
    for (std::size_t row = 0; row < traffic.source.size(); ++row) {
      file << traffic.source[row] << ',' << traffic.destination[row] << ',' << middle
           << traffic.bytes[row] << ',' << traffic.messages[row] << '\n';
    }
  }
  return file.commit();
}

}  // namespace fathom::exporters
