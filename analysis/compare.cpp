// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/compare.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "analysis/compared_places.h"
#include "analysis/scope/known_time.h"
#include "analysis/time/flat_profile.h"
#include "analysis/traffic/class_traffic.h"
#include "base/order/sort_stably.h"
#include "base/seconds.h"
#include "base/text.h"
#include "mpi/wait_kind.h"
#include "profile/call_summary.h"
#include "profile/pair_sums.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostPairs = 64;

double growth(double first, double last) {
  if (first > 0) return last / first;
  return last > 0 ? std::numeric_limits<double>::infinity() : 1;
}

// Slope of log(y) over log(x), because a power of the ranks is a straight line there. None unless
// two different x have a positive y.
std::optional<double> exponent_of(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] > 0 && y[i] > 0) points.push_back({std::log(x[i]), std::log(y[i])});
  }
  double mean_x = 0, mean_y = 0;
  for (const auto& [a, b] : points) {
    mean_x += a / static_cast<double>(points.size());
    mean_y += b / static_cast<double>(points.size());
  }
  double xx = 0, xy = 0;
  for (const auto& [a, b] : points) {
    xx += (a - mean_x) * (a - mean_x);
    xy += (a - mean_x) * (b - mean_y);
  }
  if (points.size() < 2 || xx < 1e-12) return {};
  return xy / xx;
}

std::vector<double> first_of(const std::vector<double>& by_run, const Sides& sides) {
  return {by_run.begin(), by_run.begin() + std::ptrdiff_t(sides.first)};
}

std::vector<double> last_of(const std::vector<double>& by_run, const Sides& sides) {
  return {by_run.end() - std::ptrdiff_t(sides.last), by_run.end()};
}

Change change_of(std::vector<double> by_run, const Sides& sides) {
  Change change;
  const std::vector<double> first = first_of(by_run, sides), last = last_of(by_run, sides);
  change.first = repeats_of(first);
  change.last = repeats_of(last);
  change.growth = growth(change.first.median, change.last.median);
  change.p = mann_whitney(first, last);
  change.by_run = std::move(by_run);
  return change;
}

ComparedRun describe(const profile::Profile& profile, const std::string& name) {
  ComparedRun run;
  run.name = name;
  run.ranks = profile::rank_count(profile);
  run.seconds = profile.application.seconds;
  const auto pairs = profile::sum_pairs(profile);
  run.all = profile::total(pairs);
  run.peers = profile::density(pairs, run.ranks) *
              static_cast<double>(std::max<std::int64_t>(run.ranks - 1, 0));
  return run;
}

ScalingRow scaling_of(const ComparedRun& run, const ComparedRun& base) {
  ScalingRow row;
  row.run = run;
  const auto ranks = static_cast<double>(std::max<std::int64_t>(run.ranks, 1));
  if (run.seconds > 0 && base.seconds > 0) {
    row.speedup = row.weak_efficiency = base.seconds / run.seconds;
    row.efficiency = row.speedup * static_cast<double>(base.ranks) / ranks;
  }
  row.bytes_per_rank = static_cast<double>(run.all.bytes) / ranks;
  row.messages_per_rank = static_cast<double>(run.all.messages) / ranks;
  if (run.all.messages > 0)
    row.mean_bytes = static_cast<double>(run.all.bytes) / static_cast<double>(run.all.messages);
  return row;
}

double change(const profile::Volume& first, const profile::Volume& last, bool bytes) {
  return bytes ? std::abs(static_cast<double>(last.bytes) - static_cast<double>(first.bytes))
               : std::abs(static_cast<double>(last.messages) - static_cast<double>(first.messages));
}

// Largest change in bytes first, then in messages.
template <typename T, typename First, typename Last>
void sort_by_change(std::vector<T>& rows, First first, Last last) {
  base::sort_stably(rows, [&](const T& a, const T& b) {
    const auto key = [&](const T& row) {
      return std::pair(change(first(row), last(row), true), change(first(row), last(row), false));
    };
    return key(a) > key(b);
  });
}

std::vector<double> of(const std::vector<profile::Volume>& volumes,
                       std::uint64_t profile::Volume::*field) {
  std::vector<double> values;
  for (const profile::Volume& volume : volumes)
    values.push_back(static_cast<double>(volume.*field));
  return values;
}

