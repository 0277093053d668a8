// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/network_tool.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json/writer.h"
#include "base/text_lines.h"
#include "cli/commands/simulator/simulate_time.h"
#include "cli/language/options.h"
#include "cli/runs/run_directory.h"
#include "simulator/formats/cluster.h"
#include "simulator/network/host_names.h"
#include "simulator/placement/registry.h"
#include "simulator/routing/registry.h"
#include "simulator/run/network_picture.h"
#include "simulator/run/results.h"
#include "simulator/topology/registry.h"

namespace fathom::cli {
namespace {

using Parameters = std::map<std::string, std::string>;

constexpr char kAsRun[] = "as-run";
constexpr std::size_t kMostPlacements = 4;
constexpr std::size_t kMostListed = 2000;

std::string text_of(const Parameters& parameters, const std::string& name,
                    const std::string& otherwise) {
  const auto found = parameters.find(name);
  return found == parameters.end() || found->second.empty() ? otherwise : found->second;
}

base::Result<std::uint64_t> number_of(const Parameters& parameters, const std::string& name,
                                      std::uint64_t otherwise, std::uint64_t most) {
  const std::string text = text_of(parameters, name, std::to_string(otherwise));
  const bool digits = text.size() <= 18 && text.find_first_not_of("0123456789") == text.npos;
  const std::uint64_t number = digits ? std::stoull(text) : most + 1;
  if (number <= most) return number;
  return base::Error{name + " must be a whole number up to " + std::to_string(most)};
}

// A leaf-spine network with room for the job, a rank on each host: where nothing is known of the machine.
std::string usual_cluster(std::int64_t ranks) {
  const auto leaves = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(ranks))));
  const std::int64_t hosts = (ranks + leaves - 1) / leaves;
  return "leafspine:leaves=" + std::to_string(leaves) +
         ";spines=" + std::to_string(std::max<std::int64_t>(1, (leaves + 1) / 2)) +
         ";hosts=" + std::to_string(hosts);
}

base::Result<simulator::Network> cluster_of(const std::string& name,
                                            const std::vector<std::string>& named) {
  if (std::find(named.begin(), named.end(), name) != named.end())
    return simulator::load_cluster(name);
  const std::size_t colon = name.find(':');
  if (colon == name.npos)
    return base::Error{
        "'" + name.substr(0, 80) +
        "' is not KIND:key=value;…; to use a file, give it to fathom view --cluster FILE"};
  const auto row = simulator::find_topology(name.substr(0, colon));
  if (!row) return row.error();
  auto parameters =
      simulator::TopologyParameters::parse(name, std::string_view(name).substr(colon + 1));
  if (!parameters) return parameters.error();
  // Before it is made: a browser must not fill the memory with a million switches.
  parameters->allow_at_most(simulator::kMostPictureNodes, simulator::kMostPictureLinks);
  return (*row)->make(*parameters);
}

// The hosts on which the job ran, by rank.
base::Result<simulator::Placement> as_run(const simulator::Network& network,
                                          const simulator::Job& job) {
  const simulator::HostNames known(network);
  std::vector<std::uint32_t> taken(network.host_count());
  simulator::Placement placement;
  for (const std::string& name : job.hosts) {
    const auto parts = known.of(name);
    const auto free = std::find_if(parts.begin(), parts.end(), [&](simulator::HostId host) {
      return taken[host] < network.slots(host);
    });
    if (free == parts.end())
      return base::Error{"the run's host '" + name + "' is not in '" + network.name() +
                         "', or has fewer slots than ranks"};
    ++taken[*free];
    placement.push_back(*free);
  }
  if (placement.empty()) return base::Error{"the run does not say on which hosts the job ran"};
  return placement;
}

struct Question {
  std::optional<simulator::Network> network;
  ModelJob job;
  Model model = Model::kLoad;
  std::vector<std::string> placements;
  simulator::Choice choice;              // without its placement
  bool only_chosen = false;              // what `part` puts on the links, instead of a simulation
  std::vector<profile::PairCount> part;  // what is chosen of the job's traffic
  // With replay, which is of the whole run: of it, what was received in the chosen window.
  std::optional<std::vector<profile::PairCount>> received;

