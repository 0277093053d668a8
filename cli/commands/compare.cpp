// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/compare.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analysis/compare.h"
#include "analysis/results_writer.h"
#include "cli/language/command_line.h"
#include "cli/language/result_output.h"
#include "cli/runs/named_run.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_table.h"
#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kRowsShown = 12;
constexpr char kRest[] = "--json has them all";

struct CompareOptions {
  std::vector<std::string> runs, with;
  std::vector<std::string> limits;
  ResultOutput output;
};

double real(std::uint64_t count) { return static_cast<double>(count); }

std::string ratio(double value) {
  return std::isfinite(value) ? fmt::format("{:.3g}", value) : "new";
}

std::string exponent(const std::optional<double>& value) {
  return value ? fmt::format("ranks^{:.2f}", *value) : "";
}

TextTable table_of(const std::string& first, const std::vector<const char*>& numbers) {
  TextTable table;
  table.column(first, TextTable::Align::kLeft);
  for (const char* title : numbers) table.column(title);
  return table;
}

std::string and_more(std::size_t shown, std::size_t all) {
  return shown < all ? fmt::format("and {} more: --json\n", all - shown) : "";
}

// Says which efficiency the table shows, and the other one if the numbers of ranks differ.
std::string efficiency_note(const analysis::Comparison& comparison) {
  const analysis::ScalingRow& base = comparison.runs.front();
  std::string weak;
  for (const analysis::ScalingRow& row : comparison.runs) {
    if (row.run.ranks == base.run.ranks || row.weak_efficiency <= 0) continue;
    weak += fmt::format("{}{:.3g} at {} ranks", weak.empty() ? "" : ", ", row.weak_efficiency,
                        row.run.ranks);
  }
  if (weak.empty()) return "";
  return "efficiency assumes strong scaling: the same problem at every size\n"
         "if the problem grew with the ranks (weak scaling), it is " +
         weak + "\n";
}

std::string scaling_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  TextTable table = table_of("run", {"ranks", "seconds", "speedup", "efficiency", "bytes",
                                     "messages", "bytes/rank", "peers"});
  for (const analysis::ScalingRow& row : comparison.runs) {
    const bool timed = row.run.seconds > 0;
    table.row({printable(row.run.name), std::to_string(row.run.ranks),
               timed ? fmt::format("{:.4g}", row.run.seconds) : "-",
               row.speedup > 0 ? fmt::format("{:.3g}", row.speedup) : "-",
               row.efficiency > 0 ? fmt::format("{:.3g}", row.efficiency) : "-",
               human_bytes(real(row.run.all.bytes)), grouped(row.run.all.messages),
               human_bytes(row.bytes_per_rank), fmt::format("{:.1f}", row.run.peers)});
  }
  return table.text(terminal, kRest) + folded(efficiency_note(comparison), terminal.width(), 0);
}

std::string p_text(double p) { return p < 0.001 ? "<0.001" : fmt::format("{:.3f}", p); }

// "1.23 s", "3.45 GB", "47,761".
std::string amount_of(const std::string& quantity, double value) {
  if (quantity == "bytes") return human_bytes(value);
  if (quantity == "messages") return grouped(static_cast<std::uint64_t>(std::llround(value)));
  return human_seconds(value);
}

std::string spread_of(const std::string& quantity, const analysis::Repeats& repeats) {
  if (repeats.least == repeats.most) return "none";
  return amount_of(quantity, repeats.least) + " to " + amount_of(quantity, repeats.most);
}

const char* title_of(const std::string& quantity) {
  if (quantity == "seconds") return "run time";
  if (quantity == "mpi_seconds") return "in MPI (mean rank)";
  if (quantity == "waiting_seconds") return "waiting (mean rank)";
  return quantity == "bytes" ? "bytes" : "messages";
}

