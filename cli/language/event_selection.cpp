// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/event_selection.h"

#include <charconv>
#include <cmath>

namespace fathom::cli {
namespace {

// Limits the set that a range such as 0-9999999999 would fill.
constexpr std::int64_t kMostRanks = 1 << 24;

bool parse_number(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 &&
         number < kMostRanks;
}

}  // namespace

base::Result<std::uint64_t> parse_time(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double scale = unit.empty() || unit == "s" ? 1e9
                       : unit == "ms"              ? 1e6
                       : unit == "us"              ? 1e3
                       : unit == "ns"              ? 1
                                                   : 0;
  if (error != std::errc() || scale == 0 || !(value >= 0) || value * scale > 9e18) {
    return base::Error{
        "'" + text +
        "' is no time; write 1.5s, 20ms, 3us or 7ns, counted from the start of the trace"};
  }
  return static_cast<std::uint64_t>(std::llround(value * scale));
}

base::Result<std::set<std::int64_t>> parse_ranks(const std::string& text) {
  std::set<std::int64_t> ranks;
  std::string_view rest = text;
  while (true) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const auto dash = item.find('-');
    std::int64_t first = 0, last = 0;
    const bool good = parse_number(item.substr(0, dash), first) &&
                      (dash == std::string_view::npos || parse_number(item.substr(dash + 1), last));
    if (dash == std::string_view::npos) last = first;
    if (!good || last < first)
      return base::Error{"'" + text + "' is no list of ranks; write 0-3,7"};
    for (std::int64_t rank = first; rank <= last; ++rank) ranks.insert(rank);
    if (item.size() == rest.size()) return ranks;
    rest.remove_prefix(item.size() + 1);
  }
}

void add_time_options(CLI::App& app, TraceChoice& choice) {
  app.add_option("--from", choice.from, "first moment: 1.5s, 20ms, 3us, 7ns")->type_name("TIME");
  app.add_option("--to", choice.to, "the moment to end before")->type_name("TIME");
}

void add_content_options(CLI::App& app, TraceChoice& choice) {
  app.add_option("--ranks", choice.ranks, "only these: 0-3,7")->type_name("RANKS");
  app.add_option("--function", choice.functions,
                 "of calls only those of this function (messages stay, see --kind); repeatable")
      ->type_name("NAME");
  app.add_option("--kind", choice.kinds,
                 "calls, messages, requests, transfers or others; repeatable")
      ->type_name("KIND");
  app.add_option("--communicator", choice.communicators,
                 "only events of this communicator, by id; repeatable")
      ->type_name("ID");
}

base::Result<ChosenEvents> choose(const TraceChoice& choice,
                                  const trace::Definitions& definitions) {
  ChosenEvents chosen;
  for (auto [text, place] : {std::pair{&choice.from, &chosen.selection.from_ns},
                             std::pair{&choice.to, &chosen.selection.to_ns}}) {
    if (text->empty()) continue;
    const auto time_ns = parse_time(*text);
    if (!time_ns) return time_ns.error();
    *place = *time_ns;
  }
  std::set<std::int64_t> ranks;
  if (!choice.ranks.empty()) {
    auto parsed = parse_ranks(choice.ranks);
    if (!parsed) return parsed.error();
    ranks = std::move(*parsed);
  }
  for (std::size_t i = 0; i < definitions.processes.size(); ++i) {
    if (choice.ranks.empty() || ranks.contains(definitions.processes[i].rank))
      chosen.processes.push_back(i);
  }
  if (chosen.processes.empty())
    return base::Error{"the trace holds none of the ranks " + choice.ranks};
  for (const std::string& name : choice.functions) {
    const std::size_t before = chosen.selection.functions.size();
    for (std::uint32_t i = 0; i < definitions.functions.size(); ++i) {
      if (definitions.functions[i].name == name) chosen.selection.functions.insert(i);
    }
    if (chosen.selection.functions.size() == before) {
      return base::Error{"the trace knows no function '" + name +
                         "'; names are written as in MPI_Send"};
    }
  }
  for (const std::string& name : choice.kinds) {
    const auto group = trace::kind_group_named(name);
    if (!group) {
      return base::Error{"there is no kind '" + name +
                         "'; there are calls, messages, requests, transfers, others"};
    }
    chosen.selection.kinds.insert(*group);
  }
  const auto communicators = static_cast<std::int32_t>(definitions.communicators.size());
  for (const std::int32_t communicator : choice.communicators) {
    if (communicator < 0 || communicator >= communicators) {
      return base::Error{"the trace has no communicator " + std::to_string(communicator) +
                         "; there are 0 to " + std::to_string(communicators - 1)};
    }
    chosen.selection.communicators.insert(communicator);
  }
  return chosen;
}

}  // namespace fathom::cli
