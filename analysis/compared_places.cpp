// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/compared_places.h"

#include <set>
#include <tuple>

#include "trace/code/named_call_sites.h"

namespace fathom::analysis {
namespace {

// MPI function, the function that calls it, and its file, or its module where the file is unknown,
// wherever they lie.
using SiteGroup = std::tuple<std::string, std::string, std::string>;
// Line and offset, which order the places of a group, and its text.
using SitePosition = std::tuple<std::int64_t, std::uint64_t, std::string>;

struct UsedCallSite {
  SiteGroup group;
  SitePosition position;
  const std::string& text() const { return std::get<2>(position); }
};

std::string without_folder(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

using UsedCallSites = std::map<std::pair<std::string, std::int64_t>, UsedCallSite>;

UsedCallSites used_call_sites(const profile::Profile& profile) {
  std::map<std::int64_t, const profile::CallSite*> known;
  for (const profile::CallSite& site : profile.call_sites) known[site.id] = &site;
  UsedCallSites used;
  const auto use = [&](const std::string& function, std::int64_t id) {
    const auto found = known.find(id);
    if (found == known.end()) return;
    const profile::CallSite& site = *found->second;
    // Every call of a line is the same place, so its offset counts only where there is no line.
    used.try_emplace(
        {function, id},
        UsedCallSite{
            {function, site.function, without_folder(site.file.empty() ? site.module : site.file)},
            {site.line, site.line > 0 ? 0 : site.offset, trace::describe(site)}});
  };
  for (const profile::CallTimes& block : profile.calls) use(block.function, block.site);
  for (const profile::CallWaits& block : profile.waits) use(block.function, block.site);
  for (const profile::CriticalPath& path : profile.path)
    for (const profile::PathPart& part : path.parts) use(part.function, part.site);
  return used;
}

std::map<SiteGroup, std::set<SitePosition>> by_site_group(const UsedCallSites& sites) {
  std::map<SiteGroup, std::set<SitePosition>> groups;
  for (const auto& [key, site] : sites) groups[site.group].insert(site.position);
  return groups;
}

}  // namespace

ComparedPlaces::ComparedPlaces(const std::vector<const profile::Profile*>& profiles) {
  texts_.resize(profiles.size());
  const auto last = by_site_group(used_call_sites(*profiles.back()));
  for (std::size_t run = 0; run < profiles.size(); ++run) {
    const UsedCallSites used = used_call_sites(*profiles[run]);
    const auto groups = by_site_group(used);
    for (const auto& [key, site] : used) {
      const auto own = groups.find(site.group), other = last.find(site.group);
      std::string text = site.text();
      if (other != last.end() && own->second.size() == other->second.size()) {
        auto match = other->second.begin();
        for (auto at = own->second.begin(); *at != site.position; ++at) ++match;
        text = std::get<2>(*match);
      }
      if (run == 0) in_first_[{key.first, text}] = site.text();
      texts_[run][key] = std::move(text);
    }
  }
}

const std::string& ComparedPlaces::of(std::size_t run, const std::string& mpi_function,
                                      std::int64_t site) const {
  static const std::string unknown;
  const auto found = texts_[run].find({mpi_function, site});
  return found == texts_[run].end() ? unknown : found->second;
}

const std::string& ComparedPlaces::in_first_run(const std::string& mpi_function,
                                                const std::string& place) const {
  const auto found = in_first_.find({mpi_function, place});
  return found == in_first_.end() ? place : found->second;
}

}  // namespace fathom::analysis