// "slower: 1.31 s instead of 1.23 s, by more than chance explains (p = 0.008)"
std::string verdict_on_time(const analysis::Comparison& comparison) {
  for (const analysis::ComparedTotal& total : comparison.totals) {
    if (total.quantity != "seconds") continue;
    const analysis::Change& change = total.value;
    const std::string values =
        human_seconds(change.last.median) + " instead of " + human_seconds(change.first.median);
    const char* direction = change.difference() > 0 ? "slower" : "faster";
    if (!comparison.sides.can_differ())
      return "too few repeats to tell a difference from chance; four of each are enough\n";
    if (!change.is_significant())
      return fmt::format("chance alone may explain the difference in run time: {} (p = {})\n",
                         values, p_text(change.p));
    return fmt::format("{}: {}, by more than chance explains (p = {})\n", direction, values,
                       p_text(change.p));
  }
  return "";
}

// What `fathom compare BEFORE... --with AFTER...` shows first.
std::string repeats_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  const analysis::Sides& sides = comparison.sides;
  const auto repeats = [](std::size_t count, const char* when) {
    return fmt::format("{} run{} {}", count, count == 1 ? "" : "s", when);
  };
  TextTable table = table_of("median", {});
  table.column(repeats(sides.first, "before"));
  table.column(repeats(sides.last, "after"));
  for (const char* title : {"growth", "p", "spread before", "after"}) table.column(title);
  for (const analysis::ComparedTotal& total : comparison.totals) {
    const analysis::Change& change = total.value;
    table.row({title_of(total.quantity), amount_of(total.quantity, change.first.median),
               amount_of(total.quantity, change.last.median), ratio(change.growth),
               p_text(change.p), spread_of(total.quantity, change.first),
               spread_of(total.quantity, change.last)});
  }
  const std::string note =
      "p: how probable it is that chance alone makes two such sets differ so much (Mann-Whitney). "
      "Of twenty values that did not change, one is expected below 0.05\n";
  return folded(verdict_on_time(comparison), terminal.width(), 0) + "\n" +
         table.text(terminal, kRest) + folded(note, terminal.width(), 0);
}

std::string class_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  TextTable table =
      table_of("class", {"bytes", "last", "growth", "bytes as", "messages", "last", "growth"});
  const std::size_t shown = std::min(kRowsShown, comparison.classes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analysis::ComparedClass& row = comparison.classes[i];
    table.row({printable(row.class_name) + (row.hidden ? " (hidden)" : ""),
               human_bytes(real(row.by_run.front().bytes)),
               human_bytes(real(row.by_run.back().bytes)), ratio(row.growth_bytes),
               exponent(row.exponent_bytes), grouped(row.by_run.front().messages),
               grouped(row.by_run.back().messages), ratio(row.growth_messages)});
  }
  return "\n" + table.text(terminal, kRest) + and_more(shown, comparison.classes.size());
}

std::string pair_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  if (comparison.pairs.empty()) return "";
  TextTable table = table_of("pairs that changed most", {"bytes", "last", "messages", "last"});
  for (std::size_t i = 0; i < std::min<std::size_t>(kRowsShown, comparison.pairs.size()); ++i) {
    const analysis::ComparedPair& row = comparison.pairs[i];
    table.row({terminal.text(fmt::format("{} → {}", row.source, row.destination)),
               human_bytes(real(row.first.bytes)), human_bytes(real(row.last.bytes)),
               grouped(row.first.messages), grouped(row.last.messages)});
  }
  return "\n" + table.text(terminal, kRest);
}

std::string called(const std::string& function, const std::string& place) {
  return place.empty() ? function : function + " in " + place;
}

