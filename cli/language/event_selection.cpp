// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/event_selection.h"

#include <algorithm>

#include "base/name_patterns.h"
#include "base/nearest.h"
#include "base/text.h"

namespace fathom::cli {
namespace {

using Names = std::vector<std::string>;  // of one thing; any of them may be given

// Which of some things the patterns choose, by position. An Error if a pattern that chooses fits
// none of them, or nothing is chosen.
base::Result<std::vector<bool>> chosen_of(const std::vector<std::string>& patterns,
                                          const std::vector<Names>& things, const char* what,
                                          const char* how_to_name) {
  for (const std::string& pattern : patterns) {
    const bool fits = std::any_of(things.begin(), things.end(), [&](const Names& names) {
      return std::any_of(names.begin(), names.end(),
                         [&](const std::string& name) { return base::fits_name(pattern, name); });
    });
    if (fits || base::leaves_out(pattern)) continue;
    std::vector<std::string> all;
    for (const Names& names : things) all.insert(all.end(), names.begin(), names.end());
    return base::Error{std::string("the trace has no ") + what + " '" + pattern + "'" +
                       base::suggestion(pattern, all, how_to_name)};
  }
  std::vector<bool> chosen;
  for (const Names& names : things)
    chosen.push_back(base::chooses(patterns, {names.front(), names.back()}));
  if (std::find(chosen.begin(), chosen.end(), true) == chosen.end())
    return base::Error{std::string("the options leave no ") + what + " of the trace"};
  return chosen;
}

template <typename Numbers>
void insert_chosen(const std::vector<bool>& chosen, Numbers& numbers) {
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) numbers.insert(static_cast<typename Numbers::value_type>(i));
  }
}

base::Status choose_processes(const EventChoice& choice, const trace::Definitions& definitions,
                              std::vector<std::size_t>& processes) {
  for (std::size_t i = 0; i < definitions.processes.size(); ++i) {
    if (!choice.ranks || choice.ranks->contains(definitions.processes[i].rank))
      processes.push_back(i);
  }
  if (!processes.empty() || !choice.ranks) return base::Done{};
  return base::Error{"the trace holds none of the ranks " + ranks_text(*choice.ranks)};
}

base::Status choose_functions(const EventChoice& choice, const trace::Definitions& definitions,
                              std::set<std::uint32_t>& functions) {
  if (choice.functions.empty()) return base::Done{};
  std::vector<Names> things;
  for (const trace::Function& function : definitions.functions) things.push_back({function.name});
  const auto chosen =
      chosen_of(choice.functions, things, "function", "; names are written as in MPI_Send");
  if (!chosen) return chosen.error();
  insert_chosen(*chosen, functions);
  return base::Done{};
}

// As in FATHOM_TRACE_COMMUNICATORS: by name, or by constructor where it has none; here also by id.
base::Status choose_communicators(const EventChoice& choice, const trace::Definitions& definitions,
                                  std::set<std::int32_t>& communicators) {
  if (choice.communicators.empty()) return base::Done{};
  std::vector<Names> things;
  for (const profile::Communicator& each : definitions.communicators)
    things.push_back({each.name.empty() ? each.made_by : each.name, std::to_string(things.size())});
  const auto chosen = chosen_of(choice.communicators, things, "communicator",
                                "; fathom trace info --json lists them");
  if (!chosen) return chosen.error();
  insert_chosen(*chosen, communicators);
  return base::Done{};
}

base::Status choose_phases(const EventChoice& choice, const trace::Definitions& definitions,
                           std::vector<bool>& phases) {
  if (choice.phases.empty()) return base::Done{};
  std::vector<Names> things;
  for (const std::string& name : definitions.phases) things.push_back({name});
  things.push_back({""});  // outside of all
  const auto chosen =
      chosen_of(choice.phases, things, "phase", "; fathom trace info --json lists them");
  if (!chosen) return chosen.error();
  phases = *chosen;
  return base::Done{};
}

std::string check_kind(std::string& list) {
  for (const std::string& name : base::comma_separated(list)) {
    if (trace::kind_group_named(name)) continue;
    return "there is no kind '" + name +
           "'; there are calls, messages, requests, transfers, others";
  }
  return "";
}

}  // namespace

void add_content_options(CLI::App& app, EventChoice& choice) {
  add_ranks(app, choice.ranks, "only these world ranks: 0-3,7");
  add_list(app, "--functions,--function", choice.functions, "NAME,...",
           "only calls of these functions: MPI_Send,MPI_I*; -MPI_Test* leaves out (messages stay, "
           "see --kinds)");
  add_list(app, "--communicators,--communicator", choice.communicators, "NAME,...",
           "only events of these communicators, by name, constructor or id: "
           "MPI_COMM_WORLD,solver*,-MPI_Comm_dup");
  add_list(app, "--phases", choice.phases, "NAME,...", "only what lies inside these named phases");
  add_list(app, "--kinds,--kind", choice.kinds, "KIND,...",
           "only these kinds: calls, messages, requests, transfers, others")
      ->check(CLI::Validator(check_kind, ""));
}

std::vector<std::string> described(const EventChoice& choice) {
  std::vector<std::string> lines;
  const auto add = [&](const char* what, const std::string& value) {
    lines.push_back(std::string(what) + " " + value);
  };
  if (choice.window.from_ns) add("from", time_text(*choice.window.from_ns));
  if (choice.window.to_ns) add("to", time_text(*choice.window.to_ns));
  if (choice.ranks) add("ranks", ranks_text(*choice.ranks));
  if (!choice.functions.empty()) add("functions", base::joined(choice.functions, ","));
  if (!choice.communicators.empty()) add("communicators", base::joined(choice.communicators, ","));
  if (!choice.phases.empty()) add("phases", base::joined(choice.phases, ","));
  if (!choice.kinds.empty()) add("kinds", base::joined(choice.kinds, ","));
  return lines;
}

base::Result<ChosenEvents> choose(const EventChoice& choice,
                                  const trace::Definitions& definitions) {
  if (const auto checked = check(choice.window); !checked) return checked.error();
  ChosenEvents chosen;
  trace::EventSelection& selection = chosen.selection;
  selection.from_ns = choice.window.from_ns.value_or(selection.from_ns);
  selection.to_ns = choice.window.to_ns.value_or(selection.to_ns);
  for (const auto& done : {choose_processes(choice, definitions, chosen.processes),
                           choose_functions(choice, definitions, selection.functions),
                           choose_communicators(choice, definitions, selection.communicators),
                           choose_phases(choice, definitions, selection.phases)}) {
    if (!done) return done.error();
  }
  for (const std::string& name : choice.kinds)
    selection.kinds.insert(*trace::kind_group_named(name));
  return chosen;
}

}  // namespace fathom::cli
