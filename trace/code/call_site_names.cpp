// SPDX-License-Identifier: BSD-3-Clause
#include "trace/code/call_site_names.h"

namespace fathom::trace {

const CodeSite& CallSiteNames::of_call(std::uint32_t process, std::uint64_t address) {
  static const CodeSite kNowhere;
  if (address == 0) return kNowhere;
  std::pair<std::string, std::uint64_t> place("", address);
  const auto& segments = definitions_.processes[process].code;
  for (const CodeSegment& segment : segments) {
    if (address < segment.base || address - segment.base >= segment.size) continue;
    place = {segment.path + '\n' + segment.build_id, address - segment.base + segment.offset};
  }
  if (place.first.empty()) place.first = '\n' + std::to_string(process);
  if (const auto found = known_.find(place); found != known_.end()) return found->second;
  if (process_ != process) {
    sites_ = std::make_unique<CodeSites>(segments);
    process_ = process;
  }
  return known_[place] = sites_->of_call(address);
}

}  // namespace fathom::trace