// `last`: the title of a further column, and what it has for a row; p, where runs are repeated.
template <typename Row, typename Name, typename Last>
std::string seconds_table(const std::string& title, const std::vector<Row>& rows,
                          const analysis::Comparison& comparison, const Terminal& terminal,
                          Name name_of, const char* last, Last last_of) {
  if (rows.empty()) return "";
  std::vector<const char*> columns{"first", "last", "growth"};
  const bool has_p = comparison.sides.have_repeats();
  if (has_p) columns.push_back("p");
  if (last != nullptr) columns.push_back(last);
  TextTable table = table_of(title, columns);
  // Largest change first: what follows the last that shows has changed by less than a digit.
  const auto shows = [](const Row& row) { return std::abs(row.seconds.difference()) >= 5e-7; };
  const auto changed =
      static_cast<std::size_t>(std::find_if_not(rows.begin(), rows.end(), shows) - rows.begin());
  const std::size_t shown = std::min(kRowsShown, std::max<std::size_t>(changed, 1));
  for (std::size_t i = 0; i < shown; ++i) {
    const analysis::Change& change = rows[i].seconds;
    std::vector<std::string> cells{printable(name_of(rows[i])),
                                   fmt::format("{:.6f}", change.first.median),
                                   fmt::format("{:.6f}", change.last.median), ratio(change.growth)};
    if (has_p) cells.push_back(p_text(change.p));
    if (last != nullptr) cells.push_back(last_of(rows[i]));
    table.row(std::move(cells));
  }
  return "\n" + table.text(terminal, kRest) + and_more(shown, rows.size());
}

template <typename Row, typename Name>
std::string seconds_table(const std::string& title, const std::vector<Row>& rows,
                          const analysis::Comparison& comparison, const Terminal& terminal,
                          Name name_of) {
  return seconds_table(title, rows, comparison, terminal, name_of, nullptr,
                       [](const Row&) { return std::string(); });
}

std::string function_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  return seconds_table(
      "seconds of the mean rank", comparison.functions, comparison, terminal,
      [](const auto& row) { return row.name; }, comparison.sides.have_repeats() ? nullptr : "as",
      [](const auto& row) { return exponent(row.exponent); });
}

std::string call_site_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  const auto moved = std::count_if(comparison.call_sites.begin(), comparison.call_sites.end(),
                                   [](const auto& row) { return row.place != row.first_place; });
  std::string note;
  if (moved > 0)
    note =
        fmt::format("matched {} call site{} that moved; the table has the places of the last run\n",
                    moved, moved == 1 ? "" : "s");
  return seconds_table("seconds in the call sites that changed most", comparison.call_sites,
                       comparison, terminal,
                       [](const auto& row) { return called(row.function, row.place); }) +
         folded(note, terminal.width(), 0);
}

std::string phase_table(const analysis::Comparison& comparison, const Terminal& terminal) {
  return seconds_table("seconds in MPI by phase", comparison.phases, comparison, terminal,
                       [](const auto& row) { return row.name; });
}

// "800 ms more in MPI_Wait in exchange (halo.c:88), rank 5 waits for rank 4"; nothing about changes
// that are small beside the run, or that chance explains.
template <typename Row, typename Text>
std::string changes_text(const std::string& title, const std::vector<Row>& rows,
                         const analysis::Comparison& comparison, const Terminal& terminal,
                         Text text_of) {
  constexpr std::size_t kShown = 5;
  constexpr double kLeastShare = 0.005;
  double longest = 0;
  for (const analysis::ScalingRow& row : comparison.runs)
    longest = std::max(longest, row.run.seconds);
  std::string text;
  std::size_t shown = 0;
  for (const Row& row : rows) {
    const double change = row.seconds.difference();
    if (shown == kShown || std::abs(change) < kLeastShare * longest || change == 0) break;
    if (comparison.sides.can_differ() && !row.seconds.is_significant()) continue;
    ++shown;
    text += folded(fmt::format("  {} {} {}\n", human_seconds(std::abs(change)),
                               change > 0 ? "more" : "less", printable(text_of(row))),
                   terminal.width(), 4);
  }
  return text.empty() ? "" : "\n" + terminal.styled(Style::kHeading, title) + "\n" + text;
}

std::string wait_changes(const analysis::Comparison& comparison, const Terminal& terminal) {
  return changes_text("waits that changed most", comparison.waits, comparison, terminal,
                      [](const analysis::ComparedWait& row) {
                        return fmt::format("in {}, rank {} waits for rank {}",
                                           called(row.function, row.place), row.rank, row.awaited);
                      });
}

