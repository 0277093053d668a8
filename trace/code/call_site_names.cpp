// SPDX-License-Identifier: BSD-3-Clause
#include "trace/code/call_site_names.h"

#include <algorithm>

namespace fathom::trace {

std::uint32_t CallSiteNames::number_of(std::size_t process, std::uint64_t address) {
  if (address == 0) return kNone;
  const auto [entry, is_new] = numbers_[process].try_emplace(address);
  if (is_new) entry->second = look_up(process, address);
  return entry->second;
}

const CodeSite& CallSiteNames::of_call(std::size_t process, std::uint64_t address) {
  static const CodeSite kNowhere;
  const std::uint32_t number = number_of(process, address);
  return number == kNone ? kNowhere : places_[number];
}

std::uint32_t CallSiteNames::look_up(std::size_t process, std::uint64_t address) {
  const auto& named = definitions_.processes[process].sites;
  if (const auto site = named.find(address); site != named.end()) return given(site->second);
  std::pair<std::string, std::uint64_t> place("", address);
  const auto& segments = definitions_.processes[process].code;
  for (const CodeSegment& segment : segments) {
    if (address < segment.base || address - segment.base >= segment.size) continue;
    place = {segment.path + '\n' + segment.build_id, address - segment.base + segment.offset};
  }
  if (place.first.empty()) place.first = '\n' + std::to_string(process);
  const auto [known, is_new] =
      known_.try_emplace(place, static_cast<std::uint32_t>(places_.size()));
  if (!is_new) return known->second;
  if (process_ != process) {
    sites_ = std::make_unique<CodeSites>(segments);
    process_ = process;
  }
  places_.push_back(sites_->of_call(address));
  return known->second;
}

std::uint32_t CallSiteNames::given(const NamedSite& site) {
  const auto [known, is_new] =
      known_.try_emplace({"\n\n" + site.function + '\n' + site.file,
                          static_cast<std::uint64_t>(std::max(site.line, 0))},
                         static_cast<std::uint32_t>(places_.size()));
  if (is_new) places_.push_back({site.function, site.file, site.line, "", 0});
  return known->second;
}

}  // namespace fathom::trace
