// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/placement_page.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <optional>
#include <vector>

#include "base/json/writer.h"
#include "cli/pages/hot_links.h"
#include "cli/terminal/text_table.h"
#include "cli/terminal/units.h"
#include "simulator/routing/load_spread.h"

namespace fathom::cli {
namespace {

using simulator::Advice;
using simulator::AdviceRequest;
using simulator::Candidate;
using simulator::LinkUse;
using simulator::LoadSpread;
using simulator::Network;
using simulator::Objective;
using simulator::Scores;

constexpr char kInJson[] = "--json has them all";
constexpr double kLeastChange = 5e-4;  // would be shown as 0.0 %
constexpr Objective kObjectives[] = {Objective::kCongestion, Objective::kTime, Objective::kHopBytes,
                                     Objective::kHostBytes};

const char* name_of(Objective objective) {
  return simulator::kObjectiveNames[static_cast<std::size_t>(objective)];
}

// Whether scores of time are known: advise() times only what was asked for.
bool is_timed(const AdviceRequest& request) { return request.objective == Objective::kTime; }

std::string score_text(const AdviceRequest& request, const Scores& scores, Objective objective) {
  const bool is_bytes = objective == Objective::kHopBytes || objective == Objective::kHostBytes;
  if (is_bytes) return human_bytes(scores[objective]);
  return congestion_text(simulator::has_relative_capacities(request.network), scores[objective]);
}

// Sums that cancel out leave rests: nothing, beside what the present placement has.
Scores without_rests(const Advice& advice) {
  Scores bounds = advice.bounds;
  for (std::size_t at = 0; at < bounds.value.size(); ++at) {
    if (bounds.value[at] < 1e-9 * advice.candidates.front().scores.value[at]) bounds.value[at] = 0;
  }
  return bounds;
}

std::string change_text(double before, double after) {
  if (std::abs(after - before) <= kLeastChange * std::abs(before)) return "same";
  return before > 0 ? fmt::format("{:+.1f} %", 100 * (after / before - 1)) : "";
}

std::string worst_link_text(const Network& network, const LoadSpread& spread) {
  const simulator::LinkId worst = spread.worst(true).id;
  return worst == simulator::kNoId ? "none" : link_name(network, worst);
}

std::size_t moved_ranks(const Candidate& before, const Candidate& after) {
  std::size_t moved = 0;
  for (std::size_t rank = 0; rank < before.places.size(); ++rank)
    moved += before.places[rank] != after.places[rank];
  return moved;
}

std::string before_and_after(const AdviceRequest& request, const Advice& advice,
                             const PlacementLoads& loads, const Terminal& terminal) {
  const Candidate &before = advice.candidates[0], &after = advice.candidates[1];
  const Network& network = request.network;
  const LoadSpread spread_before = simulator::load_spread(network, loads.before.bytes, true);
  const LoadSpread spread_after = simulator::load_spread(network, loads.after.bytes, true);
  const bool relative = simulator::has_relative_capacities(network);
  const Scores bounds = without_rests(advice);
  TextTable table;
  table.column("", TextTable::Align::kLeft);
  for (const char* title : {"before", "after", "change", "lower bound"}) table.column(title);
  table.row({"placement", before.placement, after.placement, "", ""});
  table.row({"routing", before.routing, after.routing, "", "any"});
  for (const Objective objective : kObjectives) {
    if (objective == Objective::kTime && !is_timed(request)) continue;
    table.row({name_of(objective), score_text(request, before.scores, objective),
               score_text(request, after.scores, objective),
               change_text(before.scores[objective], after.scores[objective]),
               score_text(request, bounds, objective)});
  }
  const auto spread_row = [&](const char* name, double LoadSpread::*value) {
    table.row({name, congestion_text(relative, spread_before.*value),
               congestion_text(relative, spread_after.*value),
               change_text(spread_before.*value, spread_after.*value), ""});
  };
  spread_row("mean link", &LoadSpread::mean_congestion);
  spread_row("p95 of links", &LoadSpread::p95_congestion);
  table.row({"max/mean", fmt::format("{:.3g}", spread_before.imbalance),
             fmt::format("{:.3g}", spread_after.imbalance),
             change_text(spread_before.imbalance, spread_after.imbalance), ""});
  std::string text = table.text(terminal, kInJson);
  text += folded("worst link before: " + worst_link_text(network, spread_before) +
                     "; after: " + worst_link_text(network, spread_after) + '\n',
                 terminal.width(), 2);
  return text + fmt::format("{} of {} ranks run on another host afterwards\n",
                            moved_ranks(before, after), before.places.size());
}

// How far from the bound.
std::string bound_text(const AdviceRequest& request, const Advice& advice) {
  const double bound = advice.bounds[request.objective];
  const double reached = advice.candidates[1].scores[request.objective];
  std::string text;
  if (reached >= advice.candidates[0].scores[request.objective])
    text = "nothing better than the present placement was found\n";
  if (reached <= bound * (1 + 1e-9)) return text + "no placement on these hosts can do better\n";
  if (!(bound > 0)) return text;
  return text +
         fmt::format(
             "no placement can bring {} below {:.3g} of that: stop when {:.3g} × is near enough\n",
             name_of(request.objective), bound / reached, reached / bound);
}

std::string tried(const AdviceRequest& request, const Advice& advice, const Terminal& terminal) {
  TextTable table;
  table.column("  placement", TextTable::Align::kLeft);
  table.column("routing", TextTable::Align::kLeft);
  std::vector<Objective> shown;
  for (const Objective objective : kObjectives) {
    if (objective == Objective::kTime && !is_timed(request)) continue;
    shown.push_back(objective);
    table.column(name_of(objective));
  }
  const auto add = [&](const std::string& name, const std::string& routing, const Scores& scores) {
    std::vector<std::string> cells = {name, routing};
    for (const Objective objective : shown) cells.push_back(score_text(request, scores, objective));
    table.row(std::move(cells));
  };
  for (std::size_t at = 0; at < advice.candidates.size(); ++at) {
    const Candidate& candidate = advice.candidates[at];
    add((at == 1 ? "* " : "  ") + candidate.placement, candidate.routing, candidate.scores);
  }
  add("  lower bound", "any", without_rests(advice));
  return table.text(terminal, kInJson);
}

void put_scores(base::JsonWriter& json, const AdviceRequest& request, const Scores& scores) {
  json.field("congestion", scores[Objective::kCongestion]);
  json.field("seconds", is_timed(request) ? std::optional(scores[Objective::kTime]) : std::nullopt);
  json.field("hop_bytes", scores[Objective::kHopBytes]);
  json.field("host_bytes", scores[Objective::kHostBytes]);
}

void put_side(base::JsonWriter& json, const AdviceRequest& request, const Candidate& candidate,
              const LinkUse& use) {
  const LoadSpread spread = simulator::load_spread(request.network, use.bytes, true);
  json.field("placement", candidate.placement);
  json.field("routing", candidate.routing);
  put_scores(json, request, candidate.scores);
  json.field("mean_congestion", spread.mean_congestion);
  json.field("p95_congestion", spread.p95_congestion);
  json.field("imbalance", spread.imbalance);
  const simulator::LinkId worst = spread.worst(true).id;
  if (worst == simulator::kNoId) return;
  const simulator::Link& link = request.network.link(worst);
  json.object("worst_link", [&] {
    json.field("source", request.network.node_name(link.source));
    json.field("target", request.network.node_name(link.target));
    json.field("capacity", link.capacity_Bps);
    json.field("traffic", use.bytes[worst]);
  });
}

void put_links(base::JsonWriter& json, const Network& network, const PlacementLoads& loads) {
  json.key("links");
  json.open_list();
  for (simulator::LinkId id = 0; id < network.link_count(); ++id) {
    const simulator::Link& link = network.link(id);
    json.object([&] {
      json.field("source", network.node_name(link.source));
      json.field("target", network.node_name(link.target));
      json.field("capacity", link.capacity_Bps);
      json.field("of_host", !network.joins_switches(id));
      json.field("before", loads.before.bytes[id]);
      json.field("after", loads.after.bytes[id]);
    });
  }
  json.close_list();
}

}  // namespace

std::string placement_page(const AdviceRequest& request, const Advice& advice,
                           const PlacementLoads& loads, const Terminal& terminal) {
  const std::string heading =
      fmt::format("{} on {}: {} ranks on {} hosts, to minimise {}\n{}\n\n",
                  printable(request.job.name), printable(request.network.name()), request.job.ranks,
                  request.hosts.size(), name_of(request.objective), network_text(request.network));
  std::string page = folded(heading, terminal.width(), 2);
  page += before_and_after(request, advice, loads, terminal);
  page += folded(bound_text(request, advice), terminal.width(), 0);
  page += "\nall that were tried, the present one first, then the best:\n";
  page += tried(request, advice, terminal);
  return terminal.text(page);
}

std::string placement_json(const AdviceRequest& request, const Advice& advice,
                           const PlacementLoads& loads) {
  return base::json_text(
             base::kReadableIndent,
             [&](base::JsonWriter& json) {
               json.field("schema", "fathom-placement/1");
               json.field("job", request.job.name);
               json.field("cluster", request.network.name());
               json.field("ranks", request.job.ranks);
               json.field("hosts", request.hosts.size());
               json.field("objective", name_of(request.objective));
               const Candidate &before = advice.candidates[0], &after = advice.candidates[1];
               json.object("before", [&] { put_side(json, request, before, loads.before); });
               json.object("after", [&] { put_side(json, request, after, loads.after); });
               json.field("moved_ranks", moved_ranks(before, after));
               json.objects("candidates", advice.candidates, [&](const Candidate& candidate) {
                 json.field("placement", candidate.placement);
                 json.field("routing", candidate.routing);
                 put_scores(json, request, candidate.scores);
                 json.list("host_of_rank", candidate.places, [&](simulator::HostId host) {
                   json.value(request.network.machine(host));
                 });
               });
               json.object("lower_bound", [&] { put_scores(json, request, advice.bounds); });
               put_links(json, request.network, loads);
             }) +
         "\n";
}

}  // namespace fathom::cli
