// SPDX-License-Identifier: BSD-3-Clause
#include "scenario/scenario_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "base/text.h"
#include "scenario/reference_names.h"
#include "scenario/yaml_reading.h"
#include "simulator/placement/registry.h"
#include "simulator/routing/registry.h"
#include "simulator/scheduling/registry.h"
#include "simulator/topology/registry.h"

namespace fathom::scenario {
namespace {

namespace fs = std::filesystem;

constexpr double kForEver = std::numeric_limits<double>::infinity();

// The row of a registry, found by our name or the reference's.
template <typename Row>
const Row* row_of(YamlSection& section, const char* key, const char* otherwise,
                  base::Result<const Row*> (*find)(std::string_view)) {
  return section.row<Row>(key, otherwise,
                          [&](const std::string& name) { return find(our_name(name)); });
}

// Reads one combination.
class ScenarioReader {
 public:
  explicit ScenarioReader(const YamlDocument& document)
      : folder_(fs::path(document.path()).parent_path()) {}

  Scenario read(YamlSection root) {
    Scenario scenario;
    cluster(root, scenario);
    if (root.has("algorithms")) {
      YamlSection theirs = root.section("algorithms");
      algorithms(theirs, scenario, "host_selector", "process_mapper", "router");
      theirs.finish();
    } else {
      algorithms(root, scenario, "selection", "placement", "routing");
    }
    settings(root, scenario);
    for (YamlSection& entry : root.sections("jobs")) scenario.jobs.push_back(job(entry, scenario));
    if (scenario.jobs.empty()) root.miss("'jobs' is missing, or names no job");
    output_ = root.has("output") ? placed(root.text("output")) : "";
    root.finish();
    return scenario;
  }

  const std::string& output() const { return output_; }

 private:
  std::string placed(const std::string& path) const {
    return fs::path(path).is_absolute() ? path : (folder_ / path).lexically_normal().string();
  }

  void cluster(YamlSection& root, Scenario& scenario) {
    const char* key = root.has("topology") ? "topology" : "cluster";
    scenario.cluster_where = root.where_of(key);
    if (root.is_section(key)) {
      YamlSection section = root.section(key);
      scenario.cluster = specification(section);
      section.finish();
    } else {
      const std::string name = root.text(key);
      std::error_code ignored;
      const bool is_topology =
          name.find(':') != std::string::npos && !fs::exists(placed(name), ignored);
      scenario.cluster = is_topology ? name : placed(name);
    }
    scenario.defaults.slots = whole(root, "slots", scenario.defaults.slots);
    scenario.defaults.capacity_Bps = root.number("capacity", scenario.defaults.capacity_Bps);
    if (!(scenario.defaults.capacity_Bps > 0))
      root.complain_at("capacity", "'capacity' must be above 0");
    if (root.has("node")) scenario.defaults.node = placed(root.text("node"));
    scenario.defaults.node_capacity_Bps =
        root.number("node_capacity", scenario.defaults.node_capacity_Bps);
    if (!(scenario.defaults.node_capacity_Bps > 0))
      root.complain_at("node_capacity", "'node_capacity' must be above 0");
    scenario.failed_links = root.texts("failed_links");
    scenario.failed_share = root.number("failed_share", 0);
    if (!(scenario.failed_share >= 0 && scenario.failed_share <= 1)) {
      root.complain_at("failed_share", "'failed_share' must be between 0 and 1");
    }
  }

  // A number from 1 to 2^20, as for --slots.
  static std::uint32_t whole(YamlSection& section, const char* key, std::uint32_t otherwise) {
    constexpr std::uint64_t kMost = 1 << 20;
    const std::uint64_t number = section.count(key, otherwise);
    if (number >= 1 && number <= kMost) return static_cast<std::uint32_t>(number);
    section.complain_at(key, std::string("'") + key + "' must be between 1 and " +
                                 std::to_string(kMost) + ", not " + std::to_string(number));
    return otherwise;
  }

  // {kind: torus, dims: [4, 4], slots: 8} as "torus:dims=4,4;slots=8".
  std::string specification(YamlSection& section) {
    const std::string kind = our_name(section.text("kind"));
    if (section.has("params")) {
      YamlSection parameters = section.section("params");
      std::string text =
          kind == "file" ? placed(parameters.text("path")) : theirs(kind, parameters);
      parameters.finish();
      return text;
    }
    if (kind == "file") return placed(section.text("path"));
    if (section.has("kind")) {
      section.row<simulator::TopologyRow>("kind", kind, [&](const std::string& name) {
        return simulator::find_topology(our_name(name));
      });
    }
    std::string text = kind + ':';
    for (const std::string& key : section.keys()) {
      if (key != "kind") text += key + '=' + listed(section, key) + ';';
    }
    return text;
  }

