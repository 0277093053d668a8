// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/call_columns.h"

#include "base/text.h"

namespace fathom::exporters {

SiteColumns::SiteColumns(const profile::Profile& profile) {
  for (const profile::CallSite& site : profile.call_sites) {
    std::string& text = columns_[site.id];
    for (const std::string* field : {&site.function, &site.file})
      text.append(base::csv_field(*field)).append(",");
    text.append(site.line == 0 ? "" : std::to_string(site.line)).append(",");
    text.append(base::csv_field(site.module)).append(",").append(std::to_string(site.offset));
  }
}

const std::string& SiteColumns::of(std::int64_t site) const {
  static const std::string none = ",,,,";
  const auto found = columns_.find(site);
  return found == columns_.end() ? none : found->second;
}

std::string communicator_and_phase(std::int64_t communicator, const std::string& phase) {
  return (communicator == profile::kNone ? "" : std::to_string(communicator)) + "," +
         base::csv_field(phase);
}

}  // namespace fathom::exporters
