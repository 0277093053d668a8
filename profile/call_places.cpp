// SPDX-License-Identifier: BSD-3-Clause
#include "profile/call_places.h"

#include "profile/words.h"

namespace fathom::profile {

std::uint32_t CallSites::number(Site site) {
  return sites_.emplace(std::move(site), static_cast<std::uint32_t>(sites_.size())).first->second;
}

std::vector<std::uint32_t> CallSites::settle(std::vector<CallSite>& list) const {
  std::vector<std::uint32_t> final_number(sites_.size());
  for (const auto& [site, number] : sites_) {
    const auto id = static_cast<std::int64_t>(list.size());
    final_number[number] = static_cast<std::uint32_t>(id);
    list.push_back({id, site.module, site.build_id, site.offset, {}, {}, 0});
  }
  return final_number;
}

ProcessPlaces::ProcessPlaces(const ProcessRows& rows, const std::vector<std::uint32_t>& kind_of,
                             std::function<std::string(std::uint32_t)> phase_of, CallSites& sites)
    : kind_of_(kind_of), phase_of_(std::move(phase_of)), sites_(sites) {
  for (const auto& [key, value] : rows.text) {
    Words words(value);
    std::uint32_t number = 0;
    if (key == "timed-function" && words.next(number)) {
      functions_[number] = words.next();
    } else if (key == "code-file" && words.next(number)) {
      const std::string_view build_id = words.next();
      // The rest of the line, because a path may hold blanks.
      files_[number] = {std::string(build_id == "-" ? "" : build_id), std::string(words.rest())};
    }
  }
}

CallPlace ProcessPlaces::place(const CallKey& key, const CodePlaceRow& code) {
  return {function(code), site(code), communicator(key.communicator), phase_of_(key.phase)};
}

std::int64_t ProcessPlaces::communicator(std::uint32_t number) const {
  return number < kind_of_.size() ? kind_of_[number] : kNone;
}

std::string ProcessPlaces::function(const CodePlaceRow& code) const {
  const auto found = functions_.find(code.function);
  return found == functions_.end() || found->second.empty()
             ? "function " + std::to_string(code.function)
             : found->second;
}

std::uint32_t ProcessPlaces::site(const CodePlaceRow& code) {
  const auto file = files_.find(code.file);
  return file == files_.end()
             ? sites_.number({"", "", code.address})
             : sites_.number({file->second.second, file->second.first, code.address});
}

}  // namespace fathom::profile