  // The reference's parameters: capacity 1 without a unit, npe processes per host.
  std::string theirs(const std::string& kind, YamlSection& parameters) {
    std::string text = kind + ":slots=" + std::to_string(parameters.count("npe", 1)) +
                       ";capacity=" + number_text(parameters.number("bw", 1)) + ';';
    if (kind == "torus") {
      const auto dimensions = parameters.count("n", 0);
      const auto lengths = parameters.numbers("dims");
      if (dimensions != 0 && dimensions != lengths.size()) {
        parameters.complain_at("dims", "'dims' must have n numbers");
      }
      return text + "dims=" + listed(parameters, "dims");
    }
    if (kind != "xgft") {
      parameters.complain("there is no class '" + kind +
                          "' of topologies; there are FileTopology, NDTorusTopology, XGFTTopology");
    }
    const auto height = parameters.count("h", 0);
    const std::string m = listed(parameters, "m"), w = listed(parameters, "w");
    if (height != 0 && height != parameters.numbers("m").size()) {
      parameters.complain_at("m", "'m' must have h numbers");
    }
    return text + "m=" + m + ";w=" + w;
  }

  static std::string number_text(double number) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", number);
    return text;
  }

  static std::string listed(YamlSection& section, const std::string& key) {
    std::string text;
    for (const double number : section.numbers(key))
      base::add_to_list(text, number_text(number), ",");
    return text;
  }

  void algorithms(YamlSection& section, Scenario& scenario, const char* selection,
                  const char* placement, const char* routing) {
    simulator::SystemChoice& choice = scenario.choice;
    choice.scheduler = row_of(section, "scheduler", "fcfs", simulator::find_scheduler);
    choice.selector = row_of(section, selection, "linear", simulator::find_selector);
    scenario.placement = placement_of(section, placement);
    // Without a name, the cluster decides when it is loaded.
    if (section.has(routing))
      choice.router = row_of(section, routing, "dmodk", simulator::find_router);
  }

  // A name, "rankfile:FILE" or {rankfile: FILE}.
  simulator::PlacementChoice placement_of(YamlSection& section, const char* key) {
    simulator::PlacementChoice choice;
    if (section.is_section(key)) {
      YamlSection file = section.section(key);
      choice.rankfile = placed(file.text("rankfile"));
      file.finish();
      return choice;
    }
    const auto found = simulator::parse_placement(our_name(section.text(key, "block")));
    if (!found) {
      section.complain_at(key, found.error().message);
      return choice;
    }
    choice = *found;
    if (choice.row == nullptr) choice.rankfile = placed(choice.rankfile);
    return choice;
  }

  void settings(YamlSection& root, Scenario& scenario) {
    simulator::SystemChoice& choice = scenario.choice;
    const std::string model = root.text("model", "load");
    if (model != "load" && model != "flow") {
      root.complain_at("model",
                       "there is no model '" + model + "' for scenarios; there are load, flow");
    }
    choice.model = model == "flow" ? simulator::RunModel::kFlow : simulator::RunModel::kLoad;
    choice.seed = root.count("seed", 1);
    choice.until_s = root.number("duration", kForEver);
    if (!(choice.until_s > 0)) root.complain_at("duration", "'duration' must be above 0");
    choice.host_links = root.flag("host_links", false);
    choice.snapshots_s = root.numbers("snapshots");
    std::sort(choice.snapshots_s.begin(), choice.snapshots_s.end());
    if (!choice.snapshots_s.empty() && choice.snapshots_s.front() < 0) {
      root.complain_at("snapshots", "'snapshots' must be times of 0 or more");
    }
  }

  JobEntry job(YamlSection& entry, const Scenario& scenario) {
    const simulator::SystemChoice& choice = scenario.choice;
    JobEntry job;
    job.where = entry.where();
    traffic(entry, job);
    if (entry.has("log")) {
      job.log = placed(entry.text("log"));
    } else {
      times(entry, job, choice);
    }
    job.count = entry.count("count", 0);
    job.phases = whole(entry, "phases", 1);
    if (job.log.empty() && job.submit.row != nullptr && job.count == 0 &&
        choice.until_s == kForEver) {
      entry.miss("these jobs never stop arriving: set 'count' here, or 'duration' for the whole");
    }
    job.placement = entry.has("placement") ? placement_of(entry, "placement") : scenario.placement;
    job.name = entry.text("name", "");
    entry.finish();
    return job;
  }

