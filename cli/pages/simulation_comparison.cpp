// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/simulation_comparison.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/json/writer.h"
#include "base/text.h"
#include "cli/pages/hot_links.h"
#include "cli/terminal/text_table.h"
#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

using Runs = std::vector<const SimulatedRun*>;

constexpr char kRestOfTable[] = "--json has them all";
// Below this, capacities are relative (load_spread.h).
constexpr double kLeastRealCapacity_Bps = 1e6;

struct NamedText {
  const char* name;
  std::string SimulatedRun::*text;
};
constexpr NamedText kChoices[] = {
    {"cluster", &SimulatedRun::cluster},     {"job", &SimulatedRun::job},
    {"scheduler", &SimulatedRun::scheduler}, {"selection", &SimulatedRun::selection},
    {"placement", &SimulatedRun::placement}, {"routing", &SimulatedRun::routing},
    {"model", &SimulatedRun::model}};

// The scenario's own words for these are in `varied` too.
bool is_among_choices(const std::string& key) {
  const std::string last = key.substr(key.rfind('.') + 1);
  return std::any_of(std::begin(kChoices), std::end(kChoices),
                     [&](const NamedText& choice) { return last == choice.name; }) ||
         last == "seed" || last == "topology" || last == "host_selector" ||
         last == "process_mapper" || last == "router";
}

// What tells a combination from others: the names of kChoices, the seed, and what else a scenario
// varies. A choice that is one and the same throughout each folder and another one in the next tells
// the folders apart, not the combinations in them.
using Choices = std::vector<NamedText>;

bool is_same_in(const SimulationFolder& folder, const NamedText& choice) {
  return std::all_of(folder.runs.begin(), folder.runs.end(), [&](const SimulatedRun& run) {
    return run.*choice.text == folder.runs.front().*choice.text;
  });
}

bool tells_folders_apart(const std::vector<SimulationFolder>& folders, const NamedText& choice) {
  if (choice.text == &SimulatedRun::job || choice.text == &SimulatedRun::model) return false;
  if (!std::all_of(folders.begin(), folders.end(),
                   [&](const SimulationFolder& folder) { return is_same_in(folder, choice); }))
    return false;
  return std::any_of(folders.begin(), folders.end(), [&](const SimulationFolder& folder) {
    return folder.runs.front().*choice.text != folders.front().runs.front().*choice.text;
  });
}

Choices choices_within(const std::vector<SimulationFolder>& folders) {
  Choices choices;
  for (const NamedText& choice : kChoices) {
    if (!tells_folders_apart(folders, choice)) choices.push_back(choice);
  }
  return choices;
}

bool same_combination(const Choices& choices, const SimulatedRun& one, const SimulatedRun& other) {
  const bool same_varied = std::equal(
      one.varied.begin(), one.varied.end(), other.varied.begin(), other.varied.end(),
      [](const auto& first, const auto& second) {
        return is_among_choices(first.first) ? first.first == second.first : first == second;
      });
  return std::all_of(
             choices.begin(), choices.end(),
             [&](const NamedText& choice) { return one.*choice.text == other.*choice.text; }) &&
         one.seed == other.seed && same_varied;
}

// What of a combination differs from that of others, as words.
std::string combination_text(const Choices& choices, const SimulatedRun& run, const Runs& others) {
  std::string text;
  const auto differs = [&](auto same) { return !std::all_of(others.begin(), others.end(), same); };
  for (const NamedText& choice : choices) {
    if (differs([&](const auto* other) { return other->*choice.text == run.*choice.text; }))
      base::add_to_list(text, run.*choice.text, ", ");
  }
  if (differs([&](const auto* other) { return other->seed == run.seed; }))
    base::add_to_list(text, fmt::format("seed {}", run.seed), ", ");
  for (const auto& [key, value] : run.varied) {
    if (!is_among_choices(key)) base::add_to_list(text, key + '=' + value, ", ");
  }
  return printable(text.empty() ? run.placement + ", " + run.routing : text);
}

double value_of(const SimulatedRun& run) { return run.*criterion_of(run).value; }

