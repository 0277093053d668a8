// SPDX-License-Identifier: BSD-3-Clause
#include "profile/selection.h"

#include <algorithm>
#include <charconv>
#include <string_view>

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

constexpr std::int64_t kLargestRanks = 1 << 24;

bool is_rank(std::string_view text, std::int64_t& rank) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  return error == std::errc() && end == text.data() + text.size() && rank >= 0 &&
         rank < kLargestRanks;
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

base::Result<std::set<std::int64_t>> parse_ranks(const std::string& text) {
  std::set<std::int64_t> ranks;
  for (std::string_view rest = text;;) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const auto dash = item.find('-');
    std::int64_t first = 0, last = 0;
    const bool good = is_rank(item.substr(0, dash), first) &&
                      (dash == std::string_view::npos || is_rank(item.substr(dash + 1), last));
    if (dash == std::string_view::npos) last = first;
    if (!good || last < first)
      return base::Error{"'" + text + "' is not a list of ranks; write 0-3,7"};
    for (std::int64_t rank = first; rank <= last; ++rank) ranks.insert(rank);
    if (item.size() == rest.size()) return ranks;
    rest.remove_prefix(item.size() + 1);
  }
}

std::string ranks_text(const std::set<std::int64_t>& ranks) {
  std::string text;
  for (auto rank = ranks.begin(); rank != ranks.end();) {
    const std::int64_t first = *rank;
    std::int64_t last = first;
    while (++rank != ranks.end() && *rank == last + 1) ++last;
    base::add_to_list(
        text, std::to_string(first) + (last > first ? "-" + std::to_string(last) : ""), ",");
  }
  return text;
}

}  // namespace fathom::profile
