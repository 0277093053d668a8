// SPDX-License-Identifier: BSD-3-Clause
#include "profile/selection.h"

#include <algorithm>

#include "base/name_patterns.h"
#include "base/nearest.h"
#include "base/text.h"

namespace fathom::profile {
namespace {

using ThingNames = std::vector<std::string>;  // of one thing; any of them may be given

// Every pattern that chooses must fit something: what fits nothing is a misspelling.
base::Status check_known(const ThingNames& patterns, const std::vector<ThingNames>& things,
                         const char* what, const char* whats) {
  for (const std::string& pattern : patterns) {
    const auto fits = [&](const std::string& name) { return base::fits_name(pattern, name); };
    const bool known = std::any_of(things.begin(), things.end(), [&](const ThingNames& names) {
      return std::any_of(names.begin(), names.end(), fits);
    });
    if (known || base::leaves_out(pattern)) continue;
    ThingNames all;
    for (const ThingNames& names : things) {
      if (!names.front().empty()) all.push_back(names.front());
    }
    const std::string others =
        all.empty() ? std::string("; it has no ") + whats : "; there are " + base::joined(all);
    return base::Error{std::string("the run has no ") + what + " '" + pattern + "' with traffic" +
                       base::suggestion(pattern, all, others)};
  }
  return base::Done{};
}

base::Status choose_names(const ThingNames& patterns, const std::set<std::string>& known,
                          const char* what, const char* whats,
                          std::optional<std::set<std::string>>& chosen) {
  if (patterns.empty()) return base::Done{};
  std::vector<ThingNames> things;
  for (const std::string& name : known) things.push_back({name});
  if (auto checked = check_known(patterns, things, what, whats); !checked) return checked.error();
  chosen.emplace();
  for (const std::string& name : known) {
    if (base::chooses(patterns, name)) chosen->insert(name);
  }
  return base::Done{};
}

}  // namespace

base::Result<Selection> selection_of(const SelectedNames& chosen, const TrafficNames& known,
                                     const std::vector<Communicator>& communicators) {
  Selection selection;
  if (auto done =
          choose_names(chosen.classes, known.classes, "class", "classes", selection.classes);
      !done)
    return done.error();
  if (auto done = choose_names(chosen.phases, known.phases, "phase", "phases", selection.phases);
      !done)
    return done.error();
  if (chosen.communicators.empty()) return selection;
  std::vector<ThingNames> things;
  for (const Communicator& each : communicators)
    things.push_back({each.name.empty() ? each.made_by : each.name, std::to_string(each.id)});
  if (auto done = check_known(chosen.communicators, things, "communicator", "communicators"); !done)
    return done.error();
  selection.communicators.emplace();
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (base::chooses(chosen.communicators, {things[i].front(), things[i].back()}))
      selection.communicators->insert(communicators[i].id);
  }
  return selection;
}

base::Result<Selection> selection_of(const SelectedNames& chosen, const Profile& profile) {
  TrafficNames known;
  for (const Traffic& block : profile.traffic) known.add(block);
  return selection_of(chosen, known, profile.communicators);
}

}  // namespace fathom::profile
