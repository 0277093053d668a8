// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/common/exporter.h"

namespace fathom::exporters {

base::Status check_rank_count(const profile::Profile& profile, std::int64_t most,
                              const std::string& format) {
  return check_rank_count(profile::rank_count(profile), most, format);
}

base::Status check_rank_count(std::int64_t ranks, std::int64_t most, const std::string& format) {
  if (ranks <= most) return base::Done{};
  return base::Error{format + ": the run has " + std::to_string(ranks) +
                     " ranks, and this format can be written for at most " + std::to_string(most) +
                     "; use csv, whose size grows only with the pairs that communicated"};
}

}  // namespace fathom::exporters