std::vector<ComparedClass> compare_classes(const std::vector<const profile::Profile*>& profiles,
                                           const std::vector<double>& ranks, const Sides& sides) {
  std::map<std::pair<std::string, bool>, ComparedClass> classes;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    for (const ClassTraffic& traffic : traffic_by_class(*profiles[i])) {
      ComparedClass& row = classes[{traffic.class_name, traffic.hidden}];
      row.class_name = traffic.class_name;
      row.hidden = traffic.hidden;
      row.by_run.resize(profiles.size());
      row.by_run[i] = {traffic.bytes, traffic.messages};
    }
  }
  std::vector<ComparedClass> list;
  for (auto& [key, row] : classes) {
    const auto bytes = of(row.by_run, &profile::Volume::bytes),
               messages = of(row.by_run, &profile::Volume::messages);
    row.growth_bytes = change_of(bytes, sides).growth;
    row.growth_messages = change_of(messages, sides).growth;
    row.exponent_bytes = exponent_of(ranks, bytes);
    row.exponent_messages = exponent_of(ranks, messages);
    list.push_back(std::move(row));
  }
  sort_by_change(
      list, [](const ComparedClass& row) { return row.by_run.front(); },
      [](const ComparedClass& row) { return row.by_run.back(); });
  return list;
}

std::vector<ComparedPair> compare_pairs(const profile::Profile& first,
                                        const profile::Profile& last) {
  std::map<std::pair<std::int64_t, std::int64_t>, ComparedPair> pairs;
  const auto add = [&](const profile::Profile& profile, profile::Volume ComparedPair::*side) {
    for (const profile::PairCount& pair : profile::sum_pairs(profile)) {
      ComparedPair& row = pairs[{pair.source, pair.destination}];
      row.source = pair.source;
      row.destination = pair.destination;
      row.*side = {pair.bytes, pair.messages};
    }
  };
  add(first, &ComparedPair::first);
  add(last, &ComparedPair::last);
  std::vector<ComparedPair> list;
  for (const auto& [key, row] : pairs) {
    if (row.first.bytes != row.last.bytes || row.first.messages != row.last.messages)
      list.push_back(row);
  }
  sort_by_change(
      list, [](const ComparedPair& row) { return row.first; },
      [](const ComparedPair& row) { return row.last; });
  list.resize(std::min(list.size(), kMostPairs));
  return list;
}

template <typename Row>
void largest_change_first(std::vector<Row>& rows) {
  base::sort_stably(rows, [&](const Row& a, const Row& b) {
    return std::abs(a.seconds.difference()) > std::abs(b.seconds.difference());
  });
}

void add_functions(const std::map<std::string, std::vector<double>>& seconds,
                   const std::vector<double>& ranks, Comparison& comparison) {
  for (auto [name, by_run] : seconds) {
    by_run.resize(ranks.size());
    const auto exponent = exponent_of(ranks, by_run);
    comparison.functions.push_back(
        {name, change_of(std::move(by_run), comparison.sides), exponent});
  }
  largest_change_first(comparison.functions);
}

void add_total(const char* quantity, std::vector<double> by_run, Comparison& comparison) {
  comparison.totals.push_back({quantity, change_of(std::move(by_run), comparison.sides)});
}

// Function, place, rank that waited, rank that it waited for.
using WaitKey = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;

void add_waits(const std::vector<const profile::Profile*>& profiles, const ComparedPlaces& places,
               Comparison& comparison) {
  std::map<WaitKey, std::vector<double>> seconds;
  std::vector<double> waiting(profiles.size());  // of the mean rank
  for (std::size_t run = 0; run < profiles.size(); ++run) {
    const auto ranks = static_cast<double>(profile::rank_count(*profiles[run]));
    for (const profile::CallWaits& block : profiles[run]->waits) {
      // How far apart processes start is the launcher's doing, and before the time of the run.
      if (block.kind == mpi::name_of(mpi::WaitKind::kInit)) continue;
      const std::string& place = places.of(run, block.function, block.site);
      for (std::size_t row = 0; row < block.rank.size(); ++row) {
        auto& by_run = seconds[{block.function, place, block.rank[row], block.awaited[row]}];
        by_run.resize(profiles.size());
        by_run[run] += base::seconds(block.total_ns[row]);
        waiting[run] += base::seconds(block.total_ns[row]) / ranks;
      }
    }
  }
  add_total("waiting_seconds", std::move(waiting), comparison);
  for (auto& [key, by_run] : seconds) {
    const auto& [function, place, rank, awaited] = key;
    comparison.waits.push_back({function, place, places.in_first_run(function, place), rank,
                                awaited, change_of(std::move(by_run), comparison.sides)});
  }
  largest_change_first(comparison.waits);
  comparison.waits.resize(std::min(comparison.waits.size(), kMostPairs));
}

const profile::CriticalPath* whole_path(const profile::Profile& profile) {
  const auto found =
      std::find_if(profile.path.begin(), profile.path.end(),
                   [](const profile::CriticalPath& path) { return path.window.empty(); });
  return found == profile.path.end() ? nullptr : &*found;
}

using SecondsByRank = std::map<std::int64_t, std::vector<double>>;  // for each, of every run