  void traffic(YamlSection& entry, JobEntry& job) {
    const char* key = entry.has("trace") ? "trace" : "profile";
    if (entry.has(key)) {
      job.profile = placed(entry.text(key));
      if (entry.has("pattern"))
        entry.complain_at("pattern", "a job has a profile or a pattern, not both");
      return;
    }
    if (!entry.has("pattern")) {
      if (!entry.has("log")) entry.miss("a job needs 'profile', 'pattern' or 'log'");
      return;
    }
    YamlSection pattern = entry.section("pattern");
    job.pattern.row = pattern.row<simulator::PatternRow>("kind", "none", simulator::find_pattern);
    job.pattern.bytes = pattern.count("bytes", 0);
    job.pattern.ranks = static_cast<std::int64_t>(entry.has("log") ? 0 : pattern.count("ranks", 0));
    if (!entry.has("log") && job.pattern.ranks == 0)
      pattern.miss("a pattern needs 'ranks', 1 or more");
    if (job.pattern.ranks > simulator::kMostRanks) {
      const std::string most = std::to_string(simulator::kMostRanks);
      pattern.complain_at("ranks",
                          "'ranks' must not be above " + most + ", the largest job to simulate");
    }
    pattern.finish();
  }

  void times(YamlSection& entry, JobEntry& job, const simulator::SystemChoice& choice) {
    if (entry.has("submit")) {
      job.submit = distribution(entry, "submit");
      if (job.submit.row == simulator::constant(0).row && !(job.submit.parameters[0] > 0) &&
          !entry.has("count")) {
        entry.miss("jobs that arrive all at once need 'count'");
      }
    } else {
      job.at_s = entry.number("at", 0);
      if (!(job.at_s >= 0)) entry.complain_at("at", "'at' must be 0 or more");
    }
    const bool computes = choice.model == simulator::RunModel::kFlow && !entry.has("duration");
    job.duration = computes ? simulator::constant(0) : distribution(entry, "duration");
    if (entry.has("request")) job.request = distribution(entry, "request");
  }

  // A plain number means a constant.
  simulator::Distribution distribution(YamlSection& entry, const char* key) {
    if (!entry.is_section(key)) {
      const simulator::Distribution always = simulator::constant(entry.number(key));
      check(entry, {key, key}, always);
      return always;
    }
    YamlSection section = entry.section(key);
    simulator::Distribution result;
    result.row = row_of(section, "distribution", "exponential", simulator::find_distribution);
    if (section.has("params")) {
      YamlSection theirs = section.section("params");
      parameters(theirs, result);
      theirs.finish();
    } else {
      parameters(section, result);
    }
    section.finish();
    return result;
  }

  // The reference calls an exponential's rate lambd; its mean is accepted too.
  static void parameters(YamlSection& section, simulator::Distribution& result) {
    if (result.row == nullptr) return;
    std::array<std::string, 2> names;  // as the file gives them
    for (std::size_t at = 0; at < result.parameters.size(); ++at) {
      if (result.row->parameters[at] == nullptr) continue;
      std::string& name = names[at] = result.row->parameters[at];
      const bool is_rate = name == "rate";
      if (is_rate && section.has("lambd")) name = "lambd";
      if (is_rate && section.has("mean")) name = "mean";
      result.parameters[at] = section.number(name);
      if (name == "mean") result.parameters[at] = rate_of(result.parameters[at]);
    }
    check(section, names, result);
  }

  // 0, which no rate may be, for a mean that has no rate.
  static double rate_of(double mean) {
    const double rate = 1 / mean;
    return std::isfinite(rate) ? rate : 0;
  }

  static void check(YamlSection& section, const std::array<std::string, 2>& names,
                    const simulator::Distribution& result) {
    const auto complaint = result.row->complaint(result.parameters);
    if (complaint.what == nullptr) return;
    const std::string& name = names[complaint.parameter];
    section.complain_at(name, "'" + name + "' " + complaint.what);
  }

  fs::path folder_;
  std::string output_;
};

base::Error too_many(const std::string& path, const std::string& than, double combinations) {
  char text[120];
  std::snprintf(text, sizeof text, "%.15g combinations; a scenario may have %zu", combinations,
                kMostCombinations);
  return {path + ": its lists make " + than + text};
}

}  // namespace

base::Result<ScenarioFile> read_scenarios(const std::string& path) {
  const auto document = YamlDocument::read(path);
  if (!document) return document.error();
  ScenarioFile file;
  Alternatives alternatives;
  do {
    YamlReading reading(*document, alternatives);
    ScenarioReader reader(*document);
    Scenario scenario = reader.read(reading.root());
    if (auto status = reading.status(); !status) return status.error();
    if (reading.least_combinations() > kMostCombinations)
      return too_many(path, "", reading.least_combinations());
    scenario.varied = reading.varied();
    file.combinations.push_back(std::move(scenario));
    if (file.output.empty()) file.output = reader.output();
    if (file.combinations.size() > kMostCombinations)
      return too_many(path, "more than ", kMostCombinations);
  } while (alternatives.next());
  return file;
}

}  // namespace fathom::scenario
