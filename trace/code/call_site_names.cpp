// SPDX-License-Identifier: BSD-3-Clause
#include "trace/code/call_site_names.h"

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

}  // namespace fathom::trace