std::string path_changes(const analysis::Comparison& comparison, const Terminal& terminal) {
  return changes_text("parts of the critical path that changed most", comparison.path, comparison,
                      terminal, [](const analysis::ComparedPathPart& row) {
                        return (row.program ? "of computing before " : "in ") +
                               called(row.function, row.place) +
                               (row.rank < 0 ? "" : fmt::format(", on rank {}", row.rank));
                      });
}

std::string limits_text(const std::vector<analysis::CheckedLimit>& limits,
                        const analysis::Comparison& comparison, const Terminal& terminal) {
  std::string text;
  for (const analysis::CheckedLimit& checked : limits) {
    const double grown = (checked.value.growth - 1) * 100;
    const std::string by = std::isfinite(grown) ? fmt::format("{:+.3g} %", grown) : "from nothing";
    const bool above = grown > checked.limit.percent;
    const char* verdict = checked.is_exceeded ? "exceeded"
                          : above             ? "kept, because chance explains it"
                                              : "kept";
    text += folded(
        fmt::format("limit {}: {} grew by {}, at most {:g} %{}\n", verdict,
                    printable(checked.limit.quantity), by, checked.limit.percent,
                    comparison.sides.have_repeats() ? ", p = " + p_text(checked.value.p) : ""),
        terminal.width(), 2);
  }
  return text.empty() ? "" : "\n" + text;
}

// What some of the runs do not tell; empty if nothing is missing.
std::string missing_text(const std::vector<const profile::Profile*>& profiles,
                         const analysis::Comparison& comparison, const Terminal& terminal) {
  std::string text;
  const auto say = [&](const std::string& sentence) {
    text += folded(sentence, terminal.width(), 0);
  };
  const auto named = [&](auto lacks) {
    std::string names;
    std::size_t count = 0;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      if (!lacks(*profiles[i])) continue;
      names += (names.empty() ? "" : ", ") + printable(comparison.runs[i].run.name);
      ++count;
    }
    return count == profiles.size() ? std::string() : names;
  };
  const std::string untimed =
      named([](const profile::Profile& profile) { return !analysis::has_times(profile); });
  const auto ranks = comparison.runs.front().run.ranks;
  const bool one_size = std::all_of(comparison.runs.begin(), comparison.runs.end(),
                                    [ranks](const auto& row) { return row.run.ranks == ranks; });
  const bool has_waits = std::any_of(profiles.begin(), profiles.end(), [](const auto* profile) {
    return profile->coverage.waits.has_value();
  });
  if (!untimed.empty()) {
    say("calls were not timed in " + untimed +
        (comparison.functions.empty() ? ", so times" : ", so call sites") +
        ", waits and the critical path are not compared\n");
  } else if (const std::string without =
                 named([](const profile::Profile& profile) { return !profile.coverage.waits; });
             !without.empty()) {
    say("waits are not known for " + without + " and are not compared\n");
  } else if (!one_size && has_waits) {
    say("who waits for whom is compared only for runs with the same number of ranks\n");
  }
  return text.empty() ? "" : "\n" + text;
}

bool took_longer(const analysis::Comparison& comparison) {
  return std::any_of(comparison.totals.begin(), comparison.totals.end(), [](const auto& total) {
    return total.quantity == "seconds" && total.value.difference() > 0;
  });
}