bool is_relative(const SimulatedRun& run) {
  const auto relative = [](const SimulatedLink& link) {
    return link.capacity > 0 && link.capacity < kLeastRealCapacity_Bps;
  };
  return relative(run.worst_link) || relative(run.worst_host_link);
}

std::string amount(const SimulatedRun& run, double value) {
  if (std::isnan(value)) return "-";
  const bool is_time = criterion_of(run).value != &SimulatedRun::max_congestion;
  return congestion_text(!is_time && is_relative(run), value);
}

std::string congestion_cell(const SimulatedRun& run, double congestion) {
  return std::isnan(congestion) ? "-" : congestion_text(is_relative(run), congestion);
}

// "s0.1 → s2.0", or the link of a host if that is worse, with its congestion.
std::string worst_link_text(const SimulatedRun& run) {
  const bool host = run.worst_host_link.congestion() > run.worst_link.congestion();
  const SimulatedLink& link = host ? run.worst_host_link : run.worst_link;
  if (link.source.empty()) return "-";
  const std::string name = printable(link.source) + " → " + printable(link.target);
  return host ? name + " (host's, " + congestion_cell(run, link.congestion()) + ")" : name;
}

// A combination, and its run in each folder; null where it is missing.
struct Row {
  Runs runs;
  std::vector<std::size_t> numbers;  // of these runs in their folders, from 0

  const SimulatedRun& any() const {
    return **std::find_if(runs.begin(), runs.end(), [](const auto* run) { return run != nullptr; });
  }
  const SimulatedRun& best() const {
    const SimulatedRun* best = &any();
    for (const SimulatedRun* run : runs) {
      if (run && is_better(*run, *best)) best = run;
    }
    return *best;
  }
};

// The rows that compete: all of one job and model.
struct Contest {
  Choices choices;
  std::vector<Row> rows = {};

  Runs all() const {
    Runs all;
    for (const Row& row : rows) {
      std::copy_if(row.runs.begin(), row.runs.end(), std::back_inserter(all),
                   [](const auto* run) { return run != nullptr; });
    }
    return all;
  }
  // The best of all runs; the first of several that are equally good.
  const SimulatedRun& best() const {
    const SimulatedRun* best = &rows.front().best();
    for (const Row& row : rows) {
      if (is_better(row.best(), *best)) best = &row.best();
    }
    return *best;
  }
};

Row& row_of(std::vector<Contest>& contests, const Choices& choices, const SimulatedRun& run,
            std::size_t folder, std::size_t folders) {
  auto contest = std::find_if(contests.begin(), contests.end(), [&](const Contest& one) {
    return comparable(one.rows.front().any(), run);
  });
  if (contest == contests.end()) contest = contests.insert(contest, Contest{choices});
  for (Row& row : contest->rows) {
    if (row.runs[folder] == nullptr && same_combination(choices, row.any(), run)) return row;
  }
  return contest->rows.emplace_back(Row{Runs(folders), std::vector<std::size_t>(folders)});
}

std::vector<Contest> contests_of(const std::vector<SimulationFolder>& folders) {
  const Choices choices = choices_within(folders);
  std::vector<Contest> contests;
  for (std::size_t folder = 0; folder < folders.size(); ++folder) {
    const std::vector<SimulatedRun>& runs = folders[folder].runs;
    for (std::size_t number = 0; number < runs.size(); ++number) {
      Row& row = row_of(contests, choices, runs[number], folder, folders.size());
      row.runs[folder] = &runs[number];
      row.numbers[folder] = number;
    }
  }
  return contests;
}

// ", 3 times as much", ", 12 % more".
std::string more_text(double value, double than) {
  if (!(than > 0)) return "";
  const double ratio = value / than;
  return ratio >= 1.995 ? fmt::format(", {:.3g} times as much", ratio)
                        : fmt::format(", {:.2g} % more", 100 * (ratio - 1));
}

std::string folder_of(const SimulatedRun& run, const std::vector<SimulationFolder>& folders) {
  for (const SimulationFolder& folder : folders) {
    const bool is_here = std::any_of(folder.runs.begin(), folder.runs.end(),
                                     [&](const SimulatedRun& one) { return &one == &run; });
    if (is_here && folders.size() > 1) return " in " + printable(folder.name);
  }
  return "";
}