std::int64_t rank_of_most(const SecondsByRank& ranks, double change, const Sides& sides) {
  for (const auto& [rank, by_run] : ranks) {
    // Not change_of(), whose test for chance takes long for many ranks.
    const double own =
        repeats_of(last_of(by_run, sides)).median - repeats_of(first_of(by_run, sides)).median;
    if (own / change > 0.5) return rank;
  }
  return -1;
}

void add_paths(const std::vector<const profile::Profile*>& profiles, const ComparedPlaces& places,
               Comparison& comparison) {
  std::map<std::tuple<std::string, std::string, bool>, SecondsByRank> parts;
  for (std::size_t run = 0; run < profiles.size(); ++run) {
    for (const profile::PathPart& part : whole_path(*profiles[run])->parts) {
      SecondsByRank& ranks =
          parts[{part.function, places.of(run, part.function, part.site), part.program}];
      for (std::size_t row = 0; row < part.rank.size(); ++row) {
        auto& by_run = ranks[part.rank[row]];
        by_run.resize(profiles.size());
        by_run[run] += base::seconds(part.total_ns[row]);
      }
    }
  }
  for (const auto& [key, ranks] : parts) {
    const auto& [function, place, program] = key;
    std::vector<double> all(profiles.size());
    for (const auto& [rank, by_run] : ranks)
      for (std::size_t run = 0; run < all.size(); ++run) all[run] += by_run[run];
    Change change = change_of(std::move(all), comparison.sides);
    const std::int64_t rank = rank_of_most(ranks, change.difference(), comparison.sides);
    comparison.path.push_back(
        {function, place, places.in_first_run(function, place), program, rank, std::move(change)});
  }
  largest_change_first(comparison.path);
}

void add_calls(const std::vector<const profile::Profile*>& profiles, const ComparedPlaces& places,
               Comparison& comparison) {
  std::map<std::string, std::vector<double>> functions;
  std::map<std::pair<std::string, std::string>, std::vector<double>> sites;
  std::map<std::string, std::vector<double>> phases;
  std::vector<double> ranks, inside;
  const auto add = [&](std::vector<double>& by_run, std::size_t run, double seconds) {
    by_run.resize(profiles.size());
    by_run[run] += seconds / ranks[run];
  };
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const profile::Profile& profile = *profiles[i];
    profile::CallSummary summary;
    for (const profile::CallTimes& block : profile.calls) summary.add(block);
    const auto times = summary.ranks(profile);
    ranks.push_back(static_cast<double>(std::max<std::size_t>(1, times.size())));
    for (const profile::RankTime& time : times) {
      add(functions["(program)"], i, std::max(0.0, time.seconds - time.mpi_seconds));
      add(inside, i, time.mpi_seconds);
    }
    for (const profile::CallTimes& block : profile.calls) {
      if (block.phase.empty()) continue;
      for (const std::uint64_t ns : block.total_ns) add(phases[block.phase], i, base::seconds(ns));
    }
    for (const auto& [name, sum] : summary.functions()) add(functions[name], i, sum.seconds);
    for (const profile::SiteTotal& total : summary.sites(profile)) {
      add(sites[{total.function, places.of(i, total.function, total.site)}], i, total.sum.seconds);
    }
  }
  add_functions(functions, ranks, comparison);
  for (auto& [key, by_run] : sites) {
    by_run.resize(profiles.size());
    const auto& [function, place] = key;
    comparison.call_sites.push_back({function, place, places.in_first_run(function, place),
                                     change_of(std::move(by_run), comparison.sides)});
  }
  largest_change_first(comparison.call_sites);
  for (auto& [name, by_run] : phases) {
    by_run.resize(profiles.size());
    comparison.phases.push_back({name, change_of(std::move(by_run), comparison.sides)});
  }
  largest_change_first(comparison.phases);
  inside.resize(profiles.size());
  add_total("mpi_seconds", std::move(inside), comparison);
}

}  // namespace