std::string comparison_text(const std::vector<const profile::Profile*>& profiles,
                            const analysis::Comparison& comparison, const Terminal& terminal) {
  std::string text = comparison.sides.have_repeats() ? repeats_table(comparison, terminal)
                                                     : scaling_table(comparison, terminal);
  if (comparison.exponent_bytes) {
    text += folded(
        fmt::format("bytes grow as {}, messages as {}{}\n", exponent(comparison.exponent_bytes),
                    exponent(comparison.exponent_messages),
                    comparison.exponent_seconds
                        ? ", seconds as " + exponent(comparison.exponent_seconds)
                        : ""),
        terminal.width(), 0);
  }
  const std::string changes =
      wait_changes(comparison, terminal) + path_changes(comparison, terminal);
  const std::string missing = missing_text(profiles, comparison, terminal);
  text += function_table(comparison, terminal) + call_site_table(comparison, terminal) +
          phase_table(comparison, terminal) + changes + missing +
          class_table(comparison, terminal) + pair_table(comparison, terminal);
  const bool same = std::all_of(
      comparison.classes.begin(), comparison.classes.end(),
      [](const auto& row) { return row.growth_bytes == 1 && row.growth_messages == 1; });
  if (!same || !comparison.pairs.empty()) return text;
  const bool nothing_grew = changes.empty() && missing.empty() && !took_longer(comparison);
  return text + (nothing_grew ? "\nnothing grew: the traffic is the same\n"
                              : "\nthe traffic is the same\n");
}

int compare(const CompareOptions& options) {
  if (options.runs.size() + options.with.size() < 2 || options.runs.empty())
    return fail(kWrongUsage, "compare", "name two runs or more; see fathom compare --help");
  if (const auto checked = check(options.output); !checked)
    return fail(kWrongUsage, "compare", checked.error().message);
  std::vector<analysis::Limit> limits;
  for (const std::string& text : options.limits) {
    auto limit = analysis::parse_limit(text);
    if (!limit) return fail(kWrongUsage, "compare", limit.error().message);
    limits.push_back(std::move(*limit));
  }
  std::vector<std::string> names = options.runs;
  names.insert(names.end(), options.with.begin(), options.with.end());
  const analysis::Sides sides = options.with.empty()
                                    ? analysis::Sides{}
                                    : analysis::Sides{options.runs.size(), options.with.size()};
  std::vector<analysis::LoadedRun> runs;
  std::vector<const profile::Profile*> profiles;
  for (const std::string& name : names) {
    auto run = load_named_run(name, {});
    if (!run) return fail(kFailed, "compare", run.error().message);
    runs.push_back(std::move(*run));
  }
  // Only now, because a growing `runs` moves its profiles.
  for (const analysis::LoadedRun& run : runs) profiles.push_back(&*run.profile);
  auto comparison = analysis::compare_profiles(profiles, names, sides);
  if (!comparison) return fail(kFailed, "compare", comparison.error().message);
  analysis::compare_calls(profiles, *comparison);
  std::vector<analysis::Input> inputs;
  for (const analysis::LoadedRun& run : runs) inputs.push_back(run.input({}));
  if (const auto timed = analysis::compare_times(inputs, *comparison); !timed)
    return fail(kFailed, "compare", timed.error().message);
  std::vector<analysis::CheckedLimit> checked;
  for (const analysis::Limit& limit : limits) {
    auto result = analysis::check_limit(*comparison, limit);
    if (!result) return fail(kWrongUsage, "compare", result.error().message);
    checked.push_back(std::move(*result));
  }
  const Terminal terminal = Terminal::of(options.output.path);
  const int delivered = deliver(
      options.output, "compare",
      options.output.wants_json() ? analysis::section_text(analysis::lay_out(*comparison, checked),
                                                           analysis::kComparisonSchema)
                                  : comparison_text(profiles, *comparison, terminal) +
                                        limits_text(checked, *comparison, terminal));
  const bool exceeded =
      std::any_of(checked.begin(), checked.end(), [](const auto& one) { return one.is_exceeded; });
  return delivered == kFine && exceeded ? kLimitExceeded : delivered;
}

}  // namespace

Action declare_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("RUN", options->runs, "two or more run directories or profiles, the base first")
      ->type_name("");
  app.add_option("--with", options->with,
                 "repeats of the program as it is now; RUN... are then repeats of what it was")
      ->type_name("RUN...");
  app.add_option("--limit", options->limits,
                 "exit with 3 if this grew by more: seconds, mpi_seconds, waiting_seconds, bytes, "
                 "messages, an MPI function or phase:NAME (several times)")
      ->type_name("NAME=PERCENT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_result_output(app, options->output);
  return [options] { return compare(*options); };
}

}  // namespace fathom::cli