// One line; empty if nothing competes.
std::string best_line(const Contest& contest, const std::vector<SimulationFolder>& folders) {
  const Runs all = contest.all();
  if (all.size() < 2) return "";
  const SimulatedRun& best = contest.best();
  const SimulatedRun* worst = &best;
  std::size_t equal = 0;
  for (const SimulatedRun* run : all) {
    if (is_better(*worst, *run)) worst = run;
    equal += !is_better(best, *run);
  }
  const auto named = [&](const SimulatedRun& run) {
    return combination_text(contest.choices, run, all) + folder_of(run, folders);
  };
  const double reached = value_of(best);
  if (equal == all.size())
    return fmt::format("all {} are equally good: {} {}\n", all.size(), criterion_of(best).words,
                       amount(best, reached));
  std::string text = fmt::format(
      "best: {}{}: {} {}", named(best),
      equal > 1 ? fmt::format(" (and {}, equally good)",
                              equal == 2 ? "another" : fmt::format("{} others", equal - 1))
                : "",
      criterion_of(best).words, amount(best, reached));
  if (value_of(*worst) == reached)
    return text + fmt::format(", as of all, and least load on the mean link: {}, not {}\n",
                              congestion_cell(best, best.mean_congestion),
                              congestion_cell(*worst, worst->mean_congestion));
  return text + fmt::format("; worst: {}: {}{}\n", named(*worst), amount(*worst, value_of(*worst)),
                            more_text(value_of(*worst), reached));
}

std::string change_text(const Row& row) {
  if (row.runs.front() == nullptr || row.runs.back() == nullptr) return "";
  const double before = value_of(*row.runs.front()), after = value_of(*row.runs.back());
  return before > 0 ? fmt::format("{:+.1f} %", 100 * (after / before - 1)) : "";
}

bool is_best(const Contest& contest, const SimulatedRun& best, const Row& row) {
  return contest.all().size() > 1 && !is_better(best, row.best());
}

std::string contest_table(const Contest& contest, const std::vector<SimulationFolder>& folders,
                          const Terminal& terminal) {
  TextTable table;
  table.column("  combination", TextTable::Align::kLeft);
  for (const SimulationFolder& folder : folders) table.column(printable(folder.name));
  const bool changes =
      folders.size() > 1 && std::any_of(contest.rows.begin(), contest.rows.end(),
                                        [](const Row& row) { return !change_text(row).empty(); });
  if (changes) table.column("change");
  table.column("mean link");
  table.column("max/mean");
  table.column("worst link", TextTable::Align::kLeft);
  const SimulatedRun& best = contest.best();
  const Runs all = contest.all();
  for (const Row& row : contest.rows) {
    const SimulatedRun& shown = row.best();
    std::vector<std::string> cells = {(is_best(contest, best, row) ? "* " : "  ") +
                                      combination_text(contest.choices, shown, all)};
    for (const SimulatedRun* run : row.runs)
      cells.push_back(run ? amount(*run, value_of(*run)) : "");
    if (changes) cells.push_back(change_text(row));
    cells.push_back(congestion_cell(shown, shown.mean_congestion));
    cells.push_back(std::isnan(shown.imbalance) ? "-" : fmt::format("{:.3g}", shown.imbalance));
    cells.push_back(worst_link_text(shown));
    table.row(std::move(cells));
  }
  return table.text(terminal, kRestOfTable);
}

// "A: cluster torus:dims=4,4", a line for each folder.
std::string folders_text(const std::vector<SimulationFolder>& folders) {
  std::string text;
  for (const SimulationFolder& folder : folders) {
    std::string what;
    for (const NamedText& choice : kChoices) {
      if (tells_folders_apart(folders, choice))
        base::add_to_list(what, choice.name + (" " + folder.runs.front().*choice.text), ", ");
    }
    if (!what.empty()) text += printable(folder.name + ": " + what) + '\n';
  }
  return text.empty() ? "" : text + '\n';
}

void put_link(base::JsonWriter& json, const char* name, const SimulatedLink& link) {
  if (link.source.empty()) return;
  json.object(name, [&] {
    json.field("source", link.source);
    json.field("target", link.target);
    json.field("capacity", link.capacity);
    json.field("traffic", link.traffic);
  });
}

