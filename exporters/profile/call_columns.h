// SPDX-License-Identifier: BSD-3-Clause
// The columns that the CSV files about calls have in common: the communicator and phase of the
// calls, and where in the program they are made (function,file,line,module,offset).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "profile/profile.h"

namespace fathom::exporters {

inline constexpr char kSiteColumns[] = "function,file,line,module,offset";

class SiteColumns {
 public:
  explicit SiteColumns(const profile::Profile& profile);

  // Empty fields if there is no such site.
  const std::string& of(std::int64_t site) const;

 private:
  std::map<std::int64_t, std::string> columns_;
};

// "0,solve": communicator and phase. Nothing for a communicator that is none.
std::string communicator_and_phase(std::int64_t communicator, const std::string& phase);

}  // namespace fathom::exporters
