// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/used_sites.h"

#include <utility>

namespace fathom::cli {

void UsedSites::use(std::size_t process, std::uint64_t address) {
  if (address == 0 || used_.contains(address) ||
      definitions_.processes[process].sites.contains(address))
    return;
  const trace::CodeSite& site = names_.of_call(process, address);
  used_[address] = {site.function, site.file, site.line};
}

std::map<std::uint64_t, trace::NamedSite> UsedSites::take() {
  std::erase_if(used_, [](const auto& site) { return site.second.file.empty(); });
  return std::exchange(used_, {});
}

}  // namespace fathom::cli