void put_folder(base::JsonWriter& json, const std::vector<SimulationFolder>& folders,
                const SimulationFolder& folder) {
  json.field("name", folder.name);
  for (const NamedText& choice : kChoices) {
    if (tells_folders_apart(folders, choice))
      json.field(choice.name, folder.runs.front().*choice.text);
  }
}

void put_row(base::JsonWriter& json, const Choices& choices, const Row& row, bool best) {
  const SimulatedRun& any = row.any();
  for (const NamedText& choice : choices) {
    if (!(any.*choice.text).empty()) json.field(choice.name, any.*choice.text);
  }
  json.field("seed", any.seed);
  json.object("varied", [&] {
    for (const auto& [key, value] : any.varied) json.field(key, value);
  });
  json.field("judged_by", criterion_of(any).name);
  json.field("best", best);
  json.key("runs");
  json.open_list();
  for (std::size_t folder = 0; folder < row.runs.size(); ++folder) {
    const SimulatedRun* run = row.runs[folder];
    if (run == nullptr) {
      json.null();
      continue;
    }
    json.object([&] {
      json.field("run", row.numbers[folder] + 1);
      json.field("value", value_of(*run));
      json.field("max_congestion", run->max_congestion);
      json.field("mean_congestion", run->mean_congestion);
      json.field("p95_congestion", run->p95_congestion);
      json.field("imbalance", run->imbalance);
      put_link(json, "worst_link", run->worst_link);
      put_link(json, "worst_host_link", run->worst_host_link);
    });
  }
  json.close_list();
}

}  // namespace

std::string comparison_page(const std::vector<SimulationFolder>& folders,
                            const Terminal& terminal) {
  std::string page = folded(folders_text(folders), terminal.width(), 2);
  bool first_contest = true;
  for (const Contest& contest : contests_of(folders)) {
    const SimulatedRun& first = contest.rows.front().any();
    const std::string heading = fmt::format(
        "{}, model {}: {} combination{}, judged by {}\n\n", printable(first.job), first.model,
        contest.rows.size(), contest.rows.size() == 1 ? "" : "s", criterion_of(first).words);
    page += (first_contest ? "" : "\n") + folded(heading, terminal.width(), 2);
    first_contest = false;
    page += contest_table(contest, folders, terminal);
    page += '\n' + folded(best_line(contest, folders), terminal.width(), 6);
  }
  return terminal.text(page);
}

std::string comparison_json(const std::vector<SimulationFolder>& folders) {
  return base::json_text(base::kReadableIndent,
                         [&](base::JsonWriter& json) {
                           json.field("schema", "fathom-simulation-comparison/1");
                           json.objects("folders", folders, [&](const SimulationFolder& folder) {
                             put_folder(json, folders, folder);
                           });
                           json.key("combinations");
                           json.open_list();
                           for (const Contest& contest : contests_of(folders)) {
                             const SimulatedRun& best = contest.best();
                             for (const Row& row : contest.rows) {
                               json.object([&] {
                                 put_row(json, contest.choices, row, is_best(contest, best, row));
                               });
                             }
                           }
                           json.close_list();
                         }) +
         "\n";
}

std::string best_lines(const std::vector<SimulatedRun>& runs) {
  const std::vector<SimulationFolder> folders = {{"", runs}};
  std::string text;
  const std::vector<Contest> contests = contests_of(folders);
  for (const Contest& contest : contests) {
    const std::string line = best_line(contest, folders);
    if (line.empty()) continue;
    text += contests.size() > 1 ? printable(contest.rows.front().any().job) + ", " + line : line;
  }
  return text;
}

std::vector<bool> best_runs(const std::vector<SimulatedRun>& runs) {
  const std::vector<SimulationFolder> folders = {{"", runs}};
  std::vector<bool> best(runs.size());
  for (const Contest& contest : contests_of(folders)) {
    for (const Row& row : contest.rows)
      best[row.numbers.front()] = is_best(contest, contest.best(), row);
  }
  return best;
}

}  // namespace fathom::cli
