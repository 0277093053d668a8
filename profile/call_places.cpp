// SPDX-License-Identifier: BSD-3-Clause
#include "profile/call_places.h"

#include <string_view>

#include "base/words.h"

namespace fathom::profile {

void RunPlaces::settle(std::function<std::int64_t(std::uint32_t)> communicator_id) {
  communicator_id_ = std::move(communicator_id);
  functions_.settle();
  phases_.settle();
  files_.settle();
  sites_.settle([this](const Site& a, const Site& b) {
    return Site(files_.settled(a.first), a.second) < Site(files_.settled(b.first), b.second);
  });
}

void RunPlaces::settle_place(CallPlace& place) const {
  place.function = functions_.settled(place.function);
  place.site = sites_.settled(place.site);
  place.phase = phases_.settled(place.phase);
  place.communicator = settled_communicator(place.communicator);
}

std::vector<CallSite> RunPlaces::sites() const {
  std::vector<CallSite> list;
  for (std::uint32_t i = 0; i < sites_.size(); ++i) {
    const auto& [file, offset] = sites_.settled_key(i);
    const File& known = files_.key(file);
    list.push_back({i, known.module, known.build_id, offset, {}, {}, 0});
  }
  return list;
}

ProcessPlaces::ProcessPlaces(const ProcessRows& rows, const std::vector<std::uint32_t>& kind_of,
                             const std::map<std::uint32_t, std::uint32_t>& phases, RunPlaces& run)
    : kind_of_(kind_of), phases_(phases), run_(run) {
  for (const auto& [key, value] : rows.text) {
    base::Words words(value);
    std::uint32_t number = 0;
    if (key == "timed-function" && words.next(number)) {
      const std::string_view name = words.next();
      if (!name.empty()) functions_[number] = run_.function(std::string(name));
    } else if (key == "code-file" && words.next(number)) {
      const std::string_view build_id = words.next();
      // The rest of the line, because a path may hold blanks.
      files_[number] =
          run_.file({std::string(words.rest()), std::string(build_id == "-" ? "" : build_id)});
    }
  }
}

CallPlace ProcessPlaces::place(const CallKey& key, const CodePlaceRow& code) {
  const auto phase = phases_.find(key.phase);
  return {function(code), site(code), communicator(key.communicator),
          phase != phases_.end() ? phase->second : run_.phase("")};
}

std::int64_t ProcessPlaces::communicator(std::uint32_t number) const {
  return number < kind_of_.size() ? kind_of_[number] : kNone;
}

std::uint32_t ProcessPlaces::function(const CodePlaceRow& code) {
  const auto found = functions_.find(code.function);
  return found != functions_.end() ? found->second
                                   : run_.function("function " + std::to_string(code.function));
}

std::uint32_t ProcessPlaces::site(const CodePlaceRow& code) {
  const auto file = files_.find(code.file);
  return run_.site(file != files_.end() ? file->second : run_.file({}), code.address);
}

}  // namespace fathom::profile