  simulator::Paths paths() const {
    return model == Model::kLoad ? simulator::Paths::kOfDemands : simulator::Paths::kOfPairs;
  }
};

// The pairs' part of a job, and not more than all of it: a trace may hold what the profile does not count.
std::vector<profile::PairCount> of_job(const simulator::Job& job,
                                       const std::vector<profile::PairCount>& pairs) {
  std::map<std::pair<std::int64_t, std::int64_t>, const profile::PairCount*> known;
  for (const profile::PairCount& pair : job.pairs) known[{pair.source, pair.destination}] = &pair;
  std::vector<profile::PairCount> part;
  for (profile::PairCount pair : pairs) {
    const auto found = known.find({pair.source, pair.destination});
    if (found == known.end()) continue;
    pair.bytes = std::min(pair.bytes, found->second->bytes);
    part.push_back(pair);
  }
  return part;
}

// A part of the traffic: a class of messages, ranks at either end, or from one rank to another ("3-4").
base::Result<std::vector<profile::PairCount>> part_of(const std::string& run,
                                                      const simulator::Job& job,
                                                      const Parameters& parameters,
                                                      const profile::Profile* window) {
  const std::string of_class = text_of(parameters, "class", ""),
                    ranks = text_of(parameters, "ranks", ""),
                    pair = text_of(parameters, "pair", "");
  std::vector<profile::PairCount> part = job.pairs;
  profile::Selection selection;
  if (!of_class.empty()) selection.classes = {of_class};
  if (window != nullptr) {
    part = of_job(job, simulator::job_from_profile(*window, "", selection).pairs);
  } else if (!of_class.empty()) {
    const auto path = job_of(run);
    if (!path) return path.error();
    auto selected = simulator::load_job(*path, selection);
    if (!selected) return selected.error();
    part = std::move(selected->pairs);
    std::erase_if(part, [&](const profile::PairCount& one) {
      return one.source >= job.ranks || one.destination >= job.ranks;
    });
  }
  if (!ranks.empty()) {
    const auto chosen = parse_ranks(ranks);
    if (!chosen) return chosen.error();
    std::erase_if(part, [&](const profile::PairCount& one) {
      return !chosen->contains(one.source) && !chosen->contains(one.destination);
    });
  }
  if (!pair.empty()) {
    const std::vector<std::string> ends = base::split(pair, '-');
    std::erase_if(part, [&](const profile::PairCount& one) {
      return ends.size() != 2 || std::to_string(one.source) != ends[0] ||
             std::to_string(one.destination) != ends[1];
    });
  }
  return part;
}

base::Result<Question> question_of(const std::string& run, const std::vector<std::string>& clusters,
                                   const Parameters& parameters, const profile::Profile* window) {
  Question question;
  const auto model = model_named(text_of(parameters, "model", "load"));
  if (!model) return model.error();
  question.model = *model;
  auto job = load_model_job(question.model, run);
  if (!job) return job.error();
  question.job = std::move(*job);
  if (window != nullptr && question.model == Model::kReplay)
    question.received = of_job(question.job.job, simulator::job_from_profile(*window, "").pairs);
  else if (window != nullptr)
    question.job = model_job_of(*window, question.job.job.name);
  const std::string usual =
      clusters.empty() ? usual_cluster(question.job.job.ranks) : clusters.front();
  auto network = cluster_of(text_of(parameters, "cluster", usual), clusters);
  if (!network) return network.error();
  if (auto fits = simulator::check_picture(*network); !fits) return fits.error();
  question.network = std::move(*network);
  const auto seed = number_of(parameters, "seed", 1, std::uint64_t{1} << 53);
  if (!seed) return seed.error();
  question.choice.seed = *seed;
  const auto selector = simulator::find_selector(text_of(parameters, "selection", "linear"));
  if (!selector) return selector.error();
  question.choice.selector = *selector;
  question.choice.router = &simulator::default_router(*question.network);
  if (const std::string name = text_of(parameters, "routing", ""); !name.empty()) {
    const auto router = simulator::find_router(name);
    if (!router) return router.error();
    question.choice.router = *router;
  }
  question.only_chosen = text_of(parameters, "only", "") == "chosen";
  if (question.only_chosen) {
    auto part = part_of(run, question.job.job, parameters, window);
    if (!part) return part.error();
    question.part = std::move(*part);
  }
  question.placements = base::split(text_of(parameters, "placement", "block"), ',');
  if (question.placements.size() > kMostPlacements)
    return base::Error{"at most four placements can be shown side by side"};
  return question;
}