base::Result<Comparison> compare_profiles(const std::vector<const profile::Profile*>& profiles,
                                          const std::vector<std::string>& names, Sides sides) {
  if (profiles.size() < 2 || sides.first == 0 || sides.last == 0)
    return base::Error{"a comparison needs two runs or more"};
  if (sides.have_repeats() && sides.first + sides.last != profiles.size())
    return base::Error{"every repeat must belong to one side of the comparison"};
  Comparison comparison;
  comparison.sides = sides;
  std::vector<double> ranks, seconds, bytes, messages;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const ComparedRun run = describe(*profiles[i], names[i]);
    comparison.runs.push_back(scaling_of(run, i == 0 ? run : comparison.runs[0].run));
    ranks.push_back(static_cast<double>(run.ranks));
    seconds.push_back(run.seconds);
    bytes.push_back(static_cast<double>(run.all.bytes));
    messages.push_back(static_cast<double>(run.all.messages));
  }
  comparison.exponent_seconds = exponent_of(ranks, seconds);
  comparison.exponent_bytes = exponent_of(ranks, bytes);
  comparison.exponent_messages = exponent_of(ranks, messages);
  comparison.classes = compare_classes(profiles, ranks, sides);
  const bool same_ranks = std::count(ranks.begin(), ranks.end(), ranks[0]) == std::ssize(ranks);
  if (sides.have_repeats() && !same_ranks)
    return base::Error{"repeats must have the same number of ranks, and these runs do not"};
  if (same_ranks) comparison.pairs = compare_pairs(*profiles.front(), *profiles.back());
  if (std::all_of(seconds.begin(), seconds.end(), [](double value) { return value > 0; }))
    add_total("seconds", std::move(seconds), comparison);
  add_total("bytes", std::move(bytes), comparison);
  add_total("messages", std::move(messages), comparison);
  return comparison;
}

bool has_times(const profile::Profile& profile) {
  return !profile.calls.empty() || profile.coverage.waits;
}

void compare_calls(const std::vector<const profile::Profile*>& profiles, Comparison& comparison) {
  const ComparedPlaces places(profiles);
  const auto all = [&](auto holds) {
    return std::all_of(profiles.begin(), profiles.end(),
                       [&](const profile::Profile* profile) { return holds(*profile); });
  };
  const auto ranks = profile::rank_count(*profiles.front());
  if (all(has_times)) add_calls(profiles, places, comparison);
  if (all([ranks](const profile::Profile& profile) {
        return profile.coverage.waits && profile::rank_count(profile) == ranks;
      }))
    add_waits(profiles, places, comparison);
  if (all([](const profile::Profile& profile) { return whole_path(profile) != nullptr; }))
    add_paths(profiles, places, comparison);
}

base::Status compare_times(const std::vector<Input>& runs, Comparison& comparison) {
  if (std::any_of(runs.begin(), runs.end(), [](const Input& run) { return run.trace == nullptr; }))
    return base::Done{};
  std::vector<std::vector<CallRow>> rows_of;
  bool computing_known = true;  // of all runs, because each name has one row
  for (const Input& run : runs) {
    auto rows = call_rows(run);
    if (!rows) return rows.error();
    computing_known =
        computing_known && known_time(run.trace->definitions(), gaps_in(*rows)).computing;
    rows_of.push_back(std::move(*rows));
  }
  std::map<std::string, std::vector<double>> seconds;
  std::vector<double> ranks;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const trace::Definitions& definitions = runs[i].trace->definitions();
    ranks.push_back(static_cast<double>(std::max<std::size_t>(1, definitions.processes.size())));
    for (const CallRow& row : rows_of[i]) {
      auto& by_run = seconds[shown_function(definitions, row.function, computing_known)];
      by_run.resize(runs.size());
      by_run[i] += base::seconds(row.exclusive_ns) / ranks[i];
    }
  }
  comparison.functions.clear();
  add_functions(seconds, ranks, comparison);
  return base::Done{};
}

base::Result<Limit> parse_limit(const std::string& text) {
  const auto sign = text.rfind('=');
  std::string number = sign == text.npos ? "" : text.substr(sign + 1);
  if (number.ends_with('%')) number.pop_back();
  double percent = 0;
  const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (sign == 0 || failed != std::errc() || end != number.data() + number.size() ||
      !std::isfinite(percent)) {
    return base::Error{
        "a limit is a quantity and the most by which it may grow, seconds=5%, and '" + text +
        "' is not"};
  }
  return Limit{text.substr(0, sign), percent};
}

base::Result<CheckedLimit> check_limit(const Comparison& comparison, const Limit& limit) {
  const Change* found = nullptr;
  std::string known;
  const auto look = [&](const auto& rows, const std::string& prefix, auto name, auto change) {
    for (const auto& row : rows) {
      if (prefix + row.*name == limit.quantity) found = &(row.*change);
    }
  };
  look(comparison.totals, "", &ComparedTotal::quantity, &ComparedTotal::value);
  look(comparison.functions, "", &ComparedFunction::name, &ComparedFunction::seconds);
  look(comparison.phases, "phase:", &ComparedPhase::name, &ComparedPhase::seconds);
  if (found == nullptr) {
    for (const ComparedTotal& total : comparison.totals) base::add_to_list(known, total.quantity);
    return base::Error{"these runs have no '" + limit.quantity + "' to limit; they have " + known +
                       ", MPI functions and, as phase:NAME, named phases"};
  }
  const bool grew = found->growth > 1 + limit.percent / 100;
  const bool by_chance = comparison.sides.can_differ() && !found->is_significant();
  return CheckedLimit{limit, *found, grew && !by_chance};
}

}  // namespace fathom::analysis