base::Result<simulator::Choice> choice_of(const Question& question, const std::string& placement) {
  simulator::Choice choice = question.choice;
  if (placement == kAsRun) {
    auto given = as_run(*question.network, question.job.job);
    if (!given) return given.error();
    choice.given_placement = std::move(*given);
    choice.placement_from = kAsRun;
    return choice;
  }
  const auto row = simulator::find_placement(placement);
  if (!row) return row.error();
  choice.placement = *row;
  return choice;
}

base::Status write_run(base::JsonWriter& json, const Question& question,
                       const std::string& placement) {
  const simulator::Network& network = *question.network;
  const auto choice = choice_of(question, placement);
  if (!choice) return choice.error();
  const simulator::Job& job = question.job.job;
  const auto placed = simulator::place_job(network, job, *choice);
  if (!placed) return placed.error();
  if (question.model != Model::kLoad) {
    const auto run = run_in_time(network, question.job, question.model, *machine_from({}), *choice);
    if (!run) return run.error();
    simulator::write_picture_run(json, placement,
                                 simulator::timed_json(network, job.name, *run, true),
                                 placed->placement, run->usage.get(), run->seconds);
    return base::Done{};
  }
  const auto run = simulator::run_link_load(network, job, *choice);
  if (!run) return run.error();
  std::string result;
  base::JsonWriter writer(result);
  simulator::write_load_run(writer, network, job.name, *run, true);
  writer.finish();
  simulator::write_picture_run(json, placement, result, placed->placement, nullptr, 0);
  return base::Done{};
}

base::Status write_chosen(base::JsonWriter& json, const Question& question,
                          const std::string& placement) {
  const auto choice = choice_of(question, placement);
  if (!choice) return choice.error();
  const auto carried = simulator::carried_for(*question.network, question.job.job, *choice,
                                              question.paths(), question.part);
  if (!carried) return carried.error();
  simulator::write_carried_for(json, placement, *carried);
  return base::Done{};
}

base::Result<std::string> link_answer(const Question& question, const Parameters& parameters) {
  const auto link = number_of(parameters, "link", 0, simulator::kMostPictureLinks);
  if (!link) return link.error();
  const auto top = number_of(parameters, "top", 200, kMostListed);
  if (!top) return top.error();
  const auto choice = choice_of(question, question.placements.front());
  if (!choice) return choice.error();
  const auto id = static_cast<simulator::LinkId>(*link);
  std::optional<simulator::PartOfJob> part;
  if (question.received) part = *question.received;
  const auto content = simulator::content_of_link(*question.network, question.job.job, *choice,
                                                  question.paths(), id, part);
  if (!content) return content.error();
  return base::json_text(0, [&](base::JsonWriter& json) {
    simulator::write_link_content(json, *question.network, id, *content, *top);
  });
}

base::Result<std::string> network_answer(const std::string& run,
                                         const std::vector<std::string>& clusters,
                                         const Parameters& parameters,
                                         const profile::Profile* window) {
  const auto question = question_of(run, clusters, parameters, window);
  if (!question) return question.error();
  if (parameters.contains("link")) return link_answer(*question, parameters);
  std::string text;
  base::JsonWriter json(text);
  json.open_object();
  if (!question->only_chosen) {
    simulator::write_network(json, *question->network);
    json.field("job", question->job.job.name);
    json.field("clusters", clusters);
  }
  json.key("runs");
  json.open_list();
  for (const std::string& placement : question->placements) {
    auto written = question->only_chosen ? write_chosen(json, *question, placement)
                                         : write_run(json, *question, placement);
    if (!written) return written.error();
  }
  json.close_list();
  json.close_object();
  json.finish();
  return text;
}

}  // namespace

NetworkTool network_tool(const std::vector<std::string>& clusters) {
  return [clusters](const std::string& run, const Parameters& parameters,
                    const profile::Profile* window) {
    return network_answer(run, clusters, parameters, window);
  };
}

}  // namespace fathom::cli
